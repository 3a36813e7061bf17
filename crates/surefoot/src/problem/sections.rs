//! The features, equations and classifier of a problem file.

use std::collections::{HashMap, HashSet};

use super::categories::read_categories;
use super::classifier::{ClassifierEntry, KINDS};
use super::entry::{EquationEntry, EquationForm, Inputs};
use super::fields::Fields;
use super::missing::read_missing;
use super::special::{read_special, report_special};
use super::syntax::{Node, Value};
use super::words::{read_words, report_words};
use crate::error::{CausalModelError, FeatureError, ModelError, SettingError};
use crate::error::{Fault, Mistake};
use crate::file::ModelFolder;
use crate::magnitude::is_scale;
use crate::{Change, Classifier, Error, Feature, Features, Kind, Scm};

const FEATURE_FIELDS: [&str; 20] = [
    "name",
    "kind",
    "mean",
    "std",
    "limits",
    "change",
    "step",
    "most_change",
    "most_change_share",
    "weight",
    "norm_weight",
    "group",
    "categories",
    "ordered",
    "label",
    "unit",
    "describe",
    "special",
    "missing",
    "one_hot",
];
pub(super) const INPUTS: [(&str, Inputs); 2] = [("standardised", Inputs::Standardised), ("raw", Inputs::Raw)];

/// The entries of a list of tables such as `[[feature]]`; any other value is a mistake.
pub(super) fn tables<'a>(top: &mut Fields<'a>, name: &'static str, expected: &'static str) -> &'a [Node] {
    match top.find(name) {
        None => &[],
        Some(Node { value: Value::List(nodes), .. }) => nodes,
        Some(node) => {
            let found = node.value.kind().into();
            top.report_at(name, Fault::Type { field: name.into(), expected, found });
            &[]
        }
    }
}

/// What the `[[feature]]` entries say.
pub(super) struct StatedFeatures {
    /// The features, if they can be.
    pub features: Option<Features>,
    /// The weights of the norm, if any has one.
    pub norm_weights: Option<Vec<f64>>,
    /// The directions of ordered categories of which the model takes a column each.
    pub directions: Vec<(String, Change)>,
}

