//! Which problem a proof was made for.

use crate::constraint::Forbidden;
use crate::content::Content;
use crate::{Change, Features, Kind, Problem};

/// What a problem says, part by part, as hashes. A proof that fails for another problem than that
/// which it was made for is not wrong. What a proof has of uncertainty, cost and form of actions it
/// states itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Of the features.
    pub features: String,
    /// Of the classifier.
    pub classifier: String,
    /// Of the causal model.
    pub causal_model: String,
    /// Of constraints, limits on outcomes and forbidden transitions.
    pub rules: String,
}

impl Fingerprint {
    /// That of a problem.
    pub fn of(problem: &Problem) -> Self {
        let hash = |tell: &dyn Fn(&mut Content)| {
            let mut content = Content::new();
            tell(&mut content);
            content.hash()
        };
        Self {
            features: hash(&|content| tell_features(problem.features(), content)),
            classifier: hash(&|content| problem.classifier().tell(content)),
            causal_model: hash(&|content| {
                problem.scm().iter().for_each(|scm| scm.tell(content));
            }),
            rules: hash(&|content| tell_rules(problem, content)),
        }
    }

    /// The first part that another problem has differently.
    pub(super) fn difference(&self, other: &Fingerprint) -> Option<&'static str> {
        let parts = [
            ("features are", &self.features, &other.features),
            ("classifier is", &self.classifier, &other.classifier),
            ("causal model is", &self.causal_model, &other.causal_model),
            ("constraints, forbidden transitions or what limits are about are", &self.rules, &other.rules),
        ];
        parts.into_iter().find(|(_, own, other)| own != other).map(|(what, ..)| what)
    }
}

fn tell_features(features: &Features, content: &mut Content) {
    for feature in features.iter() {
        content.text(&feature.name);
        content.text(match feature.kind {
            Kind::Real => "real",
            Kind::Integer => "integer",
            Kind::Binary => "binary",
        });
        content.text(match feature.change {
            Change::Fixed => "fixed",
            Change::Any => "any",
            Change::Increase => "increase",
            Change::Decrease => "decrease",
        });
        content.numbers([feature.mean, feature.std, feature.lower, feature.upper, feature.weight].iter());
        content.text(feature.group.as_deref().unwrap_or_default());
    }
}

fn tell_rules(problem: &Problem, content: &mut Content) {
    content.count(problem.requirements().len());
    for rule in problem.requirements() {
        let (constant, coefficients) = rule.upper_terms();
        content.number(constant);
        content.numbers(coefficients.iter());
    }
    for rule in problem.forbidden() {
        match rule {
            Forbidden::Categories { from, to } => {
                content.text("categories");
                for columns in [from, to] {
                    content.count(columns.len());
                    columns.iter().for_each(|&column| content.count(column));
                }
            }
            Forbidden::Values { feature, from, to } => {
                content.text("values");
                content.count(*feature);
                content.numbers(from.iter());
                content.numbers(to.iter());
            }
        }
    }
}
