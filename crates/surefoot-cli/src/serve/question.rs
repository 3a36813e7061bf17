//! What is asked: the bodies of requests, and the problem that they are about.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use surefoot::recourse::{MethodName, Relaxed, Settings};
use surefoot::report::letter::{Language, Wording};
use surefoot::{Action, Budget, Features, People, Problem};
use utoipa::ToSchema;

use super::catalogue::{Catalogue, Served};
use super::fault::Fault;
use crate::answers::{StatedAction, action_of, stated_category, stated_change};
use crate::effort::{Effort, check_evaluations};
use crate::people::{Fields, fault, from_json_at};

/// A request with the fields that several have.
macro_rules! question {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[derive(Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $kind,)*
            /// The name of the problem; may be left out if there is only one.
            #[serde(default)]
            pub problem: Option<String>,
            /// How far circumstances may shift, in standard deviations; that of the problem unless given.
            #[serde(default)]
            #[schema(minimum = 0.0)]
            pub epsilon: Option<f64>,
            /// The columns that cannot be changed.
            #[serde(default)]
            pub locked: Vec<String>,
            /// Limits beside those of the problem: lower and upper, in own units; `null` for none.
            #[serde(default)]
            pub limits: BTreeMap<String, [Option<f64>; 2]>,
        }

        impl $name {
            /// The problem that the request is about.
            pub fn subject(&self, catalogue: &Catalogue) -> Result<Subject, Fault> {
                let served = catalogue.find(self.problem.as_deref())?;
                Subject::new(served, self.epsilon, &self.locked, &self.limits)
            }
        }
    };
}

/// A request whose answer may need a search.
macro_rules! searching_question {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $kind:ty,)* }) => {
        question! {
            $(#[$meta])*
            $name {
                $($(#[$field_meta])* $field: $kind,)*
                /// The method: `auto`, `exact`, `trees`, `complete`, `local` or `descent`.
                #[serde(default)]
                method: Option<String>,
                /// The accepted gap between cost and proven bound.
                #[serde(default)]
                gap: Option<f64>,
                /// Bounds and evaluations that each search may cost.
                #[serde(default)]
                evaluations: Option<u64>,
                /// Seconds that each answer may take.
                #[serde(default)]
                seconds: Option<f64>,
                /// The language of what is said in steps and letters: `en` or `de`.
                #[serde(default)]
                language: Option<String>,
            }
        }

        impl $name {
            /// The settings of the search, once they have been checked.
            pub fn settings(&self) -> Result<Settings, Fault> {
                let method = self.method.as_deref().map(str::parse::<MethodName>).transpose()?;
                let evaluations = self.evaluations.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
                Ok(Effort::given(method, self.gap, evaluations, self.seconds).settings()?)
            }

            /// The language.
            pub fn language(&self) -> Result<Language, Fault> {
                Ok(self.language.as_deref().map(str::parse).transpose()?.unwrap_or_default())
            }
        }
    };
}

/// A person in own units.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// Who it is; the number of the person in the request unless given.
    #[serde(default)]
    pub id: Option<String>,
    /// A value for each column: a number, or the text of a category.
    #[schema(value_type = std::collections::HashMap<String, Value>, example = json!({"education": 11, "income": 2400, "savings": 6000}))]
    pub values: Box<RawValue>,
}

/// A person with an action.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonWithAction {
    /// Who it is; the number of the person in the request unless given.
    #[serde(default)]
    pub id: Option<String>,
    /// A value for each column: a number, or the text of a category.
    #[schema(value_type = std::collections::HashMap<String, Value>, example = json!({"education": 11, "income": 2400, "savings": 6000}))]
    pub values: Box<RawValue>,
    /// The change of each column that is acted upon, in own units, or the category to reach.
    #[serde(default)]
    #[schema(value_type = Option<std::collections::HashMap<String, Value>>, example = json!({"income": 1511}))]
    pub action: Option<Box<RawValue>>,
}