/// Reads the features.
pub(super) fn read_features(top: &mut Fields<'_>, mistakes: &mut Vec<Mistake>) -> StatedFeatures {
    let nodes = tables(top, "feature", "a list of tables, each headed [[feature]]");
    if nodes.is_empty() && top.is_clean() {
        top.report_here(Error::Feature(FeatureError::NoFeatures));
    }
    let mut features: Vec<Feature> = Vec::with_capacity(nodes.len());
    let mut weights = Vec::with_capacity(nodes.len());
    let mut directions = Vec::new();
    let mut names: HashSet<String> = HashSet::with_capacity(nodes.len());
    // Every group with the line that first names it and the number of its features; and its position in
    // this list.
    let mut groups: Vec<(String, Option<usize>, usize)> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    for (position, node) in nodes.iter().enumerate() {
        let mut fields = Fields::new(node, Some(format!("feature {}", position + 1)), &FEATURE_FIELDS);
        fields.require("name", "give every feature one");
        let name = fields.text("name");
        if let Some(name) = &name {
            fields.rename(format!("feature `{name}`"));
        }
        let feature = read_feature(&mut fields, name.clone().unwrap_or_default());
        if let Some(group) = &feature.group {
            match positions.get(group) {
                Some(&position) => groups[position].2 += 1,
                None => {
                    positions.insert(group.clone(), groups.len());
                    groups.push((group.clone(), node.line, 1));
                }
            }
        }
        let weight = fields.number("norm_weight");
        if let Some(weight) = weight.filter(|&weight| !is_scale(weight)) {
            fields.report_at("norm_weight", Error::Setting(SettingError::NormWeight { position, weight }));
        }
        report_mistakes(&mut fields, &feature, name.is_some());
        let group = feature.group.clone();
        let feature = Feature {
            words: read_words(&mut fields, &feature.name),
            special: read_special(&mut fields, &feature.name),
            ..feature
        };
        report_special(&mut fields, &feature);
        let mut entry = read_categories(&mut fields, feature, &mut directions);
        read_missing(&mut fields, &mut entry);
        report_words(&mut fields, &entry);
        let repeated =
            entry.iter().map(|feature| &feature.name).chain(&name).find(|name| names.contains(*name));
        if let Some(repeated) = repeated {
            fields.report_at(
                "name",
                Error::Feature(FeatureError::DuplicateFeature { feature: repeated.clone() }),
            );
        } else if let Some(name) = name.filter(|name| !name.trim().is_empty()) {
            let named = || group.map_or(Feature::new(&name), |group| Feature::new(&name).group(group));
            let entry = if fields.is_clean() { entry } else { vec![named()] };
            names.extend(entry.iter().map(|feature| feature.name.clone()).chain([name]));
            features.extend(entry);
            weights.resize(features.len(), weight);
        }
        mistakes.extend(fields.finish());
    }
    let single: HashSet<&str> =
        groups.iter().filter(|(_, _, columns)| *columns < 2).map(|(group, ..)| group.as_str()).collect();
    let is_single = |f: &&mut Feature| f.group.as_ref().is_some_and(|group| single.contains(group.as_str()));
    features.iter_mut().filter(is_single).for_each(|f| f.group = None);
    for (group, line, _) in groups.into_iter().filter(|(_, _, columns)| *columns < 2) {
        mistakes.push(Mistake {
            line,
            entry: None,
            fault: Error::Feature(FeatureError::GroupSize { group }).into(),
        });
    }
    let given = weights.iter().any(Option::is_some);
    let weights = given.then(|| weights.into_iter().map(|weight| weight.unwrap_or(1.0)).collect());
    match Features::new(features) {
        Ok(features) => StatedFeatures { features: Some(features), norm_weights: weights, directions },
        Err(error) => {
            // Mistakes of single features have already been reported with them.
            if mistakes.is_empty() && top.is_clean() {
                mistakes.push(Mistake { line: None, entry: None, fault: error.into() });
            }
            StatedFeatures { features: None, norm_weights: weights, directions }
        }
    }
}

/// Reports the mistakes of a feature at the fields that cause them.
fn report_mistakes(fields: &mut Fields<'_>, feature: &Feature, has_name: bool) {
    for mistake in feature.mistakes() {
        let field = match mistake {
            Error::Feature(FeatureError::FeatureWithoutName) if !has_name => continue,
            Error::Feature(FeatureError::FeatureMean { .. }) => "mean",
            Error::Feature(FeatureError::FeatureStd { .. }) => "std",
            Error::Feature(FeatureError::FeatureWeight { .. }) => "weight",
            Error::Feature(FeatureError::FeatureLimits { .. }) => "limits",
            Error::Feature(FeatureError::FeatureStep { .. }) => "step",
            Error::Feature(FeatureError::FeatureMostChange { .. }) => "most_change",
            Error::Feature(FeatureError::FeatureMostShare { .. }) => "most_change_share",
            Error::Feature(FeatureError::GroupKind { .. }) => "kind",
            _ => "name",
        };
        fields.report_at(field, mistake);
    }
}

fn read_feature(fields: &mut Fields<'_>, name: String) -> Feature {
    let kinds = [("real", Kind::Real), ("integer", Kind::Integer), ("binary", Kind::Binary)];
    let changes = [
        ("fixed", Change::Fixed),
        ("any", Change::Any),
        ("increase", Change::Increase),
        ("decrease", Change::Decrease),
    ];
    let group = fields.text("group");
    // The columns of a group are binary by default.
    let kind = fields.choice("kind", &kinds);
    let kind = kind.unwrap_or(if group.is_some() { Kind::Binary } else { Kind::Real });
    let (mean, std) = (fields.number("mean").unwrap_or(0.0), fields.number("std").unwrap_or(1.0));
    let (lower, upper) = fields.limits("limits").unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let change = fields.choice("change", &changes).unwrap_or_default();
    let weight = fields.number("weight").unwrap_or(1.0);
    let feature = Feature::new(name).kind(kind).scaling(mean, std).limits(lower, upper);
    let step = fields.number("step");
    let most_change = fields.number("most_change").unwrap_or(f64::INFINITY);
    let most_change_share = fields.number("most_change_share").unwrap_or(f64::INFINITY);
    Feature { group, step, most_change, most_change_share, ..feature.change(change).weight(weight) }
}

