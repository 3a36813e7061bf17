//! Surefoot's own format, a JSON document: trees as scikit-learn has them, or another program's model, with the
//! columns in front of them and a calibration behind them. The Python package writes it.
//!
//! ```json
//! {
//!   "format": "surefoot trees",
//!   "version": 1,
//!   "model": {
//!     "inputs": 1,
//!     "single_inputs": true,
//!     "sum": {"single": false, "start": 0, "divisor": 1, "factor": 1, "shift": 0},
//!     "link": {"kind": "identity"},
//!     "rule": {"compares": "probability", "strict": true},
//!     "trees": [{
//!       "feature": [0, 0, 0], "threshold": [0.5, 0, 0], "left": [1, -1, -1], "right": [2, -1, -1],
//!       "missing_left": [true, true, true], "value": [0, 0.2, 0.8], "within": {}
//!     }]
//!   },
//!   "columns": [{"column": "income", "steps": [{"subtract": 3000}, {"divide": 1500}]}],
//!   "calibration": {"kind": "sigmoid", "slope": -1.5, "offset": 0.2, "of": "probability"},
//!   "opposite": false
//! }
//! ```

use serde_json::Value;

use super::columns::{Source, Step};
use super::document::Part;
use super::draft::affordable;
use super::read::draft;
use super::{Arithmetic, Calibration, Compared, Draft, DraftNode, DraftTest, Ensemble, Link, OwnRule};
use crate::error::TreesProblem;
use crate::magnitude::is_moderate;

type Result<T> = std::result::Result<T, TreesProblem>;

const FORMAT: &str = "surefoot trees";
const VERSION: usize = 1;

/// Whether a document is in this format.
pub fn recognises(document: &Value) -> bool {
    document.get("format").and_then(Value::as_str) == Some(FORMAT)
}

/// The ensemble of a document.
pub fn read(document: &Value) -> Result<Ensemble> {
    let document = Part::whole(document);
    let version = document.field("version")?;
    if version.count()? != VERSION {
        return Err(version.expected("version 1, which this program reads,"));
    }
    let mut draft = draft(document.field("model")?.value())?;
    if let Some(columns) = document.find("columns") {
        let sources = columns.each(source)?;
        if sources.len() != draft.sources.len() {
            return Err(columns.expected(&format!("a list of {} columns", draft.sources.len())));
        }
        draft.sources = sources;
    }
    if let Some(part) = document.find("calibration") {
        calibrate(&mut draft, &part)?;
    }
    let is_opposite = document.find("opposite").map_or(Ok(false), |part| part.boolean())?;
    let ensemble = draft.build()?;
    Ok(if is_opposite { ensemble.opposite() } else { ensemble })
}

fn calibrate(draft: &mut Draft, part: &Part<'_>) -> Result<()> {
    let by = match part.field("kind")?.text()? {
        "sigmoid" => Calibration::Sigmoid {
            slope: part.field("slope")?.number()?,
            offset: part.field("offset")?.number()?,
        },
        "isotonic" => Calibration::Isotonic {
            scores: part.field("scores")?.numbers()?,
            probabilities: part.field("probabilities")?.numbers()?,
        },
        other => {
            return Err(unsupported(&format!("the calibration `{other}`"), "use `sigmoid` or `isotonic`"));
        }
    };
    if let Some(mistake) = by.mistake() {
        return Err(unsupported(mistake, "calibrate with scores that rise with the probability"));
    }
    let of = match part.field("of")?.text()? {
        "sum" => Link::Margin,
        "probability" => std::mem::replace(&mut draft.link, Link::Margin),
        _ => return Err(part.expected("`of`: `sum` or `probability`")),
    };
    draft.link = Link::Calibrated { of: Box::new(of), by };
    draft.rule = OwnRule { compares: Compared::Probability, strict: true };
    draft.compares_sums = false;
    Ok(())
}

fn source(part: &Part<'_>) -> Result<Source> {
    if let Some(constant) = part.find("constant") {
        return Ok(Source::Constant(constant.number()?));
    }
    let column = part.field("column")?.text()?.to_owned();
    if let Some(values) = part.find("values") {
        let table = values.value().as_object().ok_or_else(|| values.expected("a table"))?;
        let value = |label: &String| Ok((label.clone(), values.field(label)?.number()?));
        return Ok(Source::Category { column, values: table.keys().map(value).collect::<Result<_>>()? });
    }
    let steps = part.find("steps").map_or(Ok(Vec::new()), |part| part.each(step))?;
    Ok(Source::Number { column, steps })
}

