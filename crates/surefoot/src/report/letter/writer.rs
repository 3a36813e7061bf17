//! Finds the answer of a person and writes the letter about it.

mod given;
mod proven;

use super::guarded::{Guard, conditions, weights};
use super::language::Language;
use super::obstacles::obstacles;
use super::rounding::{in_round_numbers, of_action};
use super::spoken::Spoken;
use super::steps::{consequences, steps};
use super::wording::Wording;
use super::{Alternative, Detail, Letter, Words};
use crate::problem::OwnProblem;
use crate::proof::{Reference, SavedProof};
use crate::recourse::{Explainer, Explanation, Relaxed, Settings, Solver};
use crate::report::reasons::{Thing, reasons};
use crate::{Features, Outcome, Problem, Recourse, Result};

/// What letters are written in, and how much they say.
#[derive(Clone, Debug, Default)]
pub struct LetterSettings {
    /// The language.
    pub language: Language,
    /// How many other things to do are named at most, beside the cheapest one.
    pub others: usize,
    /// The organisation's own words.
    pub wording: Wording,
}

/// Writes letters about one problem.
pub struct LetterWriter<'p> {
    problem: &'p Problem,
    settings: Settings,
    letters: LetterSettings,
    author: Author<'p>,
    solver: Solver<'p>,
    explainer: Option<Explainer<'p>>,
}

/// Writes what letters say, about the problem of everybody or of a person with special or missing values.
struct Author<'p> {
    problem: &'p Problem,
    spoken: Spoken<'p>,
    guard: Guard,
}

/// A letter, and the proofs of what it says is proven.
#[derive(Clone, Debug)]
pub struct Written {
    /// The letter.
    pub letter: Letter,
    /// The answer.
    pub outcome: Outcome,
    /// The proof of the answer, then those of the other things to do, each with its reference. Empty if the method
    /// proves nothing.
    pub proofs: Vec<(Reference, SavedProof)>,
}

impl<'p> LetterWriter<'p> {
    /// Prepares letters, with the relaxed problems that [`Relaxed::all`] gives.
    ///
    /// # Errors
    /// If the settings make no sense, or if no method can answer the problem.
    pub fn new(
        problem: &'p Problem,
        relaxed: &'p [Relaxed],
        settings: Settings,
        letters: LetterSettings,
    ) -> Result<Self> {
        let explainer = match settings.method.proves() {
            true => Some(Explainer::new(problem, relaxed, settings)?),
            false => None,
        };
        let author = Author::new(problem, problem.features(), &letters)?;
        Ok(Self { problem, settings, letters, author, solver: Solver::new(problem, settings)?, explainer })
    }

    /// The letter to the person with an identifier.
    ///
    /// # Errors
    /// As [`Solver::prove`].
    pub fn write(&self, id: &str, individual: &[f64]) -> Result<Written> {
        let own = self.problem.for_person(individual)?;
        let features = self.problem.features();
        let of_person = own.as_ref().map(|own| Author::new(&own.problem, features, &self.letters));
        let mut of_person = of_person.transpose()?;
        if let Some(author) = &mut of_person {
            author.spoken.missing = features.missing_values(individual);
        }
        let author = of_person.as_ref().unwrap_or(&self.author);
        let (reported, (_, individual)) =
            (individual, OwnProblem::or(own.as_ref(), self.problem, individual));
        if !self.settings.method.proves() {
            let outcome = self.solver.solve(reported)?;
            let letter = author.letter(id, individual, &outcome, None, None, Vec::new());
            return Ok(Written { letter, outcome, proofs: Vec::new() });
        }
        let found = self.solver.prove(reported)?;
        let first = found.outcome.clone();
        let proof = in_round_numbers(author.problem, individual, found, self.settings.budget)?;
        let saved = proof.saved(self.problem, reported);
        let outcome = proof.outcome;
        let mut proofs = vec![(Reference::of(id, &saved), saved)];
        let mut options = Vec::new();
        let others = self.letters.others;
        if let (true, Outcome::Found(cheapest)) = (others > 0, &first) {
            let all = self.solver.options_after(first.clone(), reported, others + 1)?;
            // Within the gap of a search another one may come first.
            let other = |option: &&Recourse| option.action != cheapest.action;
            for recourse in all.iter().filter_map(Outcome::recourse).filter(other).take(others) {
                let Some(proof) = of_action(author.problem, individual, recourse, self.settings.budget)?
                else {
                    continue;
                };
                let Outcome::Found(recourse) = &proof.outcome else { continue };
                let saved = proof.saved(self.problem, reported);
                let reference = Reference::of(id, &saved);
                options.push(author.alternative(individual, recourse, &reference));
                proofs.push((reference, saved));
            }
        }
        let explain = |explainer: &Explainer<'_>| explainer.explain(reported, &outcome);
        let explanation = self.explainer.as_ref().map(explain).transpose()?.flatten();
        let reference = Some(proofs[0].0.to_string());
        let letter = author.letter(id, individual, &outcome, explanation.as_ref(), reference, options);
        Ok(Written { letter, outcome, proofs })
    }
}