/// The valid equations, and the causal model if all are valid.
pub(super) fn read_equations(
    top: &mut Fields<'_>,
    features: Option<&Features>,
    folder: &ModelFolder,
    mistakes: &mut Vec<Mistake>,
) -> (Vec<EquationEntry>, Option<Scm>) {
    let nodes = tables(top, "equation", "a list of tables, each headed [[equation]]");
    let mut entries: Vec<EquationEntry> = Vec::new();
    let mut lines: HashMap<String, Option<usize>> = HashMap::with_capacity(nodes.len());
    let mut sound = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        let known = [
            "feature",
            "formula",
            "inverse",
            "parents",
            "network",
            "prefix",
            "activation",
            "coefficients",
            "intercept",
            "inputs",
        ];
        let mut fields = Fields::new(node, Some(format!("equation {}", position + 1)), &known);
        fields.require("feature", "say which feature it is for");
        let feature = fields.text("feature");
        if let Some(feature) = &feature {
            fields.rename(format!("equation of `{feature}`"));
        }
        let form = read_equation_form(&mut fields);
        if let (Some(feature), Some(form)) = (feature, form) {
            let entry = EquationEntry { feature, form };
            if lines.contains_key(&entry.feature) {
                fields.report_at(
                    "feature",
                    Error::CausalModel(CausalModelError::DuplicateEquation {
                        feature: entry.feature.clone(),
                    }),
                );
            } else if let Some(features) = features {
                // Each equation is checked alone first, so that one mistake does not hide another.
                let checked = entry.equation(features, folder).and_then(|equation| {
                    Scm::check_equation(features, &entry.feature, &equation).map(|()| equation)
                });
                match checked {
                    Ok(equation) => sound.push((entry.feature.clone(), equation)),
                    Err(error) => fields.report_here(error),
                }
            }
            lines.entry(entry.feature.clone()).or_insert(node.line);
            entries.push(entry);
        }
        mistakes.extend(fields.finish());
    }
    // Then all together. Every cycle is reported; removing the equation of its first feature reveals the
    // next one.
    while let Some(features) = features {
        let all = sound.iter().map(|(feature, equation)| (feature.as_str(), equation.clone())).collect();
        match Scm::new(features, all) {
            Ok(scm) => return (entries, (!nodes.is_empty()).then_some(scm)),
            Err(error) => {
                let Error::CausalModel(CausalModelError::Cycle { features }) = &error else {
                    mistakes.push(Mistake { line: None, entry: None, fault: error.into() });
                    break;
                };
                let first = features.first().cloned().unwrap_or_default();
                let line = lines.get(&first).copied().flatten();
                sound.retain(|(feature, _)| *feature != first);
                mistakes.push(Mistake { line, entry: None, fault: error.into() });
            }
        }
    }
    (entries, None)
}

fn read_equation_form(fields: &mut Fields<'_>) -> Option<EquationForm> {
    let kind = the_one_of(fields, &["formula", "network", "coefficients"])?;
    match kind {
        "formula" => refuse(fields, "formula", &["parents", "intercept", "prefix", "activation", "inputs"]),
        "network" => refuse(fields, "network", &["inverse", "intercept"]),
        _ => refuse(fields, "coefficients", &["inverse", "prefix", "activation"]),
    }
    if kind == "formula" {
        let (formula, inverse) = (fields.text("formula"), fields.text("inverse"));
        return Some(EquationForm::Formula { formula: formula?, inverse });
    }
    fields.require("parents", "name the features that cause this one");
    let parents = fields.texts("parents");
    let inputs = fields.choice("inputs", &INPUTS).unwrap_or_default();
    if kind == "network" {
        let network = fields.network_file()?;
        return Some(EquationForm::Network { parents: parents?, network, inputs });
    }
    let (coefficients, intercept) = fields.linear()?;
    Some(EquationForm::Linear { parents: parents?, coefficients, intercept, inputs })
}

