//! Letters say what the answer is, in numbers that are read back from their sentences, and all of it is verified.

use surefoot::proof::Reference;
use surefoot::recourse::Relaxed;
use surefoot::report::letter::{Language, Letter, LetterSettings, LetterWriter, Step, Written};
use surefoot::verify::Verification;
use surefoot::{Action, ActionKind, Feature, Outcome, SavedProof, verify};

use super::{Judge, effort};
use crate::words::has_no_number;

impl Judge<'_> {
    pub(super) fn letters(&mut self) {
        let relaxed = Relaxed::all(self.problem);
        let settings = effort(self.settings.evaluations);
        let mut write = |language: Language| {
            let letters = LetterSettings { language, others: 1, ..LetterSettings::default() };
            let written = LetterWriter::new(self.problem, &relaxed, settings, letters)
                .and_then(|writer| writer.write("ana", self.individual));
            self.value("a letter is written", written)
        };
        let (Some(english), Some(german)) = (write(Language::English), write(Language::German)) else {
            return;
        };
        self.demand(english.outcome == german.outcome, "letters in both languages have one answer", || {
            format!("{:?} and {:?}", english.outcome, german.outcome)
        });
        self.proofs_of(&english);
        self.steps_of(&english, &german);
        self.shares_of(&english.letter);
        for letter in [&english.letter, &german.letter] {
            let text = letter.to_json();
            self.demand(!has_no_number(&text), "words have numbers", || text.clone());
            let count = letter.reasons.len();
            self.demand(count <= 4, "at most four reasons", || format!("{count}"));
        }
        if let Outcome::Found(found) = &english.outcome {
            self.can_be_taken("the action of a letter is feasible", &found.action);
            self.holds("a letter", &found.action, found.margin);
            self.cheaper_of(found.cost, found.cost_bound, &english.letter.proven[1]);
        }
    }

    /// Every proof is found by its reference and verified.
    fn proofs_of(&mut self, written: &Written) {
        let letter = &written.letter;
        let stated: Vec<&String> =
            letter.reference.iter().chain(letter.options.iter().map(|option| &option.reference)).collect();
        self.demand(stated.len() == written.proofs.len(), "every reference has a proof", || letter.to_json());
        for (reference, (own, proof)) in stated.into_iter().zip(&written.proofs) {
            let Some(read) = self.value("a proof is read", SavedProof::from_json(&proof.to_json())) else {
                continue;
            };
            let found = Reference::of("ana", &read);
            let is_same = found == *own && reference.parse() == Ok(found.clone());
            self.demand(is_same, "a reference finds its proof", || format!("{reference}, {own} and {found}"));
            let verified = verify(self.problem, &read);
            let is_verified = matches!(verified, Ok(Verification::Verified(_)));
            self.demand(is_verified, "the proof of a letter is verified", || {
                format!("{}: {verified:?}", proof.outcome.status())
            });
        }
    }

    /// The steps, read from their sentences, are the proven action, and the same in German.
    fn steps_of(&mut self, english: &Written, german: &Written) {
        let Outcome::Found(found) = &english.outcome else {
            self.demand(english.letter.steps.is_empty(), "only actions have steps", || {
                english.letter.to_json()
            });
            return;
        };
        let action = surefoot::essential(self.problem, &found.action);
        for step in &english.letter.steps {
            if let Err(why) = self.step(step, &action) {
                self.note("steps are the action", format!("{}: {why}; {action:?}", step.text));
            }
        }
        for (own, other) in english.letter.steps.iter().zip(&german.letter.steps) {
            let numbers = numbers(&own.text, ('.', ','));
            let is_same = numbers == self::numbers(&other.text, (',', '.'));
            self.demand(is_same, "German steps have the same numbers", || {
                format!("{} {}", own.text, other.text)
            });
        }
        let own_units = |i: usize, value: f64| self.case.features[i].own_units(value);
        let mut wrong = Vec::new();
        for consequence in &english.letter.consequences {
            let i = self.case.features.iter().position(|feature| feature.name == consequence.feature);
            let Some(i) = i else { continue };
            let (before, after) = (own_units(i, self.individual[i]), own_units(i, found.counterfactual[i]));
            let stated = numbers(&consequence.text.replacen(&consequence.label, "", 1), ('.', ','));
            // "About": to a tenth of the change.
            let is_near = stated
                .last()
                .is_some_and(|to| (to - after).abs() <= 0.1 * (after - before).abs() + 1e-9 * after.abs());
            let rises = consequence.text.contains("rises") == (after > before);
            if !(is_near && rises && !action.features.contains(&i)) {
                wrong.push(format!("{}: from {before} to {after}", consequence.text));
            }
        }
        self.demand(wrong.is_empty(), "consequences follow", || wrong.join("; "));
    }

    fn step(&self, step: &Step, action: &Action) -> Result<(), String> {
        let features = &self.case.features;
        let Some(i) =
            features.iter().position(|feature| feature.name == step.feature && feature.group.is_none())
        else {
            return match features.iter().any(|feature| feature.group.as_ref() == Some(&step.label)) {
                true => self.moved(step, action),
                false => Err("it is about no feature".into()),
            };
        };
        let place = action.features.iter().position(|&acted| acted == i).ok_or("it is not in the action")?;
        let feature = &features[i];
        let (from, by) = (feature.own_units(self.individual[i]), action.change[place] * feature.std);
        // The name may have digits.
        let text = step.text.split_once(": ").ok_or("no colon")?.1;
        let stated = numbers(text, ('.', ','));
        let near = |stated: f64, value: f64| (stated - value).abs() <= 1e-8 * value.abs().max(feature.std);
        let before = |stated: f64| (stated - from).abs() <= 0.06 * feature.std + 1e-9 * from.abs();
        let is_right = match (&stated[..], self.case.form) {
            _ if text.starts_with("leave") || text.starts_with("keep") => by == 0.0,
            _ if text.starts_with("change from") => text.contains("to \u{201c}yes\u{201d}") == (by > 0.0),
            ([size, at, to], ActionKind::Relative) => {
                let size = if text.starts_with("raise") { *size } else { -size };
                let is_exact = (size - by).abs() <= 2e-9 * by.abs();
                is_exact
                    && before(*at)
                    && (to - from - by).abs() <= 0.06 * feature.std + 1e-9 * (from + by).abs()
            }
            ([to, at], ActionKind::Absolute) => {
                near(*to, from + by) && before(*at) && text.starts_with("raise") == (by > 0.0)
            }
            _ => return Err(format!("it is not understood: {stated:?}")),
        };
        if is_right { Ok(()) } else { Err(format!("from {from} by {by}, and {stated:?} is said")) }
    }

    /// A change of a category leads to the one that the action enters.
    fn moved(&self, step: &Step, action: &Action) -> Result<(), String> {
        let is_member = |feature: &Feature| feature.group.as_ref() == Some(&step.label);
        let entered = action
            .features
            .iter()
            .zip(&action.change)
            .find(|(i, change)| is_member(&self.case.features[**i]) && **change > 0.0);
        match entered {
            Some((&i, _)) if step.after == self.case.features[i].name => Ok(()),
            None if step.text.contains(": keep at") => Ok(()),
            _ => Err(format!("the action enters {entered:?}")),
        }
    }

    /// What is said of a typical value is so.
    fn shares_of(&mut self, letter: &Letter) {
        let before = self.problem.score(self.individual);
        for reason in &letter.reasons {
            let is_sound = reason.share.is_finite()
                && reason.effort.is_none_or(|effort| effort > 0.0 && effort <= 1.0 + 1e-9)
                && (reason.remedy == "changed") == reason.effort.is_some();
            self.demand(is_sound && before < 0.0, "reasons are sound", || format!("{reason:?}"));
            let has_all = reason.text.contains("would have been favourable");
            let is_all = reason.remedy != "changed" && reason.share >= 1.0;
            self.demand(
                has_all == is_all || (reason.share - 1.0).abs() < 1e-9,
                "typical values decide",
                || format!("{reason:?}"),
            );
        }
    }

    /// The share by which nothing is cheaper.
    fn cheaper_of(&mut self, cost: f64, bound: f64, sentence: &str) {
        let share = match sentence.split_once("takes more than ").and_then(|(_, rest)| rest.split_once('%')) {
            Some((percent, _)) => percent.parse::<f64>().ok().map(|percent| percent / 100.0),
            None if sentence.contains("no other way that is allowed here takes less effort") => Some(0.0),
            None => Some(1.0),
        };
        let is_true = share.is_some_and(|share| bound >= (1.0 - share) * cost * (1.0 - 2e-5));
        self.demand(is_true, "nothing is cheaper by more", || format!("{sentence} {cost} {bound}"));
    }
}

/// The numbers in a text, whose decimal point and mark of thousands are given.
fn numbers(text: &str, (point, mark): (char, char)) -> Vec<f64> {
    let text: String = text
        .chars()
        .filter(|character| *character != mark)
        .map(|character| match character {
            '\u{2212}' => '-',
            other if other == point => '.',
            other => other,
        })
        .collect();
    let words = text.split(|c: char| !(c.is_ascii_digit() || ".-e".contains(c)));
    words.filter_map(|word| word.trim_end_matches(['.', '-', 'e']).parse().ok()).collect()
}
