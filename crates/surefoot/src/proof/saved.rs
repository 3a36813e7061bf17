//! The text format of saved proofs.
//!
//! The format is JSON. Numbers are written so that reading them gives the same number again. JSON has no
//! infinity; it is the string `"inf"` or `"-inf"`:
//!
//! ```text
//! {
//!   "surefoot_proof": 8,
//!   "problem": {"features": "9f2c...", "classifier": "...", "causal_model": "...", "rules": "..."},
//!   "individual": [0.3, -1.2],
//!   "epsilon": 0.1,
//!   "norm": {"kind": "l2", "weights": null},             "parameters": [...] of a set of one's own
//!   "cost": "l1",
//!   "form": "relative",
//!   "outcome": {
//!     "kind": "found",                                   or "impossible", "undecided", "favourable"
//!     "action": {"features": [1], "change": [0.7]},
//!     "counterfactual": [0.3, -0.5],
//!     "cost": 0.7, "cost_bound": 0.69, "margin": 0.01
//!   },
//!   "cover": {                                           or null
//!     "basis": [], "worst": [0.0, -0.1],
//!     "pieces": [{"lower": [-0.1, -0.1], "upper": [0.1, 0.1], "margin": 0.01, "reason": "curvature"}]
//!   },                                                   "cells" of a piece with the reason "parabolas", "phases" with "phases"
//!   "further": [...],                                    covers of further variants, if there are any
//!   "perturbations": [[0.0, -0.1]],
//!   "variants": [0],                                     of each perturbation; missing if all are 0
//!   "ruled_out": [
//!     {"features": [1], "lower": [0.0], "upper": [0.69], "cost": "inf",
//!      "rays": [], "distance": [0.0, 0.0],
//!      "margins": [[0, 0.7], [0, 0.3, 0]],                numbers of perturbations, their shares, and of points
//!      "points": [[0.65]],                                at which interpolated bounds of margins touch
//!      "undecided": [1],                                  features that need not be changed, if there are any
//!      "requirements": [[0, 0.5]]}                        numbers of requirements and their shares
//!   ],
//!   "dividing": {                                        for tree ensembles
//!     "reasons": [{"pivot": [...], "radii": [...]}, {"lower": [...], "upper": [...]}],
//!     "sets": [{"features": [1], "divisions": [[0, 0.3], 0, null]}]     a division, a reason, no reason
//!   },
//!   "cases": [                                           where the problem limits what may change together
//!     {"fixed": [0], "ruled_out": [...], "dividing": {...}}
//!   ]
//! }
//! ```

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::fingerprint::Fingerprint;
use crate::problem::OwnProblem;
use crate::proof::{
    BoundKind, Case, Cell, Cover, Cut, Dividing, Division, Parabolas, PhaseBound, PhaseNode, Piece, Proof,
    RuledOut, Scenario, TreeReason, WeightedMargin,
};
use crate::{Action, ActionKind, Cost, Norm, Outcome, Problem};

/// The version that is written. Version 1, in which at most one constraint could rule out a box,
/// version 2, in which one perturbation did, version 3, which had no parabolas, version 4, which had no
/// tree ensembles, version 5, which had no points at which bounds touch, version 6, which had no phases,
/// version 7, which had no cases, and version 8, which had no undecided features, are read as well.
pub const VERSION: u64 = 9;

/// The norm of perturbations in a saved proof: its uncertainty set and its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedNorm {
    /// The name of the set.
    pub name: String,
    /// The parameters of a custom set; `None` for the built-in ones.
    pub parameters: Option<Vec<f64>>,
    /// The weights, if any were given.
    pub weights: Option<Vec<f64>>,
}

impl From<&Norm> for SavedNorm {
    fn from(norm: &Norm) -> Self {
        Self {
            name: norm.name().to_owned(),
            parameters: (!norm.set().is_listed()).then(|| norm.set().parameters()),
            weights: norm.weights().map(<[f64]>::to_vec),
        }
    }
}

