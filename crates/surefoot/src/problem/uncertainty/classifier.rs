//! `of = "classifier"`: a classifier whose weights are known up to a radius, up to a share, or up to the errors of their
//! estimates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::Problem;
use super::super::entry::Inputs;
use super::super::fields::Fields;
use super::super::sections::INPUTS;
use super::super::syntax::{Node, Value};
use super::{Context, StatedUncertainty};
use crate::classifier::Reach;
use crate::error::{Fault, FileError, FileProblem, Mistake, Mistakes};
use crate::{Error, Result, WeightEllipsoid, WeightUncertainty};

pub(super) const FIELDS: [&str; 8] =
    ["within", "share", "covariance", "radius", "probability", "loss", "least_loss", "inputs"];

/// Each weight by itself.
#[derive(Debug)]
struct Weights(WeightUncertainty);

/// All weights of a linear model, or of the last layer of a network, together.
#[derive(Debug)]
struct Ellipsoid {
    ellipsoid: WeightEllipsoid,
    inputs: Inputs,
    /// The file with the covariance, unless it stands in the problem file.
    file: Option<PathBuf>,
}

pub(super) fn read(fields: &mut Fields<'_>, context: &Context<'_>) -> Option<Arc<dyn StatedUncertainty>> {
    let there: Vec<&str> =
        ["within", "share", "covariance"].into_iter().filter(|field| fields.has(field)).collect();
    match there[..] {
        ["covariance"] => return ellipsoid(fields, context),
        ["within"] | ["share"] => {}
        [] => {
            let remedy = "say by how much each weight may change, such as 0.005, or by which `share` of its size, or \
                          give the `covariance` of the estimated weights";
            fields.report_here(Fault::MissingField { field: "within", remedy });
            return None;
        }
        _ => return together(fields, &there),
    }
    let of_covariance = FIELDS[3..].iter().filter(|field| fields.has(field));
    let both: Vec<&str> = there.iter().chain(of_covariance).copied().collect();
    if both.len() > 1 {
        return together(fields, &both);
    }
    let within = fields.number("within").map(WeightUncertainty::Within);
    let uncertainty = within.or_else(|| fields.number("share").map(WeightUncertainty::Share))?;
    Some(Arc::new(Weights(uncertainty)))
}

fn together<T>(fields: &mut Fields<'_>, names: &[&str]) -> Option<T> {
    fields.report_here(Fault::Together { fields: names.iter().map(|&name| name.to_owned()).collect() });
    None
}

fn ellipsoid(fields: &mut Fields<'_>, context: &Context<'_>) -> Option<Arc<dyn StatedUncertainty>> {
    let sizes: Vec<&str> =
        ["radius", "probability", "loss"].into_iter().filter(|field| fields.has(field)).collect();
    if sizes.len() > 1 {
        return together(fields, &sizes);
    }
    let file = match fields.find("covariance").map(|node| &node.value) {
        Some(Value::Text(path)) => Some(PathBuf::from(path)),
        _ => None,
    };
    let rows = match &file {
        None => fields.rows_of_numbers("covariance"),
        Some(path) => match rows_of_file(path, context) {
            Ok(rows) => Some(rows),
            Err(error) => {
                fields.report_at("covariance", error);
                None
            }
        },
    };
    let inputs = fields.choice("inputs", &INPUTS).unwrap_or_default();
    if sizes[..] != ["loss"] && fields.has("least_loss") {
        fields.require(
            "loss",
            "say how much larger the loss of other weights may be, or leave out `least_loss`",
        );
    }
    if sizes[..] == ["loss"] {
        fields
            .require("least_loss", "give the loss of the classifier whose inverse Hessian the covariance is");
    }
    let reach = match sizes.first() {
        Some(&"radius") => fields.number("radius").map(Reach::Radius),
        Some(&"probability") => fields.number("probability").map(Reach::Probability),
        Some(_) => {
            let (share, least) = (fields.number("loss"), fields.number("least_loss"));
            share.zip(least).map(|(share, least)| Reach::Loss { share, least })
        }
        None => {
            let remedy = "say how many standard errors the weights may be off, or give a `probability` with which they \
                          are not, or the `loss` that other weights may have more";
            fields.report_here(Fault::MissingField { field: "radius", remedy });
            None
        }
    };
    match WeightEllipsoid::new(&rows?, reach?) {
        Ok(ellipsoid) if fields.is_clean() => Some(Arc::new(Ellipsoid { ellipsoid, inputs, file })),
        Ok(_) => None,
        Err(error) => {
            fields.report_at("covariance", error);
            None
        }
    }
}

/// The matrix in a JSON file: a list of rows.
fn rows_of_file(path: &Path, context: &Context<'_>) -> Result<Vec<Vec<f64>>> {
    let read = |error: std::io::Error| {
        Error::File(FileError::File { path: path.into(), problem: FileProblem::Read(error.into()) })
    };
    let mistakes = |mistakes: Vec<Mistake>| {
        Error::File(FileError::ProblemFile(Mistakes { path: path.into(), mistakes }))
    };
    let text = context.folder.read_to_string(path).map_err(read)?;
    let tree = Node::from_json(&format!("{{\"covariance\": {text}}}"))
        .map_err(|mistake| mistakes(vec![*mistake]))?;
    let mut fields = Fields::new(&tree, None, &["covariance"]);
    let rows = fields.rows_of_numbers("covariance");
    rows.ok_or_else(|| mistakes(fields.finish()))
}

impl StatedUncertainty for Weights {
    fn apply(&self, problem: Problem) -> Result<Problem> {
        problem.with_uncertain_weights(self.0)
    }
}

impl StatedUncertainty for Ellipsoid {
    fn apply(&self, problem: Problem) -> Result<Problem> {
        let ellipsoid = match self.inputs {
            Inputs::Standardised => self.ellipsoid.clone(),
            Inputs::Raw => {
                // Raw inputs are those of a linear classifier; the last layer of a network has none.
                problem.classifier().trained().coefficients()?;
                self.ellipsoid.clone().in_own_units(problem.features())?
            }
        };
        problem.with_weight_ellipsoid(ellipsoid)
    }

    fn files(&self) -> Vec<PathBuf> {
        self.file.iter().cloned().collect()
    }
}