fn step(part: &Part<'_>) -> Result<Step> {
    let wrong = || part.expected("a step that does not decrease, such as {\"divide\": 2}");
    if let Some(ends) = part.find("clip") {
        let ends = ends.numbers_of(2)?;
        return if ends[0] <= ends[1] { Ok(Step::Clip(ends[0], ends[1])) } else { Err(wrong()) };
    }
    let find = |name: &str| part.find(name).map(|part| part.number()).transpose();
    let number = [find("add")?, find("subtract")?, find("multiply")?, find("divide")?];
    if number.iter().flatten().any(|number| !is_moderate(*number)) {
        return Err(wrong());
    }
    match number {
        [Some(number), None, None, None] => Ok(Step::Add(number)),
        [None, Some(number), None, None] => Ok(Step::Subtract(number)),
        [None, None, Some(number), None] if number > 0.0 => Ok(Step::Multiply(number)),
        [None, None, None, Some(number)] if number > 0.0 => Ok(Step::Divide(number)),
        _ => Err(wrong()),
    }
}

/// Trees in the own form.
pub fn read_model(document: &Value) -> Result<Draft> {
    let model = Part::whole(document);
    let inputs = affordable(model.field("inputs")?.count()?)?;
    let names = model.find("names").map_or(Ok(Vec::new()), |part| part.texts())?;
    let sum = model.field("sum")?;
    let number = |name: &str| sum.field(name)?.number();
    let rule = model.field("rule")?;
    let compares = match rule.field("compares")?.text()? {
        "sum" => Compared::Sum,
        "probability" => Compared::Probability,
        _ => return Err(rule.expected("`compares`: `sum` or `probability`")),
    };
    let compares_sums = model.find("compares_sums").map_or(Ok(false), |part| part.boolean())?;
    let source =
        |input: usize| Source::Unstated { name: names.get(input).cloned(), labels: None, steps: Vec::new() };
    Ok(Draft {
        sources: (0..inputs).map(source).collect(),
        single_inputs: model.field("single_inputs")?.boolean()?,
        trees: model.field("trees")?.each(|tree| read_tree(tree, compares_sums))?,
        arithmetic: Arithmetic {
            single: sum.field("single")?.boolean()?,
            start: number("start")?,
            divisor: number("divisor")?,
            factor: number("factor")?,
            shift: number("shift")?,
        },
        link: link(&model.field("link")?)?,
        rule: OwnRule { compares, strict: rule.field("strict")?.boolean()? },
        compares_sums,
    })
}

fn link(part: &Part<'_>) -> Result<Link> {
    match part.field("kind")?.text()? {
        "identity" => Ok(Link::Identity),
        "margin" => Ok(Link::Margin),
        "logistic" => {
            let slope = part.field("slope")?.number()?;
            if !(slope > 0.0 && is_moderate(slope)) {
                return Err(part.expected("a positive slope"));
            }
            Ok(Link::Logistic { slope, single: part.field("single")?.boolean()? })
        }
        other => Err(unsupported(&format!("the link `{other}`"), "use `identity`, `logistic` or `margin`")),
    }
}

fn read_tree(tree: &Part<'_>, compares_sums: bool) -> Result<Vec<DraftNode>> {
    let left = tree.field("left")?.numbers()?;
    let count = left.len();
    let numbers = |name: &str| tree.field(name)?.numbers_of(count);
    let (right, features, thresholds) = (numbers("right")?, numbers("feature")?, numbers("threshold")?);
    let values = numbers("value")?;
    let against = if compares_sums { numbers("against")? } else { vec![0.0; count] };
    let missing_left = tree.field("missing_left")?.each(Part::boolean)?;
    if missing_left.len() != count {
        return Err(tree.expected("lists of the same length"));
    }
    let within = tree.find("within");
    let mut nodes = Vec::with_capacity(count);
    for node in 0..count {
        if left[node] < 0.0 {
            nodes.push(DraftNode::Leaf { value: values[node], against: against[node] });
            continue;
        }
        let intervals = within.as_ref().and_then(|within| within.find(&node.to_string()));
        let test = match intervals {
            Some(intervals) => DraftTest::Within(intervals.each(|part| {
                let ends = part.numbers_of(2)?;
                Ok((ends[0], ends[1]))
            })?),
            None => DraftTest::AtMost(thresholds[node]),
        };
        nodes.push(DraftNode::Split {
            feature: features[node] as usize,
            test,
            left: left[node] as usize,
            right: right[node] as usize,
            missing_left: missing_left[node],
        });
    }
    Ok(nodes)
}

fn unsupported(what: &str, remedy: &'static str) -> TreesProblem {
    TreesProblem::Unsupported(what.into(), remedy)
}
