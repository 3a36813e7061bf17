//! Models of CatBoost, in JSON.
//!
//! Inputs are rounded to single precision and go right if `x > border`. Leaves are added in double precision,
//! scaled and shifted.

use serde_json::Value;

use super::columns::Source;
use super::document::Part;
use super::draft::affordable;
use super::{Arithmetic, Compared, Draft, DraftNode, DraftTest, Link, OwnRule};
use crate::error::TreesProblem;

type Result<T> = std::result::Result<T, TreesProblem>;

/// The deepest symmetric tree; CatBoost grows none that is deeper than 16.
const DEEPEST: usize = 16;

/// Whether a document looks like a model of CatBoost.
pub fn recognises(document: &Value) -> bool {
    document.get("features_info").is_some()
        && (document.get("oblivious_trees").or(document.get("trees"))).is_some()
}

/// A column of numbers.
struct FloatFeature {
    /// Its position among all columns.
    column: usize,
    name: Option<String>,
    /// Whether a missing value counts as larger than every border.
    missing_is_largest: bool,
}

/// The ensemble of a document.
pub fn read(document: &Value) -> Result<Draft> {
    let document = Part::whole(document);
    // First: of several classes leaves have several values.
    let link = link(&document)?;
    let features = float_features(&document.field("features_info")?)?;
    let width = features.iter().map(|feature| feature.column + 1).max().unwrap_or(0);
    let mut names = vec![None; affordable(width)?];
    for feature in &features {
        if let Some(name) = names.get_mut(feature.column) {
            name.clone_from(&feature.name);
        }
    }
    let trees = match (document.find("oblivious_trees"), document.find("trees")) {
        (Some(trees), _) => trees.each(|tree| symmetric(tree, &features))?,
        (None, Some(trees)) => trees.each(|tree| {
            let mut nodes = Vec::new();
            nested(tree, &features, &mut nodes).map(|()| nodes)
        })?,
        (None, None) => return Err(TreesProblem::NoTrees),
    };
    let (factor, shift) = scale_and_bias(&document)?;
    check_threshold(&document)?;
    let rule = OwnRule { compares: Compared::Sum, strict: true };
    Ok(Draft {
        sources: names
            .into_iter()
            .map(|name| Source::Unstated { name, labels: None, steps: Vec::new() })
            .collect(),
        single_inputs: true,
        trees,
        arithmetic: Arithmetic { factor, shift, ..Arithmetic::SUM },
        link,
        rule,
        compares_sums: false,
    })
}

/// The link of the loss function that the model was trained for.
fn link(document: &Part<'_>) -> Result<Link> {
    let loss = document.find("model_info").and_then(|info| info.find("params"));
    let loss = loss.and_then(|params| params.find("loss_function")).and_then(|loss| loss.find("type"));
    let name = loss.as_ref().map_or(Ok("Logloss"), Part::text)?;
    match name {
        "Logloss" | "CrossEntropy" => Ok(Link::Logistic { slope: 1.0, single: false }),
        "MultiClass" | "MultiClassOneVsAll" => {
            Err(unsupported("a model of CatBoost with several classes".into(), "use two classes"))
        }
        other => {
            Err(unsupported(format!("CatBoost's loss function `{other}`"), "use `Logloss` or `CrossEntropy`"))
        }
    }
}

fn float_features(info: &Part<'_>) -> Result<Vec<FloatFeature>> {
    for kind in ["categorical_features", "text_features", "embedding_features"] {
        if info.find(kind).is_some_and(|part| part.value().as_array().is_none_or(|list| !list.is_empty())) {
            let what = format!("a model of CatBoost with `{kind}`");
            return Err(unsupported(what, "train it on numbers, with one column for each category"));
        }
    }
    let feature = |part: &Part<'_>| {
        let column = part.field("flat_feature_index")?.count()?;
        let name = part.find("feature_id").map(|name| name.text().map(str::to_owned)).transpose()?;
        let treatment = part.find("nan_value_treatment");
        let treatment = treatment.as_ref().map_or(Ok("AsIs"), Part::text)?;
        let name = name.filter(|name| !name.is_empty());
        Ok(FloatFeature { column, name, missing_is_largest: treatment == "AsTrue" })
    };
    info.field("float_features")?.each(feature)
}

