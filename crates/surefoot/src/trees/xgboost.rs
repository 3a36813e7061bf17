//! Models of XGBoost, in JSON or UBJ.
//!
//! Inputs are rounded to single precision and go left if `x < t`. Leaves are added to the base score in single
//! precision, in the order of the trees.

use serde_json::Value;

use super::columns::Source;
use super::document::Part;
use super::draft::{affordable, position};
use super::{Arithmetic, Compared, Draft, DraftNode, DraftTest, Link, OwnRule};
use crate::error::TreesProblem;

type Result<T> = std::result::Result<T, TreesProblem>;

/// Whether a document looks like a model of XGBoost.
pub fn recognises(document: &Value) -> bool {
    document.pointer("/learner/gradient_booster").is_some()
}

/// The ensemble of a document.
pub fn read(document: &Value) -> Result<Draft> {
    let learner = Part::whole(document).field("learner")?;
    let booster = learner.field("gradient_booster")?;
    let parameters = learner.field("learner_model_param")?;
    let inputs = parameters.field("num_feature")?.count()?;
    let count = |name: &str| parameters.find(name).map_or(Ok(0), |part| part.count());
    if count("num_class")? > 1 || count("num_target")? > 1 {
        return Err(unsupported("a model of XGBoost with several classes or targets", "use two classes"));
    }
    let (link, rule, start) = objective(&learner, &parameters)?;
    let (model, weights) = match booster.field("name")?.text()? {
        "gbtree" => (booster.field("model")?, None),
        "dart" => (booster.field("gbtree")?.field("model")?, Some(booster.field("weight_drop")?.numbers()?)),
        other => return Err(unsupported(&format!("XGBoost's booster `{other}`"), "use `gbtree`")),
    };
    let trees = model.field("trees")?.list()?;
    let trees = &trees[..used(&learner, &model, trees.len())?];
    let mut drafts = Vec::with_capacity(trees.len());
    for (number, tree) in trees.iter().enumerate() {
        let Some(weights) = &weights else {
            drafts.push(read_tree(tree, &|leaf| leaf)?);
            continue;
        };
        let weight = weights.get(number).ok_or_else(|| model.expected("a weight for each tree"))?;
        // The booster `dart` evaluates each tree with the base score and takes that off again.
        let base = start as f32;
        drafts.push(read_tree(tree, &|leaf| (base + leaf - base) * *weight as f32)?);
    }
    Ok(Draft {
        sources: sources(&learner, &model, inputs)?,
        single_inputs: true,
        trees: drafts,
        arithmetic: Arithmetic { single: true, start, ..Arithmetic::SUM },
        link,
        rule,
        compares_sums: false,
    })
}

/// Link, rule and starting sum of an objective.
fn objective(learner: &Part<'_>, parameters: &Part<'_>) -> Result<(Link, OwnRule, f64)> {
    let name = learner.field("objective")?.field("name")?.text()?;
    let base = base_score(parameters)?;
    // The logit of the base score, as XGBoost computes it.
    let logit = f64::from(-(1.0 / base - 1.0).ln());
    let logistic = Link::Logistic { slope: 1.0, single: true };
    let rule = |compares| OwnRule { compares, strict: true };
    match name {
        "binary:logistic" | "reg:logistic" => Ok((logistic, rule(Compared::Probability), logit)),
        // Without a transformation of scores there is none of the base score. `XGBClassifier` takes the sum for a
        // probability; a booster alone decides nothing, and the sum is a logit.
        "binary:logitraw" if is_classifier(learner) => {
            Ok((Link::Identity, rule(Compared::Probability), base.into()))
        }
        "binary:logitraw" => Ok((logistic, rule(Compared::Sum), base.into())),
        "binary:hinge" => Ok((Link::Margin, rule(Compared::Sum), base.into())),
        other => Err(unsupported(
            &format!("XGBoost's objective `{other}`"),
            "use `binary:logistic`, `binary:logitraw`, `reg:logistic` or `binary:hinge`",
        )),
    }
}

/// Whether the model was saved by scikit-learn's interface, which decides by itself.
fn is_classifier(learner: &Part<'_>) -> bool {
    learner.find("attributes").is_some_and(|known| known.find("scikit_learn").is_some())
}

/// The base score, which new versions write as a list in a text.
fn base_score(parameters: &Part<'_>) -> Result<f32> {
    let part = parameters.field("base_score")?;
    let inner = part.value().as_str().and_then(|text| text.trim().strip_prefix('[')?.strip_suffix(']'));
    let base = match inner {
        Some(text) => text.trim().parse::<f64>().map_err(|_| part.expected("one number"))?,
        None => part.number()?,
    };
    Ok(base as f32)
}