/// All claims of a proof and the data that supports them, without the problem.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedProof {
    /// The fingerprint of the problem; `None` in files of earlier versions.
    pub problem: Option<Fingerprint>,
    /// The individual, in standardised units; NaN where a value is missing.
    pub individual: Vec<f64>,
    /// The number of coordinates of perturbations: that of the features unless more is uncertain.
    pub coordinates: usize,
    /// The norm of perturbations.
    pub norm: SavedNorm,
    /// The radius of the uncertainty.
    pub epsilon: f64,
    /// The measure of cost.
    pub cost: Cost,
    /// Whether actions are relative or absolute.
    pub form: ActionKind,
    /// The answer.
    pub outcome: Outcome,
    /// The cover that shows that the action found holds for the first variant of the problem.
    pub cover: Option<Cover>,
    /// The same for every further variant.
    pub further: Vec<Cover>,
    /// The parts that show that no cheaper action, or no action at all, holds.
    pub ruled_out: Vec<RuledOut>,
    /// The same for tree ensembles.
    pub dividing: Option<Dividing>,
    /// Where the problem limits what may be changed together: cases that together contain every action that is
    /// allowed.
    pub cases: Vec<Case>,
}

impl Proof {
    /// The proof in its saved form, with the individual and the problem's uncertainty, cost and kind of
    /// actions.
    pub fn saved(&self, problem: &Problem, individual: &[f64]) -> SavedProof {
        let cover = self.certificate.as_ref().map(|certificate| Cover {
            basis: certificate.basis.clone(),
            worst: certificate.worst.clone(),
            pieces: certificate.pieces.clone(),
        });
        // Where no problem can be made of the person, none was answered.
        let own = problem.for_person(individual).ok().flatten();
        let (of_person, _) = OwnProblem::or(own.as_ref(), problem, individual);
        SavedProof {
            problem: Some(Fingerprint::of(problem)),
            individual: individual.to_vec(),
            coordinates: of_person.perturbation_width(),
            norm: of_person.uncertainty().norm().into(),
            epsilon: of_person.uncertainty().radius(),
            cost: problem.cost(),
            form: problem.action_kind(),
            outcome: self.outcome.clone(),
            cover,
            further: self.certificate.as_ref().map_or(Vec::new(), |certificate| certificate.further.clone()),
            ruled_out: self.ruled_out.clone(),
            dividing: self.dividing.clone(),
            cases: self.cases.clone(),
        }
    }

    /// The proof as JSON; [`SavedProof::from_json`] reads it.
    pub fn to_json(&self, problem: &Problem, individual: &[f64]) -> String {
        self.saved(problem, individual).to_json()
    }
}

impl SavedProof {
    /// The same claims with what supports the bound on the cost in one of the cases.
    pub(crate) fn of_case(&self, case: &Case) -> Self {
        Self {
            problem: None,
            individual: self.individual.clone(),
            coordinates: self.coordinates,
            norm: self.norm.clone(),
            epsilon: self.epsilon,
            cost: self.cost,
            form: self.form,
            outcome: self.outcome.clone(),
            cover: None,
            further: Vec::new(),
            ruled_out: case.ruled_out.clone(),
            dividing: case.dividing.clone(),
            cases: Vec::new(),
        }
    }

    /// The same claims about the individual with values that stand in for missing ones.
    pub(crate) fn of(&self, individual: &[f64]) -> Self {
        Self { individual: individual.to_vec(), ..self.clone() }
    }

    /// The line of a file of proofs for the person with an identifier, with its end.
    pub fn to_line(&self, id: &str) -> String {
        format!("{{\"id\":{},\"proof\":{}}}\n", Value::from(id), self.to_json())
    }

