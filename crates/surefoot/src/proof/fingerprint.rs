//! The fingerprint of the problem that a proof was made for.

use crate::constraint::Forbidden;
use crate::digest::Digest;
use crate::feature::{Missing, Shown};
use crate::{Change, Features, Kind, Problem};

/// Digests of the parts of a problem. They tell whether a proof that fails was made for another problem.
/// Uncertainty, cost and kind of actions are not included, because the proof states them itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The digest of the features.
    pub features: String,
    /// The digest of the classifier.
    pub classifier: String,
    /// The digest of the causal model.
    pub causal_model: String,
    /// The digest of constraints, limits on outcomes, forbidden transitions, and what is uncertain beside the
    /// ball.
    pub rules: String,
}

impl Fingerprint {
    /// The fingerprint of a problem.
    pub fn of(problem: &Problem) -> Self {
        let hash = |add: &dyn Fn(&mut Digest)| {
            let mut digest = Digest::new();
            add(&mut digest);
            digest.hash()
        };
        Self {
            features: hash(&|digest| digest_features(problem.features(), digest)),
            classifier: hash(&|digest| problem.deciders().for_each(|classifier| classifier.digest(digest))),
            causal_model: hash(&|digest| {
                let further = problem.alternative_causal_models();
                problem.scm().iter().for_each(|scm| scm.digest(digest));
                for (_, scm) in further {
                    digest.text("or");
                    scm.digest(digest);
                }
            }),
            rules: hash(&|digest| digest_rules(problem, digest)),
        }
    }

    /// The name of the first part that differs from another problem; `None` if all are equal.
    pub(crate) fn difference(&self, other: &Fingerprint) -> Option<&'static str> {
        let parts = [
            ("features are", &self.features, &other.features),
            ("classifier is", &self.classifier, &other.classifier),
            ("causal model is", &self.causal_model, &other.causal_model),
            (
                "constraints, forbidden transitions, what may change together, what limits are about or what else is \
                 uncertain are",
                &self.rules,
                &other.rules,
            ),
        ];
        parts.into_iter().find(|(_, own, other)| own != other).map(|(what, ..)| what)
    }
}

fn digest_features(features: &Features, digest: &mut Digest) {
    for feature in features.iter() {
        digest.text(&feature.name);
        digest.text(match feature.kind {
            Kind::Real => "real",
            Kind::Integer => "integer",
            Kind::Binary => "binary",
        });
        digest.text(match feature.change {
            Change::Fixed => "fixed",
            Change::Any => "any",
            Change::Increase => "increase",
            Change::Decrease => "decrease",
        });
        digest.numbers([feature.mean, feature.std, feature.lower, feature.upper, feature.weight].iter());
        digest.text(feature.group.as_deref().unwrap_or_default());
        // Proofs of problems without steps and largest changes keep their digest.
        for (what, limit) in [
            ("step", feature.step),
            ("most change", Some(feature.most_change).filter(|most| most.is_finite())),
            ("most change share", Some(feature.most_change_share).filter(|share| share.is_finite())),
        ] {
            if let Some(limit) = limit {
                digest.text(what);
                digest.number(limit);
            }
        }
        // The meaning of the feature's numbers. The names of unordered categories are part of the feature
        // names.
        if let Shown::Ordered(levels) = &feature.shown {
            digest.count(levels.len());
            levels.iter().for_each(|level| digest.text(level));
        }
        if !feature.special.is_empty() {
            digest.text("special");
            digest.count(feature.special.len());
            feature.special.iter().for_each(|special| digest.number(special.value));
        }
        if let Some(Missing { value, lower, upper }) = feature.missing {
            digest.text("missing");
            digest.numbers([value, lower, upper].iter());
        }
    }
}

fn digest_rules(problem: &Problem, digest: &mut Digest) {
    digest.count(problem.requirements().len());
    for rule in problem.requirements() {
        let (constant, coefficients) = rule.upper_terms();
        digest.number(constant);
        digest.numbers(coefficients.iter());
    }
    for rule in problem.forbidden() {
        match rule {
            Forbidden::Categories { from, to } => {
                digest.text("categories");
                for columns in [from, to] {
                    digest.count(columns.len());
                    columns.iter().for_each(|&column| digest.count(column));
                }
            }
            Forbidden::Values { feature, from, to } => {
                digest.text("values");
                digest.count(*feature);
                digest.numbers(from.iter());
                digest.numbers(to.iter());
            }
        }
    }
    // Proofs of problems without limits on what changes together keep their digest.
    let limits = problem.change_limits();
    if let Some(most) = limits.most_changes() {
        digest.text("most changes");
        digest.count(most);
    }
    for list in limits.one_of() {
        digest.text("one of");
        digest.count(list.len());
        list.iter().for_each(|&thing| digest.count(thing));
    }
    // Proofs of problems in which nothing else is uncertain keep their digest.
    if let Some(sources) = problem.sources() {
        sources.digest(digest);
    }
}
