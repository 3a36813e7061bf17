//! Reading problem files.

use std::path::{Path, PathBuf};

use super::classifier::ClassifierEntry;
use super::committee::{Classifiers, read_classifiers};
use super::entry::{EquationEntry, files_of};
use super::fields::Fields;
use super::rules::{read_change_limits, read_constraints, read_forbidden};
use super::sections::{StatedFeatures, read_equations, read_features};
use super::syntax::Node;
use super::uncertainty::{Section, apply, read_uncertainty};
use super::{ChangeLimits, DEFAULT_SAFETY, LimitsOn, Problem};
use crate::error::FileProblem;
use crate::error::{Fault, Mistake, Mistakes};
use crate::error::{FeatureError, FileError, SettingError};
use crate::file::{ModelFolder, read_to_string};
use crate::magnitude::is_moderate;
use crate::uncertainty::named_norms;
use crate::{
    ActionKind, Classifier, Committee, Constraint, Cost, Error, Features, Forbidden, Norm, Result, Scm,
    Uncertainty,
};

/// A problem file, possibly incomplete: a draft may lack its classifier or its equations.
///
/// The whole file is read, and every mistake is kept with the part that it belongs to. Each of the
/// functions below returns its part, or an error that lists all mistakes of the parts that it needs. So a
/// classifier can be trained for a file that has none yet.
///
/// ```
/// use std::path::Path;
/// use surefoot::problem::ProblemFile;
///
/// let text = r#"
///     epsilon = 0.1
///
///     [[feature]]
///     name = "income"
///     change = "increase"
/// "#;
/// let draft = ProblemFile::parse(text, Path::new("problem.toml"))?;
/// assert_eq!(draft.features()?.names(), ["income"]);
/// assert!(draft.scm()?.is_none() && draft.classifier()?.is_none());
/// assert!(draft.problem().unwrap_err().to_string().contains("`classifier` is missing"));
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProblemFile {
    path: PathBuf,
    folder: ModelFolder,
    settings: Settings,
    /// The features. An invalid one is kept by its name only.
    features: Option<Features>,
    equations: Vec<EquationEntry>,
    scm: Option<Scm>,
    constraints: Vec<Constraint>,
    forbidden: Vec<Forbidden>,
    change_limits: ChangeLimits,
    stated: Vec<Section>,
    classifiers: Classifiers,
    mistakes: Sections,
}

#[derive(Clone, Debug)]
struct Settings {
    uncertainty: Uncertainty,
    cost: Cost,
    form: ActionKind,
    limits_on: LimitsOn,
    safety: f64,
}

/// The fields of a file at the top.
pub(super) const TOP_FIELDS: [&str; 15] = [
    "epsilon",
    "norm",
    "cost",
    "form",
    "limits_on",
    "safety",
    "agree",
    "most_changes",
    "feature",
    "equation",
    "constraint",
    "forbid",
    "one_of",
    "classifier",
    "uncertainty",
];

/// Parses text as TOML or, by the name of its file, as JSON.
pub(super) fn parse(text: &str, path: &Path) -> std::result::Result<Node, Box<Mistake>> {
    if is_json(path) { Node::from_json(text) } else { Node::from_toml(text) }
}

/// Mistakes by the part of the file.
#[derive(Clone, Debug, Default)]
struct Sections {
    /// Settings and features.
    basis: Vec<Mistake>,
    equations: Vec<Mistake>,
    /// Constraints, forbidden transitions, and what may be changed together.
    rules: Vec<Mistake>,
    classifier: Vec<Mistake>,
    uncertainty: Vec<Mistake>,
}