impl<'p> Author<'p> {
    /// The author of letters about a problem. The words are those of `features`, of which the problem has the same.
    fn new(problem: &'p Problem, features: &Features, letters: &LetterSettings) -> Result<Self> {
        let spoken = Spoken::new(problem, features, letters.language, letters.wording.clone())?;
        Ok(Self { problem, spoken, guard: Guard::of(problem) })
    }

    fn alternative(&self, individual: &[f64], found: &Recourse, reference: &Reference) -> Alternative {
        Alternative {
            reference: reference.to_string(),
            steps: steps(&self.spoken, individual, &found.action),
            consequences: consequences(&self.spoken, individual, &found.action, &found.counterfactual),
        }
    }

    fn letter(
        &self,
        id: &str,
        individual: &[f64],
        outcome: &Outcome,
        explanation: Option<&Explanation>,
        reference: Option<String>,
        options: Vec<Alternative>,
    ) -> Letter {
        let spoken = &self.spoken;
        let advice = outcome.advice();
        let is_claimed = matches!(outcome, Outcome::Found(_) | Outcome::Impossible(_));
        let reached = advice.map(|advice| advice.counterfactual);
        let typical = |i: usize| {
            let thing = spoken.things.iter().find(|thing| thing.positions.contains(&i))?;
            spoken.wording.typical(spoken.column(thing))
        };
        let reasons = reasons(self.problem, individual, outcome, &typical);
        let asked: Vec<usize> = match advice {
            Some(advice) => advice.action.features.clone(),
            None => self.problem.features().actionable(),
        };
        let conditions = conditions(self.problem, spoken, &asked);
        let steps = advice.map_or(Vec::new(), |advice| steps(spoken, individual, advice.action));
        Letter {
            id: id.to_owned(),
            language: spoken.language,
            status: outcome.status(),
            reference,
            decision: self.decision(individual, outcome),
            unknown: self.unknown(outcome),
            reasons: reasons.iter().map(|reason| self.given(individual, outcome, reason)).collect(),
            consequences: advice.map_or(Vec::new(), |advice| {
                consequences(spoken, individual, advice.action, advice.counterfactual)
            }),
            guarded: match is_claimed {
                true => self.guarded(individual, outcome, reached.unwrap_or(individual), &conditions),
                false => String::new(),
            },
            proven: self.proven(outcome, explanation.is_some()),
            obstacles: explanation.map_or(Vec::new(), |known| obstacles(spoken, known)),
            options,
            details: self.details(individual, reached, is_claimed),
            allowances: match is_claimed {
                true => self.allowances(&conditions),
                false => Vec::new(),
            },
            words: words(spoken.language, outcome.recourse().is_some(), steps.len()),
            steps,
        }
        .escaped()
    }

    /// What was decided.
    fn decision(&self, individual: &[f64], outcome: &Outcome) -> String {
        let language = self.spoken.language;
        if matches!(outcome, Outcome::AlreadyFavourable) {
            let text = language.of(
                "The decision on your application is favourable.",
                "Über Ihren Antrag wird günstig entschieden.",
            );
            return text.into();
        }
        // With uncertain weights the person may be accepted now, and not for certain.
        match weights(self.problem, language).filter(|_| self.problem.trained_score(individual) >= 0.0) {
            Some(words) => language.of(
                format!("Your application is accepted by the model as it is, but not for certain: not in every case in which {words}."),
                format!("Ihr Antrag wird vom Modell, wie es ist, angenommen, aber nicht sicher: nicht in jedem Fall, in dem {words}."),
            ),
            None => language.of("Your application was turned down.", "Ihr Antrag wurde abgelehnt.").into(),
        }
    }

    /// What the answer is guarded against, in one sentence.
    fn guarded(
        &self,
        individual: &[f64],
        outcome: &Outcome,
        reached: &[f64],
        conditions: &[String],
    ) -> String {
        let (spoken, language) = (&self.spoken, self.spoken.language);
        let is_found = matches!(outcome, Outcome::Found(_));
        let more = match (conditions, self.guard.is_none()) {
            ([], _) => String::new(),
            ([only], _) => language.of(format!(", and {only}"), format!(", und {only}")),
            _ => language.of(
                ", and allows for further uncertainties, which are listed in the details".to_owned(),
                ", und es berücksichtigt weitere Unsicherheiten, die in den Einzelheiten stehen".to_owned(),
            ),
        };
        if self.guard.is_none() {
            return match (is_found, conditions) {
                (true, []) => language
                    .of(
                        "This works if nothing else about your circumstances changes and everything you told us is right.",
                        "Das gelingt, wenn sich sonst nichts an Ihren Verhältnissen ändert und alle Ihre Angaben stimmen.",
                    )
                    .into(),
                (true, _) => language.of(
                    format!("This works if everything you told us is right{more}."),
                    format!("Das gelingt, wenn alle Ihre Angaben stimmen{more}."),
                ),
                (false, _) => String::new(),
            };
        }
        let how_far = match self.is_little() {
            true => language.of("a little", "ein wenig"),
            false => language.of("as far as the details say", "so weit, wie es in den Einzelheiten steht,"),
        };
        let examples = self.guard.examples(self.problem, spoken, individual, reached);
        let such = match &examples[..] {
            [] => String::new(),
            _ => {
                let examples = language.list(&examples, "or", "oder");
                language.of(format!(", for example: {examples}"), format!(", zum Beispiel: {examples}"))
            }
        };
        match is_found {
            true => language.of(
                format!("This still works even if your circumstances differ {how_far} from what you told us{such}{more}."),
                format!("Das gelingt auch dann, wenn Ihre Verhältnisse {how_far} von Ihren Angaben abweichen{such}{more}."),
            ),
            false => language.of(
                format!("We looked for a way that still works even if your circumstances differ {how_far} from what you told us{such}{more}."),
                format!("Gesucht war ein Weg, der auch dann gelingt, wenn Ihre Verhältnisse {how_far} von Ihren Angaben abweichen{such}{more}."),
            ),
        }
    }