/// The number of trees that decide: those up to the best iteration, where scikit-learn's interface stopped early.
fn used(learner: &Part<'_>, model: &Part<'_>, trees: usize) -> Result<usize> {
    let attributes = learner.find("attributes").filter(|_| is_classifier(learner));
    let Some(best) = attributes.and_then(|known| known.find("best_iteration")) else { return Ok(trees) };
    let ends = model.field("iteration_indptr")?.counts()?;
    let end = ends.get(best.count()?.saturating_add(1)).copied();
    end.filter(|&end| end <= trees).ok_or_else(|| best.expected("an iteration that there is"))
}

fn sources(learner: &Part<'_>, model: &Part<'_>, inputs: usize) -> Result<Vec<Source>> {
    let names = learner.find("feature_names").map_or(Ok(Vec::new()), |part| part.texts())?;
    let encodings = model.find("cats").and_then(|cats| cats.find("enc"));
    let encodings = encodings.map_or(Ok(Vec::new()), |part| part.list())?;
    let source = |input: usize| Source::Unstated {
        name: names.get(input).cloned(),
        labels: encodings.get(input).and_then(labels),
        steps: Vec::new(),
    };
    Ok((0..affordable(inputs)?).map(source).collect())
}

/// The names of the categories of a column: texts in one list of bytes with offsets, or numbers.
fn labels(encoding: &Part<'_>) -> Option<Vec<String>> {
    let values = encoding.find("values")?.numbers().ok()?;
    if let Some(offsets) = encoding.find("offsets") {
        let offsets = offsets.counts().ok()?;
        let bytes: Vec<u8> = values.iter().map(|&byte| byte as i64 as u8).collect();
        let text = |pair: &[usize]| String::from_utf8(bytes.get(pair[0]..pair[1])?.to_vec()).ok();
        let texts = offsets.windows(2).map(text).collect::<Option<Vec<String>>>()?;
        return Some(texts).filter(|texts| !texts.is_empty());
    }
    Some(values.iter().map(f64::to_string).collect::<Vec<String>>()).filter(|texts| !texts.is_empty())
}

/// The nodes of a tree, with a function of each leaf.
fn read_tree(tree: &Part<'_>, leaf: &dyn Fn(f32) -> f32) -> Result<Vec<DraftNode>> {
    let left = tree.field("left_children")?.numbers()?;
    let numbers = |name: &str| tree.field(name)?.numbers_of(left.len());
    let right = numbers("right_children")?;
    let (conditions, columns) = (numbers("split_conditions")?, numbers("split_indices")?);
    let default_left = tree.field("default_left")?.each(Part::boolean)?;
    if default_left.len() != left.len() {
        return Err(tree.expected("lists of the same length"));
    }
    let width = tree.find("tree_param").and_then(|part| part.find("size_leaf_vector"));
    if width.map_or(Ok(0), |part| part.count())? > 1 {
        return Err(unsupported("a tree of XGBoost with several values in each leaf", "use one output"));
    }
    let kinds =
        tree.find("split_type").map_or(Ok(vec![0.0; left.len()]), |part| part.numbers_of(left.len()))?;
    let categories = categories(tree, left.len())?;
    let mut nodes = Vec::with_capacity(left.len());
    for node in 0..left.len() {
        if left[node] < 0.0 {
            let value = f64::from(leaf(conditions[node] as f32));
            nodes.push(DraftNode::Leaf { value, against: 0.0 });
            continue;
        }
        let (feature, left, right) = (columns[node] as usize, left[node] as usize, right[node] as usize);
        let missing_left = default_left[node];
        nodes.push(if kinds[node] == 0.0 {
            let test = DraftTest::below(f64::from(conditions[node] as f32));
            DraftNode::Split { feature, test, left, right, missing_left }
        } else {
            // The categories of a node go right; negative numbers are none of them.
            let test = DraftTest::category(categories[node].iter().copied(), false);
            DraftNode::Split { feature, test, left: right, right: left, missing_left: !missing_left }
        });
    }
    Ok(nodes)
}

/// The categories of each node.
fn categories(tree: &Part<'_>, nodes: usize) -> Result<Vec<Vec<u32>>> {
    let counts = |name: &str| tree.find(name).map_or(Ok(Vec::new()), |part| part.counts());
    let (all, of) = (counts("categories")?, counts("categories_nodes")?);
    let (starts, sizes) = (counts("categories_segments")?, counts("categories_sizes")?);
    let mut categories = vec![Vec::new(); nodes];
    for ((&node, &start), &size) in of.iter().zip(&starts).zip(&sizes) {
        let list = start.checked_add(size).and_then(|end| all.get(start..end));
        let (Some(list), Some(into)) = (list, categories.get_mut(node)) else {
            return Err(tree.expected("categories of nodes that there are"));
        };
        *into = list.iter().map(|&code| position(code)).collect();
    }
    Ok(categories)
}

fn unsupported(what: &str, remedy: &'static str) -> TreesProblem {
    TreesProblem::Unsupported(what.into(), remedy)
}