impl ProblemFile {
    /// Reads a file, TOML or (named `.json`) JSON; an error if it cannot be read or is neither.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::parse(&text_of(path)?, path)
    }

    /// As [`ProblemFile::read`] for an untrusted file: the models that it names are read only from its
    /// own folder. Absolute paths, `..` and links that lead out of that folder are mistakes.
    pub fn read_confined(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::parse_confined(&text_of(path)?, path)
    }

    /// Parses text. The path determines whether it is TOML or JSON, and the folder of models. Paths in
    /// the text may lead anywhere.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        Self::parse_in(text, path, ModelFolder::new(folder_of(path)))
    }

    /// As [`ProblemFile::parse`] for untrusted text; see [`ProblemFile::read_confined`].
    pub fn parse_confined(text: &str, path: &Path) -> Result<Self> {
        Self::parse_in(text, path, ModelFolder::confined(folder_of(path)))
    }

    fn parse_in(text: &str, path: &Path, folder: ModelFolder) -> Result<Self> {
        let tree = parse(text, path).map_err(|mistake| {
            Error::File(FileError::ProblemFile(Mistakes { path: path.into(), mistakes: vec![*mistake] }))
        })?;
        let mut top = Fields::new(&tree, None, &TOP_FIELDS);
        let mut mistakes = Sections::default();

        let StatedFeatures { features, norm_weights, directions } =
            read_features(&mut top, &mut mistakes.basis);
        let settings = read_settings(&mut top, norm_weights);
        let (equations, scm) = read_equations(&mut top, features.as_ref(), &folder, &mut mistakes.equations);
        if let Some(scm) = &scm
            && let Err(error) = scm.require_whole_categories()
        {
            mistakes.equations.push(Mistake { line: None, entry: None, fault: error.into() });
        }
        let constraints = read_constraints(&mut top, features.as_ref(), &mut mistakes.rules);
        let mut forbidden = read_forbidden(&mut top, features.as_ref(), &mut mistakes.rules);
        for (group, change) in directions {
            // With mistakes in the entry there may be no such group.
            let rules = features.as_ref().map(|features| Forbidden::against_order(features, &group, change));
            forbidden.extend(rules.and_then(Result::ok).unwrap_or_default());
        }
        let change_limits = read_change_limits(&mut top, features.as_ref(), &mut mistakes.rules);
        let stated = read_uncertainty(&mut top, features.as_ref(), &folder, &mut mistakes.uncertainty);
        let classifiers = read_classifiers(&mut top, features.as_ref(), &folder, &mut mistakes.classifier);
        mistakes.basis.extend(top.finish());
        let path = path.into();
        let mut file = Self {
            path,
            folder,
            settings,
            features,
            equations,
            scm,
            constraints,
            forbidden,
            change_limits,
            stated,
            classifiers,
            mistakes,
        };
        // What a section states must fit the rest.
        if let (false, Some(first)) = (file.stated.is_empty(), &file.classifiers.first)
            && file.mistakes().is_empty()
            && let Ok(Err(mistake)) = file.assembled(first.clone())
        {
            file.mistakes.uncertainty.push(*mistake);
        }
        Ok(file)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder from which paths in it are resolved.
    pub fn folder(&self) -> &ModelFolder {
        &self.folder
    }

    /// Every file that it names, by its path relative to the folder.
    pub fn named_files(&self) -> Vec<PathBuf> {
        let stated = self.stated.iter().flat_map(|section| section.stated.files()).collect();
        [files_of(&self.equations), self.classifier_files(), stated].concat()
    }

    /// The files of its classifiers: networks, or ONNX models and the external data files beside them.
    pub fn classifier_files(&self) -> Vec<PathBuf> {
        let entries = self.classifiers.entries.iter();
        entries.flat_map(|(_, entry)| entry.form.model().files(&self.folder)).collect()
    }

    /// Every mistake of the file, in the order of its lines.
    pub fn mistakes(&self) -> Vec<Mistake> {
        let Sections { basis, equations, rules, classifier, uncertainty } = &self.mistakes;
        sorted([basis, equations, rules, classifier, uncertainty])
    }

    fn require(&self, sections: &[&Vec<Mistake>]) -> Result<()> {
        let mistakes = sorted(sections.iter().copied());
        if mistakes.is_empty() {
            return Ok(());
        }
        Err(Error::File(FileError::ProblemFile(Mistakes { path: self.path.clone(), mistakes })))
    }

    /// The features.
    pub fn features(&self) -> Result<&Features> {
        self.require(&[&self.mistakes.basis])?;
        self.features.as_ref().ok_or(Error::Feature(FeatureError::NoFeatures))
    }

    /// The causal model; `None` if the file has no equations.
    pub fn scm(&self) -> Result<Option<&Scm>> {
        self.require(&[&self.mistakes.basis, &self.mistakes.equations])?;
        Ok(self.scm.as_ref())
    }

    /// The classifier, the first one of a committee; `None` if the file has none.
    pub fn classifier(&self) -> Result<Option<&Classifier>> {
        self.require(&[&self.mistakes.basis, &self.mistakes.classifier])?;
        Ok(self.classifiers.first.as_ref())
    }

    /// The committee; `None` if the file has no list of classifiers.
    pub fn committee(&self) -> Result<Option<&Committee>> {
        self.require(&[&self.mistakes.basis, &self.mistakes.classifier])?;
        Ok(self.classifiers.committee.as_ref())
    }

    /// The valid constraints and forbidden transitions.
    pub fn rules(&self) -> (&[Constraint], &[Forbidden]) {
        (&self.constraints, &self.forbidden)
    }

    /// Which features an action may change together, as far as that is valid.
    pub fn change_limits(&self) -> &ChangeLimits {
        &self.change_limits
    }

    /// The valid equations, as stated in the file.
    pub fn equation_entries(&self) -> &[EquationEntry] {
        &self.equations
    }

    /// The classifier as stated in the file, if it is valid; the first one of a list.
    pub fn classifier_entry(&self) -> Option<&ClassifierEntry> {
        self.classifiers.entries.first().map(|(_, entry)| entry)
    }

    /// The valid classifiers as stated in the file, each with its name. The name of a single one is empty.
    pub fn classifier_entries(&self) -> &[(String, ClassifierEntry)] {
        &self.classifiers.entries
    }

    /// The uncertainty: the perturbations for which actions must hold.
    pub fn uncertainty(&self) -> &Uncertainty {
        &self.settings.uncertainty
    }

    /// The measure of cost, the kind of actions, and the safety margin.
    pub fn settings(&self) -> (Cost, ActionKind, f64) {
        (self.settings.cost, self.settings.form, self.settings.safety)
    }

    /// Whether limits apply to outcomes or to actions only.
    pub fn limits_on(&self) -> LimitsOn {
        self.settings.limits_on
    }

    /// The whole problem. The error lists every mistake, including a missing classifier.
    pub fn problem(&self) -> Result<Problem> {
        let Sections { basis, equations, rules, classifier, uncertainty } = &self.mistakes;
        let mut classifier = classifier.clone();
        if self.classifiers.entries.is_empty() && classifier.is_empty() {
            const REMEDY: &str = "give one, or train one with `surefoot train`";
            let fault = Fault::MissingField { field: "classifier", remedy: REMEDY };
            classifier.push(Mistake { line: None, entry: None, fault });
        }
        self.require(&[basis, equations, rules, &classifier, uncertainty])?;
        let Some(classifier) = &self.classifiers.first else {
            return Err(Error::Feature(FeatureError::NoFeatures));
        };
        self.assembled(classifier.clone())?.map_err(|mistake| {
            let mistakes = vec![*mistake];
            Error::File(FileError::ProblemFile(Mistakes { path: self.path.clone(), mistakes }))
        })
    }

    /// The problem with a classifier. The inner error is about a section of the uncertainty.
    fn assembled(&self, classifier: Classifier) -> Result<std::result::Result<Problem, Box<Mistake>>> {
        let Some(features) = &self.features else {
            return Err(Error::Feature(FeatureError::NoFeatures));
        };
        let Settings { uncertainty, cost, form, limits_on, safety } = self.settings.clone();
        let problem = Problem::new(features.clone(), classifier)?
            .with_uncertainty(uncertainty.norm().clone(), uncertainty.radius())?
            .with_safety(safety)?
            .with_cost(cost)
            .with_action_kind(form)
            .with_limits_on(limits_on)?
            .with_constraints(self.constraints.clone())?
            .with_forbidden(self.forbidden.clone())?
            .with_change_limits(self.change_limits.clone())?;
        let problem = match &self.scm {
            Some(scm) => problem.with_causal_model(scm.clone())?,
            None => problem,
        };
        let problem = match &self.classifiers.committee {
            Some(committee) => problem.with_committee(committee.clone())?,
            None => problem,
        };
        Ok(apply(&self.stated, problem))
    }
}