    /// The proof as JSON.
    pub fn to_json(&self) -> String {
        // Many parts have the same scenarios, so each is written once.
        let of_cases = self.cases.iter().flat_map(|case| &case.ruled_out);
        let margins = self.ruled_out.iter().chain(of_cases).flat_map(|part| &part.margins);
        let mut scenarios: Vec<&Scenario> = Vec::new();
        let mut places = HashMap::new();
        for WeightedMargin { scenario, .. } in margins {
            places.entry(bits(scenario)).or_insert_with(|| {
                scenarios.push(scenario);
                scenarios.len() - 1
            });
        }
        let perturbations: Vec<Value> = scenarios.iter().map(|s| numbers(&s.perturbation)).collect();
        let mut value = json!({
            "surefoot_proof": VERSION,
            "problem": self.problem.as_ref().map_or(Value::Null, fingerprint),
            "individual": self.individual.iter().map(|&value| known(value)).collect::<Vec<Value>>(),
            "epsilon": number(self.epsilon),
            "norm": norm(&self.norm),
            "cost": cost_name(self.cost),
            "form": form_name(self.form),
            "outcome": outcome(&self.outcome),
            "cover": self.cover.as_ref().map_or(Value::Null, cover),
            "perturbations": perturbations,
            "ruled_out": self.ruled_out.iter().map(|part| ruled_out(part, &places)).collect::<Vec<Value>>(),
        });
        if self.coordinates != self.individual.len() {
            value["coordinates"] = self.coordinates.into();
        }
        if !self.further.is_empty() {
            value["further"] = self.further.iter().map(cover).collect();
        }
        if scenarios.iter().any(|scenario| scenario.variant > 0) {
            value["variants"] = scenarios.iter().map(|scenario| scenario.variant).collect();
        }
        if let Some(divided) = &self.dividing {
            value["dividing"] = dividing(divided);
        }
        if !self.cases.is_empty() {
            let case = |Case { fixed, ruled_out: parts, dividing: divided }: &Case| {
                let parts: Vec<Value> = parts.iter().map(|part| ruled_out(part, &places)).collect();
                let mut case = json!({ "fixed": fixed, "ruled_out": parts });
                if let Some(divided) = divided {
                    case["dividing"] = dividing(divided);
                }
                case
            };
            value["cases"] = self.cases.iter().map(case).collect();
        }
        value.to_string()
    }
}

fn norm(norm: &SavedNorm) -> Value {
    let mut value = json!({
        "kind": norm.name,
        "weights": norm.weights.as_deref().map_or(Value::Null, numbers),
    });
    if let Some(parameters) = &norm.parameters {
        value["parameters"] = numbers(parameters);
    }
    value
}

pub(super) fn cost_name(cost: Cost) -> &'static str {
    match cost {
        Cost::L1 => "l1",
        Cost::L2 => "l2",
    }
}

pub(super) fn form_name(form: ActionKind) -> &'static str {
    match form {
        ActionKind::Relative => "relative",
        ActionKind::Absolute => "absolute",
    }
}

fn number(value: f64) -> Value {
    if value.is_nan() {
        "nan".into()
    } else if value.is_infinite() {
        if value > 0.0 { "inf".into() } else { "-inf".into() }
    } else {
        value.into()
    }
}

/// A value of somebody; nothing where it is missing.
fn known(value: f64) -> Value {
    if value.is_nan() { Value::Null } else { number(value) }
}

fn numbers(values: &[f64]) -> Value {
    values.iter().map(|&value| number(value)).collect()
}

fn fingerprint(problem: &Fingerprint) -> Value {
    json!({
        "features": problem.features,
        "classifier": problem.classifier,
        "causal_model": problem.causal_model,
        "rules": problem.rules,
    })
}

fn action(action: &Action) -> Value {
    json!({ "features": action.features, "change": numbers(&action.change) })
}

fn outcome(outcome: &Outcome) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.into(), value);
    match outcome {
        Outcome::AlreadyFavourable => {
            put("kind", "favourable".into());
        }
        Outcome::Found(found) => {
            put("kind", "found".into());
            put("action", action(&found.action));
            put("counterfactual", numbers(&found.counterfactual));
            put("cost", number(found.cost));
            put("cost_bound", number(found.cost_bound));
            put("margin", number(found.margin));
        }
        // No method proves such an outcome. It can be written but not read.
        Outcome::Unproved(candidate) => {
            put("kind", "unproved".into());
            put("action", action(&candidate.action));
        }
        Outcome::Impossible(shortfall) => {
            put("kind", "impossible".into());
            put("best", action(&shortfall.best));
            put("missing", number(shortfall.missing));
        }
        Outcome::Undecided(undecided) => {
            put("kind", "undecided".into());
            put("best", action(&undecided.best));
            put("margin", number(undecided.margin));
            put("required", number(undecided.required));
            put("cost_bound", number(undecided.cost_bound));
            put("reason", undecided.reason.name().into());
        }
    }
    Value::Object(fields)
}

fn cover(cover: &Cover) -> Value {
    let piece = |piece: &Piece| {
        let reason = match piece.reason {
            BoundKind::Affine => "affine",
            BoundKind::Curvature => "curvature",
            BoundKind::Quadratic => "quadratic",
            BoundKind::Parabolas => "parabolas",
            BoundKind::Phases => "phases",
            BoundKind::Trees => "trees",
        };
        let mut value = json!({
            "lower": numbers(&piece.lower),
            "upper": numbers(&piece.upper),
            "margin": number(piece.margin),
            "reason": reason,
        });
        if !piece.cells.is_empty() {
            value["cells"] = piece.cells.iter().map(cell).collect();
        }
        if !piece.phases.is_empty() {
            value["phases"] = piece.phases.iter().map(phase).collect();
        }
        value
    };
    json!({
        "basis": numbers(&cover.basis),
        "worst": numbers(&cover.worst),
        "pieces": cover.pieces.iter().map(piece).collect::<Vec<Value>>(),
    })
}