searching_question! {
    /// What people can do.
    RecourseRequest {
        /// The people.
        people: Vec<Person>,
        /// Up to this many actions for each person that change different things, the cheapest first: 1 to 100.
        #[serde(default)]
        #[schema(minimum = 1, maximum = 100)]
        options: Option<u16>,
        /// Whether to explain why people have no action; one person alone gets the explanation anyway.
        #[serde(default)]
        explain: bool,
        /// Whether to state the proof of every answer.
        #[serde(default)]
        proofs: bool,
    }
}

question! {
    /// Whether actions hold.
    CertifyRequest {
        /// The people, each with an action.
        people: Vec<PersonWithAction>,
        /// Bounds and evaluations that each action may cost.
        #[serde(default)]
        evaluations: Option<u64>,
    }
}

searching_question! {
    /// The smallest shifts that break actions.
    AttackRequest {
        /// The people. Of those without an action the answer is attacked.
        people: Vec<PersonWithAction>,
        /// Whether to attack the cheapest action that is guarded against nothing, too.
        #[serde(default)]
        cheapest: bool,
    }
}

searching_question! {
    /// The cheapest action for each size of the uncertainty.
    TradeOffRequest {
        /// The person.
        person: Person,
        /// The sizes; otherwise twelve up to where no action holds.
        #[serde(default)]
        epsilons: Option<Vec<f64>>,
    }
}

searching_question! {
    /// Letters in words.
    LetterRequest {
        /// The people.
        people: Vec<Person>,
        /// The form: `html` or `text`.
        #[serde(default)]
        format: Option<String>,
        /// Up to this many things to do, the cheapest first: 1 to 3.
        #[serde(default)]
        #[schema(minimum = 1, maximum = 3)]
        options: Option<u8>,
    }
}

/// A line of a file of proofs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProofLine {
    /// Who it is about.
    pub id: String,
    /// The proof.
    #[schema(value_type = std::collections::HashMap<String, Value>)]
    pub proof: Box<RawValue>,
}

question! {
    /// Whether saved proofs are right.
    VerifyRequest {
        /// The lines of a file of proofs.
        proofs: Vec<ProofLine>,
    }
}

/// Reads a request.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|error| Fault::Json(error.to_string()))
}

/// The problem that a request is about.
pub struct Subject {
    /// The problem as it is served.
    pub served: Arc<Served>,
    /// With the radius, the locks and the limits of the request, if it has any.
    own: Option<Box<(Problem, Vec<Relaxed>)>>,
}