    /// Whether nothing may differ by more than a standard deviation.
    fn is_little(&self) -> bool {
        use super::guarded::Difference;
        let features = self.problem.features();
        self.guard.differences.iter().enumerate().all(|(i, difference)| match *difference {
            Difference::Exact => true,
            Difference::Amount(size) | Difference::Together(size) => {
                size <= features.feature(i).std * (1.0 + 1e-9)
            }
            Difference::Share(share) => share <= 0.1,
            Difference::Between(lower, upper) => {
                upper - lower <= features.feature(i).std || !self.guard.is_told(i)
            }
        })
    }

    /// Every thing with its value, the one after the action, and by how much it may differ.
    fn details(&self, individual: &[f64], reached: Option<&[f64]>, is_claimed: bool) -> Vec<Detail> {
        let spoken = &self.spoken;
        let detail = |thing: &Thing| {
            let value = match spoken.missing(thing) {
                Some(_) => spoken.reported(thing, individual),
                None => spoken.value(thing, individual),
            };
            let differs = |reached: &&[f64]| {
                let moves = |&i: &usize| (reached[i] - individual[i]).abs() > 1e-6;
                thing.positions.iter().any(moves)
            };
            let is_known = |_: &&[f64]| spoken.missing(thing).is_none();
            let after = reached.filter(differs).filter(is_known).map(|reached| spoken.value(thing, reached));
            let after = after.filter(|after| *after != value);
            let allowed = match thing.positions[..] {
                [only] if is_claimed && !self.guard.is_one_case() => {
                    self.guard.in_words(spoken.language, spoken.feature(only), only)
                }
                _ => None,
            };
            Detail { label: spoken.heading(thing), value, after, allowed }
        };
        spoken.things.iter().map(detail).collect()
    }

    /// How several differences come together, and what else is allowed for.
    fn allowances(&self, conditions: &[String]) -> Vec<String> {
        let language = self.spoken.language;
        let mut sentences = self.guard.together(&self.spoken);
        sentences.extend(conditions.iter().map(|condition| {
            language.of(format!("It also works {condition}."), format!("Es gelingt auch, {condition}."))
        }));
        if conditions.len() > 1 {
            let all = language.of(
                "It works even if all of this happens together.",
                "Es gelingt auch, wenn all das zusammenkommt.",
            );
            sentences.push(all.to_owned());
        }
        sentences
    }
}

/// Headings and introductions, of a letter with so many steps.
pub(super) fn words(language: Language, is_proven: bool, steps: usize) -> Words {
    let of = |english: &'static str, german: &'static str| language.of(english, german);
    Words {
        title: of("About your application", "Zu Ihrem Antrag"),
        for_whom: of("For", "Für"),
        reference: of("Reference", "Aktenzeichen"),
        reasons: of("Why", "Warum"),
        steps: of("What you can do", "Was Sie tun können"),
        steps_intro: match (is_proven, steps) {
            (true, 0 | 1) => of("This is enough:", "Das genügt:"),
            (true, _) => of("All of this together is enough:", "All das zusammen genügt:"),
            (false, 0 | 1) => of("This may be enough:", "Das genügt vielleicht:"),
            (false, _) => of("All of this together may be enough:", "All das zusammen genügt vielleicht:"),
        },
        consequences: of("What we expect to follow by itself", "Was daraus voraussichtlich von selbst folgt"),
        options: of("What you can do instead", "Was Sie stattdessen tun können"),
        options_intro: of(
            "Each of these alone is proven to be enough as well:",
            "Auch jedes davon allein genügt, was ebenfalls bewiesen ist:",
        ),
        option: of("Instead", "Stattdessen"),
        guarded: of("What this allows for", "Was dabei berücksichtigt ist"),
        obstacles: of("What stands in the way", "Was im Weg steht"),
        proven: of("What is proven", "Was bewiesen ist"),
        details: of("Details: what you told us", "Einzelheiten: Ihre Angaben"),
        value: of("You told us", "Ihre Angabe"),
        after: of("Afterwards", "Danach"),
        allowed: of("May differ", "Darf abweichen"),
    }
}
