//! The classifier of a problem file, or the list of classifiers that form a committee.

use super::classifier::ClassifierEntry;
use super::fields::Fields;
use super::sections::read_classifier;
use super::syntax::{Node, Value};
use crate::error::{Mistake, ModelError};
use crate::file::ModelFolder;
use crate::{Classifier, Committee, Error, Features};

/// What a file says about who decides.
#[derive(Clone, Debug, Default)]
pub(super) struct Classifiers {
    /// The valid classifiers as stated, each with its name. The name of a single one is empty.
    pub entries: Vec<(String, ClassifierEntry)>,
    /// The first classifier.
    pub first: Option<Classifier>,
    /// The committee, if the file has a list of classifiers.
    pub committee: Option<Committee>,
}

/// Reads `[classifier]`, or every `[[classifier]]` with the number of those that must agree.
pub(super) fn read_classifiers(
    top: &mut Fields<'_>,
    features: Option<&Features>,
    folder: &ModelFolder,
    mistakes: &mut Vec<Mistake>,
) -> Classifiers {
    let agree = top.count("agree");
    let Some(node) = top.find("classifier") else { return Classifiers::default() };
    let Value::List(nodes) = &node.value else {
        if agree.is_some_and(|agree| agree != 1) {
            let agree = agree.unwrap_or_default();
            top.report_at("agree", Error::Model(ModelError::Agreement { agree, members: 1 }));
        }
        let (entry, first) = read_classifier(node, None, features, folder, mistakes);
        let entries = entry.map(|(_, entry)| (String::new(), entry)).into_iter().collect();
        return Classifiers { entries, first, committee: None };
    };
    let mut read = Classifiers::default();
    let mut members: Vec<(String, Classifier)> = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        let (entry, classifier) = read_classifier(node, Some(position + 1), features, folder, mistakes);
        let Some((name, entry)) = entry else { continue };
        if read.entries.iter().any(|(other, _)| *other == name) {
            let fault = Error::Model(ModelError::MemberName { name: name.clone() }).into();
            mistakes.push(Mistake { line: node.line, entry: None, fault });
        }
        members.extend(classifier.map(|classifier| (name.clone(), classifier)));
        read.entries.push((name, entry));
    }
    read.first = members.first().map(|(_, classifier)| classifier.clone());
    // Without all members there is no committee, and their mistakes are known.
    if members.len() == nodes.len() {
        match Committee::new(members, agree.unwrap_or(nodes.len())) {
            Ok(committee) => read.committee = Some(committee),
            Err(error) => report(top, agree.is_some(), node, error, mistakes),
        }
    }
    read
}

/// Reports what is wrong with a committee at the number of members that must agree, if that is given.
fn report(top: &mut Fields<'_>, has_number: bool, node: &Node, error: Error, mistakes: &mut Vec<Mistake>) {
    match has_number {
        true => top.report_at("agree", error),
        false => mistakes.push(Mistake { line: node.line, entry: None, fault: error.into() }),
    }
}