impl Subject {
    fn new(
        served: Arc<Served>,
        epsilon: Option<f64>,
        locked: &[String],
        limits: &BTreeMap<String, [Option<f64>; 2]>,
    ) -> Result<Self, Fault> {
        if epsilon.is_none() && locked.is_empty() && limits.is_empty() {
            return Ok(Self { served, own: None });
        }
        let mut problem = served.problem.clone();
        if !locked.is_empty() || !limits.is_empty() {
            let features = problem.features();
            let mut positions = Vec::new();
            for name in locked {
                positions.extend(column(features, name, "`locked`")?.positions());
            }
            let mut closer = Vec::new();
            for (name, [lower, upper]) in limits {
                let column = column(features, name, "`limits`")?;
                if column.categories().is_some() && !column.is_ordered() {
                    let text = format!("`limits`: `{name}` has categories without an order, and no limits");
                    return Err(Fault::Invalid(text));
                }
                let [lower, upper] = [lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY)];
                closer.push((column.positions().start, lower, upper));
            }
            problem = problem.with_wishes(&positions, &closer)?;
        }
        if let Some(epsilon) = epsilon {
            problem = problem.with_epsilon(epsilon)?;
        }
        Ok(Self { served, own: Some(Box::new((problem, Vec::new()))) })
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        self.own.as_ref().map_or(&self.served.problem, |own| &own.0)
    }

    /// Prepares the problem without each of its restrictions in turn.
    pub fn relax(&mut self) {
        if let Some(own) = &mut self.own {
            own.1 = Relaxed::all(&own.0);
        }
    }

    /// The problem without each of its restrictions in turn, once it is prepared.
    pub fn relaxed(&self) -> &[Relaxed] {
        self.own.as_ref().map_or_else(|| self.served.relaxed(), |own| &own.1)
    }

    /// The words of the problem.
    pub fn wording(&self) -> &Wording {
        &self.served.wording
    }

    /// A person in standardised units; `number` counts them from 0.
    pub fn person(&self, values: &RawValue, number: usize) -> Result<People, Fault> {
        let at = format!("person {}", number + 1);
        Ok(from_json_at(values.get(), self.problem().features(), &at)?)
    }

    /// The fault of an answer for a person, who may be nobody whom the causal model can produce.
    pub fn locate(&self, number: usize, individual: &[f64], error: surefoot::Error) -> Fault {
        match fault(self.problem(), individual) {
            Some(fault) => anyhow::Error::from(fault).context(format!("person {}", number + 1)).into(),
            None => error.into(),
        }
    }

    /// An action in standardised units.
    pub fn action(&self, stated: &RawValue, number: usize, individual: &[f64]) -> Result<Action, Fault> {
        let at = format!("person {}: `action`", number + 1);
        let invalid = |text: String| Fault::Invalid(format!("{at}: {text}"));
        let Fields(fields) = serde_json::from_str(stated.get())
            .map_err(|error| invalid(format!("this is no action in JSON: {error}")))?;
        let features = self.problem().features();
        let mut all: StatedAction = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in &fields {
            if seen.contains(&name.as_str()) {
                return Err(invalid(format!("`{}` is given twice", surefoot::escape_line(name))));
            }
            seen.push(name);
            let column = column(features, name, &at)?;
            match (column.categories(), value) {
                (_, Value::Null) => {}
                (Some(_), Value::String(text)) => {
                    let stated = stated_category(features, column, text);
                    all.extend(stated.map_err(|error| error.context(at.clone()))?);
                }
                (None, Value::Number(change)) => {
                    all.extend(stated_change(features, column, change.as_f64().unwrap_or(f64::NAN)));
                }
                (Some(_), other) => {
                    return Err(invalid(format!("`{name}` is {other}; give the category to reach")));
                }
                (None, other) => {
                    return Err(invalid(format!("`{name}` is {other}; give the change, a number")));
                }
            }
        }
        if all.is_empty() {
            return Err(invalid("acts upon nothing; give a change for at least one column".into()));
        }
        all.sort_by_key(|(feature, _)| *feature);
        Ok(action_of(features, &all, individual))
    }
}

/// A column by its name.
fn column<'f>(features: &'f Features, name: &str, at: &str) -> Result<&'f surefoot::feature::Column, Fault> {
    let found = features.columns().iter().find(|column| column.name() == name);
    found.ok_or_else(|| {
        let known: Vec<String> = features.columns().iter().map(|c| format!("`{}`", c.name())).collect();
        let name: String = name.chars().take(100).collect();
        let name = surefoot::escape_line(&name);
        Fault::Invalid(format!("{at}: there is no column `{name}`; there are {}", known.join(", ")))
    })
}

/// The budget of a search that is given or left out.
pub fn budget(evaluations: Option<u64>) -> Result<Budget, Fault> {
    let Some(evaluations) = evaluations else { return Ok(Budget::default()) };
    let evaluations = usize::try_from(evaluations).unwrap_or(usize::MAX);
    check_evaluations(evaluations)?;
    Ok(Budget { evaluations })
}

/// Who a person is: their id, or their number in the request.
pub fn id_of(id: Option<&String>, number: usize) -> String {
    id.cloned().unwrap_or_else(|| (number + 1).to_string())
}
