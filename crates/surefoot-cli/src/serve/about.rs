//! What is known of the problems: `/v1/problems` and `/v1/problem`.

use std::collections::BTreeSet;

use serde::Serialize;
use surefoot::feature::Column;
use surefoot::recourse::MethodName;
use surefoot::report::letter::Language;
use surefoot::{ActionKind, Change, Committee, Cost, Feature, Features, LimitsOn, Problem};
use utoipa::ToSchema;

use super::answer::{Cell, Row};
use super::catalogue::{Catalogue, Served};
use crate::validate::forbids;

/// A problem that is served.
#[derive(Serialize, ToSchema)]
pub struct ListedProblem {
    /// Its name.
    name: String,
    /// A digest of the files that it was read from; `null` if they never were valid.
    digest: Option<String>,
    /// What is wrong with the present files, if so.
    mistake: Option<String>,
}

/// The problems that are served.
#[derive(Serialize, ToSchema)]
pub struct ProblemsResponse {
    /// Each of them.
    problems: Vec<ListedProblem>,
}

/// The problems that are served.
pub fn problems(catalogue: &Catalogue) -> ProblemsResponse {
    let listed = |(name, entry): (&String, &super::catalogue::Entry)| ListedProblem {
        name: name.clone(),
        digest: entry.served.as_ref().map(|served| served.digest.clone()),
        mistake: entry.mistake.clone(),
    };
    ProblemsResponse { problems: catalogue.entries().iter().map(listed).collect() }
}

/// A category of a column.
#[derive(Serialize, ToSchema)]
struct CategoryBody {
    /// The text in tables.
    name: String,
    /// What people read instead.
    label: String,
    /// What an action may do: `fixed`, `any`, `increase` (enter it) or `decrease` (leave it).
    change: &'static str,
}

/// Words for a whole number.
#[derive(Serialize, ToSchema)]
struct DescribedBody {
    /// The number.
    value: f64,
    /// What people read instead.
    label: String,
}

/// A value that is no amount.
#[derive(Serialize, ToSchema)]
struct SpecialBody {
    /// The value.
    value: f64,
    /// What it means, if that is stated.
    meaning: Option<String>,
}

/// A column of people's tables.
#[derive(Serialize, ToSchema)]
struct ColumnBody {
    /// Its name.
    name: String,
    /// What people read instead.
    label: String,
    /// `real`, `integer`, `binary` or `category`.
    kind: String,
    /// `fixed`, `any`, `increase` or `decrease`.
    change: &'static str,
    /// Whether an action may change it.
    actionable: bool,
    /// The value that counts as zero.
    mean: Option<f64>,
    /// The difference that counts as one.
    std: Option<f64>,
    /// Lower and upper limit; `null` for none.
    limits: [Option<f64>; 2],
    /// The smallest change.
    step: Option<f64>,
    /// The largest change.
    most_change: Option<f64>,
    /// The largest change as a share of the person's own value.
    most_change_share: Option<f64>,
    /// What changing it by one standard deviation costs.
    weight: Option<f64>,
    /// The forms of the unit, `{}` being the number; the first of two is for the number 1.
    unit: Option<Vec<String>>,
    /// Whether the categories have an order.
    ordered: bool,
    /// The categories, if it holds texts.
    categories: Option<Vec<CategoryBody>>,
    /// Words for whole numbers.
    described: Vec<DescribedBody>,
    /// Values that are no amounts.
    special: Vec<SpecialBody>,
}

/// A cause and its effect.
#[derive(Serialize, ToSchema, PartialEq, Eq, PartialOrd, Ord)]
struct EdgeBody {
    /// The column of the cause.
    from: String,
    /// The column of the effect.
    to: String,
}

/// What causes what.
#[derive(Serialize, ToSchema)]
struct GraphBody {
    /// Every direct cause with its effect.
    edges: BTreeSet<EdgeBody>,
}

/// A problem: its columns with their words, its limits and its graph.
#[derive(Serialize, ToSchema)]
pub struct ProblemResponse {
    /// The name in requests.
    name: String,
    /// A digest of the files that it was read from.
    digest: String,
    /// How far circumstances may shift, in standard deviations.
    epsilon: f64,
    /// How the size of a shift is measured.
    norm: String,
    /// How the effort of an action is measured: `l1` or `l2`.
    cost: &'static str,
    /// `relative` or `absolute`.
    form: &'static str,
    /// What limits are about: `outcome` or `action`.
    limits_on: &'static str,
    /// How many things an action may change at most.
    most_changes: Option<usize>,
    /// Columns of which an action changes at most one.
    one_of: Vec<BTreeSet<String>>,
    /// The columns of people's tables, in order.
    columns: Vec<ColumnBody>,
    /// What causes what.
    graph: GraphBody,
    /// Rules that actions keep.
    constraints: Vec<String>,
    /// Transitions that no action makes.
    forbidden: Vec<String>,
    /// The names of the classifiers of a committee.
    classifiers: Vec<String>,
    /// Values with which a form may start.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    example: Row,
    /// The methods.
    methods: Vec<&'static str>,
    /// The languages.
    languages: Vec<&'static str>,
    /// The largest number of people in a request.
    most_people: usize,
}