fn text_of(path: &Path) -> Result<String> {
    let fault = |error: std::io::Error| FileProblem::Read(error.into());
    read_to_string(path)
        .map_err(|error| Error::File(FileError::File { path: path.into(), problem: fault(error) }))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Whether a file is JSON, by its extension.
pub(super) fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

fn sorted<'a>(sections: impl IntoIterator<Item = &'a Vec<Mistake>>) -> Vec<Mistake> {
    let mut mistakes: Vec<Mistake> = sections.into_iter().flatten().cloned().collect();
    mistakes.sort_by_key(|mistake| mistake.line.unwrap_or(usize::MAX));
    mistakes
}

fn read_settings(top: &mut Fields<'_>, norm_weights: Option<Vec<f64>>) -> Settings {
    top.require("epsilon", "how far circumstances may shift, in standard deviations (0: not at all)");
    let epsilon = top.number("epsilon").unwrap_or(0.0);
    let uncertainty = Uncertainty::new(Norm::L2, epsilon).unwrap_or_else(|error| {
        top.report_at("epsilon", error);
        Uncertainty::NONE
    });
    let norm = top.choice("norm", &named_norms()).unwrap_or(Norm::L2);
    // Invalid weights are reported with their features.
    let norm = norm_weights.and_then(|weights| norm.clone().with_weights(weights).ok()).unwrap_or(norm);
    let uncertainty = uncertainty.with_norm(norm);
    let cost = top.choice("cost", &[("l1", Cost::L1), ("l2", Cost::L2)]).unwrap_or_default();
    let forms = [("relative", ActionKind::Relative), ("absolute", ActionKind::Absolute)];
    let form = top.choice("form", &forms).unwrap_or_default();
    let subjects = [("outcome", LimitsOn::Outcome), ("action", LimitsOn::Action)];
    let limits_on = top.choice("limits_on", &subjects).unwrap_or_default();
    let safety = top.number("safety").unwrap_or(DEFAULT_SAFETY);
    if !(is_moderate(safety) && safety >= 0.0) {
        top.report_at("safety", Error::Setting(SettingError::Safety { safety }));
    }
    Settings { uncertainty, cost, form, limits_on, safety }
}