fn scale_and_bias(document: &Part<'_>) -> Result<(f64, f64)> {
    let Some(part) = document.find("scale_and_bias") else { return Ok((1.0, 0.0)) };
    let expected = || part.expected("a scale and a list of one bias");
    let [scale, bias] = &part.list()?[..] else { return Err(expected()) };
    let bias = match bias.value() {
        Value::Array(_) => bias.numbers()?,
        _ => vec![bias.number()?],
    };
    match bias[..] {
        [] => Ok((scale.number()?, 0.0)),
        [bias] => Ok((scale.number()?, bias)),
        _ => Err(unsupported("a model of CatBoost with several classes".into(), "use two classes")),
    }
}

/// Refuses a model that decides by another probability than one half, since the threshold of a problem is another thing.
fn check_threshold(document: &Part<'_>) -> Result<()> {
    let info = document.find("model_info");
    let Some(part) = info.and_then(|info| info.find("binclass_probability_threshold")) else { return Ok(()) };
    let threshold = match part.value() {
        Value::String(text) => text.parse().map_err(|_| part.expected("a number"))?,
        _ => part.number()?,
    };
    match threshold == 0.5 {
        true => Ok(()),
        false => Err(unsupported(
            format!("CatBoost's own decision threshold of {threshold}"),
            "set it to 0.5 with `set_probability_threshold`, and state it as the `threshold` of the classifier",
        )),
    }
}

/// The test that is true on the left: `x <= border`.
fn split(part: &Part<'_>, features: &[FloatFeature]) -> Result<(usize, DraftTest, bool)> {
    let kind = part.find("split_type");
    let kind = kind.as_ref().map_or(Ok("FloatFeature"), Part::text)?;
    if kind != "FloatFeature" {
        return Err(unsupported(
            format!("CatBoost's split `{kind}`"),
            "train the model on numbers, with one column for each category",
        ));
    }
    let index = part.field("float_feature_index")?.count()?;
    let feature = features.get(index).ok_or_else(|| part.expected("a feature that there is"))?;
    let border = part.field("border")?.number()? as f32;
    Ok((feature.column, DraftTest::AtMost(border.into()), !feature.missing_is_largest))
}

/// A tree with the same test at all nodes of a level. The number of a leaf has one bit for each test.
fn symmetric(tree: &Part<'_>, features: &[FloatFeature]) -> Result<Vec<DraftNode>> {
    let splits =
        tree.find("splits").map_or(Ok(Vec::new()), |part| part.each(|part| split(part, features)))?;
    let leaves = tree.field("leaf_values")?.numbers()?;
    if splits.len() > DEEPEST || leaves.len() != 1 << splits.len() {
        return Err(tree.expected("one leaf value for each combination of splits"));
    }
    // Node n has the children 2n + 1 and 2n + 2; the last split is at the top, so that leaves are in order.
    let inner = leaves.len() - 1;
    let levels = splits.iter().rev().enumerate();
    let mut nodes = Vec::with_capacity(2 * inner + 1);
    for (level, (feature, test, missing_left)) in levels {
        for _ in 0..1usize << level {
            let at = nodes.len();
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let (test, missing_left) = (test.clone(), *missing_left);
            nodes.push(DraftNode::Split { feature: *feature, test, left, right, missing_left });
        }
    }
    nodes.extend(leaves.iter().map(|&value| DraftNode::Leaf { value, against: 0.0 }));
    Ok(nodes)
}

/// A tree of nested nodes, as other policies of growing make them. The depth is limited by that of JSON.
fn nested(node: &Part<'_>, features: &[FloatFeature], nodes: &mut Vec<DraftNode>) -> Result<()> {
    if let Some(value) = node.find("value") {
        if value.value().is_array() {
            return Err(unsupported("a model of CatBoost with several classes".into(), "use two classes"));
        }
        nodes.push(DraftNode::Leaf { value: value.number()?, against: 0.0 });
        return Ok(());
    }
    let (feature, test, missing_left) = split(&node.field("split")?, features)?;
    let at = nodes.len();
    nodes.push(DraftNode::Leaf { value: 0.0, against: 0.0 });
    nested(&node.field("left")?, features, nodes)?;
    let right = nodes.len();
    nested(&node.field("right")?, features, nodes)?;
    nodes[at] = DraftNode::Split { feature, test, left: at + 1, right, missing_left };
    Ok(())
}

fn unsupported(what: String, remedy: &'static str) -> TreesProblem {
    TreesProblem::Unsupported(what, remedy)
}