/// What is known of a problem.
pub fn problem(served: &Served, most_people: usize) -> ProblemResponse {
    let problem = &served.problem;
    let features = problem.features();
    let limits = problem.change_limits();
    let of = |i: &usize| column_of(features, *i).to_owned();
    ProblemResponse {
        name: served.name.clone(),
        digest: served.digest.clone(),
        epsilon: problem.epsilon(),
        norm: problem.norm().name().to_owned(),
        cost: match problem.cost() {
            Cost::L1 => "l1",
            Cost::L2 => "l2",
        },
        form: match problem.action_kind() {
            ActionKind::Relative => "relative",
            ActionKind::Absolute => "absolute",
        },
        limits_on: match problem.limits_on() {
            LimitsOn::Outcome => "outcome",
            LimitsOn::Action => "action",
        },
        most_changes: limits.most_changes(),
        one_of: limits.one_of().iter().map(|things| things.iter().map(of).collect()).collect(),
        columns: features.columns().iter().map(|column| column_body(features, column)).collect(),
        graph: GraphBody { edges: edges(problem) },
        constraints: problem.constraints().iter().map(|constraint| constraint.text().to_owned()).collect(),
        forbidden: problem.forbidden().iter().map(|forbidden| forbids(forbidden, features)).collect(),
        classifiers: problem.committee().map_or(Vec::new(), names),
        example: Row(features.columns().iter().map(|column| example(features, column)).collect()),
        methods: MethodName::all().map(MethodName::as_str).collect(),
        languages: Language::ALL.map(Language::code).to_vec(),
        most_people,
    }
}

fn names(committee: &Committee) -> Vec<String> {
    committee.members().iter().map(|(name, _)| name.clone()).collect()
}

/// The column that a feature belongs to.
fn column_of(features: &Features, i: usize) -> &str {
    let column = features.columns().iter().find(|column| column.positions().contains(&i));
    column.map_or("", Column::name)
}

fn edges(problem: &Problem) -> BTreeSet<EdgeBody> {
    let (features, Some(scm)) = (problem.features(), problem.scm()) else { return BTreeSet::new() };
    let edge = |(effect, &cause): (usize, &usize)| EdgeBody {
        from: column_of(features, cause).to_owned(),
        to: column_of(features, effect).to_owned(),
    };
    let all = (0..features.len()).flat_map(|i| scm.parents(i).iter().map(move |cause| (i, cause)));
    all.map(edge).collect()
}

fn change_name(change: Change) -> &'static str {
    match change {
        Change::Fixed => "fixed",
        Change::Any => "any",
        Change::Increase => "increase",
        Change::Decrease => "decrease",
    }
}

fn column_body(features: &Features, column: &Column) -> ColumnBody {
    let first = features.feature(column.positions().start);
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let categories = column.categories().map(|names| category_bodies(features, column, names));
    // Each text of an unordered category has a scaling and a weight of its own.
    let is_one = column.categories().is_none() || column.is_ordered() && column.positions().len() == 1;
    let words = &first.words;
    let described = match column.categories() {
        None => words
            .described
            .iter()
            .filter_map(|(value, label)| {
                Some(DescribedBody { value: value.parse().ok()?, label: label.clone() })
            })
            .collect(),
        Some(_) => Vec::new(),
    };
    let kind = match column.categories() {
        Some(_) => "category".to_owned(),
        None => first.kind.to_string(),
    };
    let label = first.spoken_group().unwrap_or_else(|| first.spoken_name());
    let own = |value: f64| Some(value).filter(|_| is_one);
    ColumnBody {
        name: column.name().to_owned(),
        label: label.to_owned(),
        kind,
        change: change_name(first.change),
        actionable: column.positions().any(|i| features.feature(i).is_actionable()),
        mean: own(first.mean),
        std: own(first.std),
        limits: match is_one {
            true => [finite(first.lower), finite(first.upper)],
            false => [None, None],
        },
        step: first.step,
        most_change: finite(first.most_change),
        most_change_share: finite(first.most_change_share),
        weight: own(first.weight),
        unit: words.unit.as_ref().map(|unit| unit.forms()),
        ordered: column.is_ordered(),
        categories,
        described,
        special: first
            .special
            .iter()
            .map(|special| SpecialBody { value: special.value, meaning: special.meaning.clone() })
            .collect(),
    }
}

fn category_bodies(features: &Features, column: &Column, names: &[String]) -> Vec<CategoryBody> {
    let positions = column.positions();
    let body = |(k, name): (usize, &String)| {
        let feature: &Feature = features.feature(match positions.len() {
            1 => positions.start,
            _ => positions.start + k,
        });
        CategoryBody {
            name: name.clone(),
            label: feature.reading(name).to_owned(),
            change: change_name(feature.change),
        }
    };
    names.iter().enumerate().map(body).collect()
}

/// The mean of a column, within its limits and as its kind allows, or its first category.
fn example(features: &Features, column: &Column) -> (String, Cell) {
    let name = column.name().to_owned();
    if let Some(first) = column.categories().and_then(<[String]>::first) {
        return (name, Cell::Text(first.clone()));
    }
    let feature = features.feature(column.positions().start);
    let mean = feature.mean.clamp(feature.lower, feature.upper);
    let value = match feature.kind {
        surefoot::Kind::Real => mean,
        surefoot::Kind::Integer => mean.round().clamp(feature.lower.ceil(), feature.upper.floor()),
        surefoot::Kind::Binary => mean.round().clamp(0.0, 1.0),
    };
    (name, Cell::Number(value))
}
