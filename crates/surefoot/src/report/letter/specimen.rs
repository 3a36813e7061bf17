//! Letters that have everything a letter may have, on which templates are tried before any work is done.

use super::language::Language;
use super::writer::words;
use super::{Alternative, Consequence, Detail, GivenReason, Letter, Step};
use crate::outcome::{Candidate, Recourse, Shortfall, Undecided, UndecidedReason};
use crate::{Action, Outcome};

/// A letter for each status: one with every part, one with none of them.
pub(super) fn specimens() -> Vec<Letter> {
    let action = || Action { features: vec![0, 1], change: vec![1.0, 1.0] };
    let outcomes = [
        Outcome::Found(Recourse {
            action: action(),
            counterfactual: vec![1.0, 1.0],
            cost: 2.0,
            cost_bound: 2.0,
            margin: 0.1,
        }),
        Outcome::Unproved(Candidate { action: action(), counterfactual: vec![1.0, 1.0], cost: 2.0 }),
        Outcome::Impossible(Shortfall { best: action(), missing: 1.0 }),
        Outcome::Undecided(Undecided {
            best: action(),
            margin: -1.0,
            required: 0.0,
            cost_bound: 0.0,
            reason: UndecidedReason::Budget,
        }),
        Outcome::AlreadyFavourable,
    ];
    let full = |outcome: &Outcome| full(outcome);
    let empty = |outcome: &Outcome| Letter {
        reference: None,
        unknown: Vec::new(),
        reasons: Vec::new(),
        steps: Vec::new(),
        consequences: Vec::new(),
        guarded: String::new(),
        obstacles: Vec::new(),
        options: Vec::new(),
        allowances: Vec::new(),
        ..full(outcome)
    };
    outcomes.iter().flat_map(|outcome| [full(outcome), empty(outcome)]).collect()
}

fn full(outcome: &Outcome) -> Letter {
    let text = || "text".to_owned();
    let step = Step {
        feature: text(),
        label: text(),
        text: text(),
        before: text(),
        after: text(),
        change: Some(1.0),
    };
    let consequence = Consequence {
        feature: text(),
        label: text(),
        text: text(),
        before: text(),
        after: text(),
        value: Some(1.0),
    };
    Letter {
        id: text(),
        language: Language::English,
        status: outcome.status(),
        reference: Some(text()),
        decision: text(),
        unknown: vec![text()],
        reasons: vec![GivenReason {
            feature: text(),
            label: text(),
            code: Some(text()),
            text: text(),
            remedy: "changed",
            share: 1.0,
            effort: Some(1.0),
        }],
        steps: vec![step.clone()],
        consequences: vec![consequence.clone()],
        guarded: text(),
        proven: vec![text()],
        obstacles: vec![text()],
        options: vec![Alternative { reference: text(), steps: vec![step], consequences: vec![consequence] }],
        details: vec![Detail { label: text(), value: text(), after: Some(text()), allowed: Some(text()) }],
        allowances: vec![text()],
        words: words(Language::English, outcome.recourse().is_some(), 1),
    }
}