fn phase(node: &PhaseNode) -> Value {
    match node {
        PhaseNode::Split { layer, unit } => json!([layer, unit]),
        PhaseNode::Closed(PhaseBound { slopes, multipliers }) => json!({
            "slopes": slopes.iter().map(|layer| numbers(layer)).collect::<Vec<Value>>(),
            "multipliers": numbers(multipliers),
        }),
    }
}

fn cell(cell: &Cell) -> Value {
    let bound = |bound: &Parabolas| {
        json!({
            "outer": bound.outer.iter().map(|unit| numbers(unit)).collect::<Vec<Value>>(),
            "inner": bound.inner.iter().map(|unit| numbers(unit)).collect::<Vec<Value>>(),
            "slabs": numbers(&bound.slabs),
            "ellipsoid": number(bound.ellipsoid),
            "ball": number(bound.ball),
        })
    };
    let cut = |cut: &Cut| json!({ "direction": numbers(&cut.direction), "at": number(cut.at) });
    json!({
        "bounds": cell.bounds.iter().map(bound).collect::<Vec<Value>>(),
        "cut": cell.cut.as_ref().map_or(Value::Null, cut),
    })
}

fn dividing(dividing: &Dividing) -> Value {
    let reason = |reason: &TreeReason| match reason {
        TreeReason::Scenario { pivot, radii } => json!({ "pivot": numbers(pivot), "radii": numbers(radii) }),
        TreeReason::Cell { lower, upper } => json!({ "lower": numbers(lower), "upper": numbers(upper) }),
    };
    let step = |division: &Division| match *division {
        Division::At { change, at } => json!([change, number(at)]),
        Division::Closed(reason) => json!(reason),
    };
    let set = |(features, divisions): &(Vec<usize>, Vec<Division>)| json!({ "features": features, "divisions": divisions.iter().map(step).collect::<Vec<Value>>() });
    let mut value = json!({
        "reasons": dividing.reasons.iter().map(reason).collect::<Vec<Value>>(),
        "sets": dividing.sets.iter().map(set).collect::<Vec<Value>>(),
    });
    if dividing.variant > 0 {
        value["variant"] = dividing.variant.into();
    }
    value
}

/// The variant and the bits of the perturbation, by which equal scenarios are recognised.
fn bits(scenario: &Scenario) -> (usize, Vec<u64>) {
    (scenario.variant, scenario.perturbation.iter().map(|d| d.to_bits()).collect())
}

fn ruled_out(part: &RuledOut, places: &HashMap<(usize, Vec<u64>), usize>) -> Value {
    let mut points: Vec<&Vec<f64>> = Vec::new();
    let mut margins: Vec<Value> = Vec::with_capacity(part.margins.len());
    for WeightedMargin { scenario, share, touches } in &part.margins {
        let (place, share) = (places[&bits(scenario)], number(*share));
        margins.push(match touches {
            None => json!([place, share]),
            Some(point) => {
                let known = points.iter().position(|other| *other == point);
                let known = known.unwrap_or_else(|| {
                    points.push(point);
                    points.len() - 1
                });
                json!([place, share, known])
            }
        });
    }
    let mut ruled_out = json!({
        "features": part.features,
        "lower": numbers(&part.lower),
        "upper": numbers(&part.upper),
        "cost": number(part.cost),
        "rays": part.cone.iter().flat_map(|cone| &cone.rays).map(|ray| numbers(ray)).collect::<Vec<Value>>(),
        "distance": part.cone.as_ref().map_or([0.0, 0.0], |cone| [cone.from, cone.to]).map(number),
        "margins": margins,
        "points": points.into_iter().map(|point| numbers(point)).collect::<Vec<Value>>(),
        "requirements": part.requirements.iter().map(|&(k, share)| json!([k, number(share)])).collect::<Vec<_>>(),
    });
    if !part.undecided.is_empty() {
        ruled_out["undecided"] = json!(part.undecided);
    }
    ruled_out
}
