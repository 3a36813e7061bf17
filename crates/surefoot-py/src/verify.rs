//! Saved proofs, checked by independent code.

use std::sync::Arc;

use pyo3::prelude::*;
use rayon::prelude::*;
use surefoot::proof::Reference;
use surefoot::{Outcome, SavedProof, Verification, describe, escape_text};

use crate::error::{Fault, Result};
use crate::problem::Problem;
use crate::table::{Columns, Table};
use crate::work::{Ended, run};

/// What the check of one line of a file of proofs found.
struct Checked {
    id: String,
    status: &'static str,
    verification: &'static str,
    /// Why a claim is not verified.
    reason: Option<String>,
    /// The margin and the bound on the cost that were verified.
    margin: Option<f64>,
    cost_bound: Option<f64>,
    reference: String,
    /// What a verified proof says.
    text: Option<String>,
}

/// Reads the identifier and the proof of a line.
fn parsed(number: usize, line: &str) -> Result<(String, SavedProof)> {
    let malformed = |why: String| Fault::Proof { line: number, why };
    let value: serde_json::Value =
        serde_json::from_str(line).map_err(|_| malformed("it is not JSON".into()))?;
    let (Some(id), Some(proof)) = (value["id"].as_str(), value.get("proof")) else {
        return Err(malformed("it has no `id` with a `proof`".into()).into());
    };
    let proof = SavedProof::from_value(proof).map_err(|error| malformed(error.to_string()))?;
    Ok((id.to_owned(), proof))
}

fn checked(problem: &surefoot::Problem, id: String, proof: &SavedProof) -> surefoot::Result<Checked> {
    let reference = Reference::of(&id, proof).to_string();
    let status = proof.outcome.status();
    let found = surefoot::verify(problem, proof)?;
    let (verification, reason) = match &found {
        Verification::Verified(_) => ("verified", None),
        Verification::OtherProblem { what } => ("other problem", Some(format!("the {what} not the same"))),
        Verification::Wrong(fault) => ("wrong", Some(fault.to_string())),
        Verification::Unverified(fault) => ("unverified", Some(fault.to_string())),
    };
    let reason = reason.map(|reason| escape_text(&reason).into_owned());
    let checked =
        Checked { id, status, verification, reason, margin: None, cost_bound: None, reference, text: None };
    let Verification::Verified(verified) = found else { return Ok(checked) };
    let text = describe(problem, &proof.individual, &proof.outcome)?;
    let bound = match proof.outcome {
        Outcome::Found(_) | Outcome::Undecided(_) => Some(verified.cost_bound),
        Outcome::AlreadyFavourable | Outcome::Impossible(_) | Outcome::Unproved(_) => None,
    };
    Ok(Checked {
        margin: verified.margin,
        cost_bound: bound,
        text: Some(escape_text(&text).into_owned()),
        ..checked
    })
}

/// Verifies the lines of a file of proofs, or the one with a reference: a table with a row for each, in their order.
#[pyfunction]
#[pyo3(signature = (problem, lines, reference, first_line, progress))]
pub fn verify<'py>(
    py: Python<'py>,
    problem: &Problem,
    lines: Vec<String>,
    reference: Option<&str>,
    first_line: usize,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<Table> {
    let reference = reference.map(str::parse::<Reference>).transpose()?;
    let read = |(position, line): (usize, &String)| parsed(first_line + position, line);
    let mut proofs = py.detach(|| lines.par_iter().enumerate().map(read).collect::<Result<Vec<_>>>())?;
    if let Some(reference) = &reference {
        proofs.retain(|(id, proof)| Reference::of(id, proof) == *reference);
        proofs.truncate(1);
    }
    let engine = Arc::clone(&problem.problem);
    let rows = run(py, progress, move |watch| {
        let check = |(id, proof): (String, SavedProof)| -> Result<Checked, Ended> {
            watch.step(0)?;
            let checked = checked(&engine, id, &proof)?;
            watch.step(1)?;
            Ok(checked)
        };
        proofs.into_par_iter().map(check).collect::<Result<Vec<Checked>, Ended>>()
    })?;
    let mut columns = Columns::default();
    columns.texts("id", rows.iter().map(|row| Some(&row.id)));
    columns.texts("status", rows.iter().map(|row| Some(row.status)));
    columns.texts("verification", rows.iter().map(|row| Some(row.verification)));
    columns.texts("reason", rows.iter().map(|row| row.reason.as_ref()));
    columns.numbers("margin", rows.iter().map(|row| row.margin));
    columns.numbers("cost_bound", rows.iter().map(|row| row.cost_bound));
    columns.texts("reference", rows.iter().map(|row| Some(&row.reference)));
    columns.texts("text", rows.iter().map(|row| row.text.as_ref()));
    columns.finish()
}