/// The classifier of a section as stated, with its name, and the classifier itself. `number` is its place in a
/// list of classifiers, in which each may have a name.
pub(super) fn read_classifier(
    node: &Node,
    number: Option<usize>,
    features: Option<&Features>,
    folder: &ModelFolder,
    mistakes: &mut Vec<Mistake>,
) -> (Option<(String, ClassifierEntry)>, Option<Classifier>) {
    let own = KINDS.iter().flat_map(|kind| [&[kind.field], kind.others].concat());
    let name: &[&'static str] = if number.is_some() { &["name"] } else { &[] };
    let known: Vec<&'static str> =
        own.clone().chain(["threshold", "inputs"]).chain(name.iter().copied()).collect();
    let place = number.map(|number| number.to_string());
    let entry = place.iter().fold("classifier".to_owned(), |entry, place| format!("{entry} {place}"));
    let mut fields = Fields::new(node, Some(entry), &known);
    let name = match number {
        Some(_) => fields.text("name").or(place).unwrap_or_default(),
        None => String::new(),
    };
    let threshold = fields.number("threshold").unwrap_or(0.5);
    let inputs = fields.choice("inputs", &INPUTS);
    let names = KINDS.map(|kind| kind.field);
    let kind = the_one_of(&mut fields, &names).and_then(|field| KINDS.iter().find(|k| k.field == field));
    let form = kind.and_then(|kind| {
        let foreign: Vec<&'static str> =
            own.filter(|field| !names.contains(field) && !kind.others.contains(field)).collect();
        refuse(&mut fields, kind.field, &foreign);
        (kind.read)(&mut fields)
    });
    // An invalid threshold must not hide other mistakes.
    let in_order = Classifier::linear(vec![], 0.0, threshold).is_ok();
    if !in_order {
        fields.report_at("threshold", Error::Model(ModelError::Threshold { threshold }));
    }
    let entry = form.map(|form| ClassifierEntry {
        inputs: inputs.unwrap_or(form.model().default_inputs()),
        form,
        threshold,
    });
    let mut classifier = None;
    if let (Some(entry), Some(features)) = (&entry, features) {
        let checked = ClassifierEntry { threshold: if in_order { threshold } else { 0.5 }, ..entry.clone() };
        match checked.classifier(features, folder) {
            Ok(built) if built.inputs() == features.len() => classifier = Some(built),
            Ok(built) => {
                let (features, inputs) = (features.names(), built.inputs());
                fields.report_here(Error::Model(ModelError::ClassifierInputs { features, inputs }));
            }
            Err(error) => fields.report_here(error),
        }
    }
    mistakes.extend(fields.finish());
    (entry.map(|entry| (name, entry)), classifier)
}

/// The only one of these fields that is present; otherwise a mistake.
fn the_one_of(fields: &mut Fields<'_>, kinds: &[&'static str]) -> Option<&'static str> {
    let there: Vec<&'static str> = kinds.iter().copied().filter(|kind| fields.has(kind)).collect();
    match there[..] {
        [kind] => Some(kind),
        [] => {
            let remedy = if kinds.contains(&"formula") {
                "give it, or `parents` with `coefficients` or with `network`"
            } else {
                "give it, or `network`, `onnx` or `trees`"
            };
            let field = if kinds.contains(&"formula") { "formula" } else { "coefficients" };
            fields.report_here(Fault::MissingField { field, remedy });
            None
        }
        _ => {
            fields.report_here(Fault::Together { fields: there.iter().map(|&field| field.into()).collect() });
            None
        }
    }
}

/// Reports each of the fields that have no meaning beside this one.
pub(super) fn refuse(fields: &mut Fields<'_>, kind: &'static str, others: &[&'static str]) {
    for &other in others {
        if fields.has(other) {
            fields.report_at(other, Fault::Together { fields: vec![kind.into(), other.into()] });
        }
    }
}
