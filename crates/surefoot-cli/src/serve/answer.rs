//! What people can do: `/v1/recourse` and its stream.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;
use serde_json::value::RawValue;
use surefoot::outcome::Candidate;
use surefoot::proof::Reference;
use surefoot::recourse::{Improvement, Observer, Solver};
use surefoot::report::letter::{Consequence, Said, Sayer, Step};
use surefoot::report::{Answer, AnswerTable, Heading, Values};
use surefoot::{Action, Outcome, People, Problem, describe_action, describe_options};
use utoipa::ToSchema;

use super::catalogue::Catalogue;
use super::fault::Fault;
use super::question::{RecourseRequest, Subject, id_of};
use crate::recourse::answering::{Answered, Answering, Wanted};

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Number(f64),
    Text(String),
    Truth(bool),
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // JSON has no other numbers than finite ones.
            Self::Number(number) if !number.is_finite() => serializer.serialize_none(),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
        }
    }
}

/// Values by the names of their columns, in the order of the columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(pub Vec<(String, Cell)>);

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, cell)| map.serialize_entry(name, cell))?;
        map.end()
    }
}

/// One row of a table that the command line writes.
pub struct TableRow(Vec<(String, Option<Cell>)>);

impl TableRow {
    /// A row of a table with these columns.
    pub fn of(headings: &[Heading], values: &[Values], row: usize) -> Self {
        let cell = |values: &Values| match values {
            Values::Text(texts) => texts[row].clone().map(Cell::Text),
            Values::Number(numbers) => numbers[row].map(Cell::Number),
            Values::Boolean(truths) => truths[row].map(Cell::Truth),
        };
        Self(
            headings
                .iter()
                .zip(values)
                .map(|(heading, values)| (heading.name.clone(), cell(values)))
                .collect(),
        )
    }

    /// The cell of a column.
    fn cell(&self, column: &str) -> Option<&Cell> {
        self.0.iter().find(|(name, _)| name == column)?.1.as_ref()
    }

    /// A finite number.
    pub fn number(&self, column: &str) -> Option<f64> {
        match self.cell(column)? {
            Cell::Number(number) => Some(*number).filter(|number| number.is_finite()),
            _ => None,
        }
    }

    /// A text.
    pub fn text(&self, column: &str) -> Option<String> {
        match self.cell(column)? {
            Cell::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// True or false.
    pub fn truth(&self, column: &str) -> Option<bool> {
        match self.cell(column)? {
            Cell::Truth(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The cells that are not empty of the columns that start with a prefix.
    pub fn with_prefix(&self, prefix: &str) -> Row {
        let cells = self
            .0
            .iter()
            .filter_map(|(name, cell)| Some((name.strip_prefix(prefix)?.to_owned(), cell.clone()?)));
        Row(cells.collect())
    }
}

/// A change of an action, or a column that it holds where it is.
#[derive(serde::Serialize, ToSchema)]
pub struct StepBody {
    /// The column.
    column: String,
    /// What people read instead.
    label: String,
    /// What to do, as a sentence.
    text: String,
    /// The value before, in words.
    before: String,
    /// The value afterwards, in words.
    after: String,
    /// The change in own units; `null` for a category.
    change: Option<f64>,
}

impl From<Step> for StepBody {
    fn from(Step { feature, label, text, before, after, change }: Step) -> Self {
        Self { column: feature, label, text, before, after, change }
    }
}

/// A value that follows from an action.
#[derive(serde::Serialize, ToSchema)]
pub struct ConsequenceBody {
    /// The column.
    column: String,
    /// What people read instead.
    label: String,
    /// What will happen, as a sentence.
    text: String,
    /// The value before, in words.
    before: String,
    /// The value afterwards, in words.
    after: String,
    /// The value afterwards in own units; `null` where it is not known.
    value: Option<f64>,
}

impl From<Consequence> for ConsequenceBody {
    fn from(Consequence { feature, label, text, before, after, value }: Consequence) -> Self {
        Self { column: feature, label, text, before, after, value }
    }
}

/// An action in words.
#[derive(Default)]
pub struct SaidBody {
    pub steps: Vec<StepBody>,
    pub consequences: Vec<ConsequenceBody>,
}

impl From<Said> for SaidBody {
    fn from(said: Said) -> Self {
        Self {
            steps: said.steps.into_iter().map(StepBody::from).collect(),
            consequences: said.consequences.into_iter().map(ConsequenceBody::from).collect(),
        }
    }
}

/// An action that somebody can take.
#[derive(serde::Serialize, ToSchema)]
pub struct OptionBody {
    /// The effort, in standard deviations.
    pub cost: f64,
    /// Proven: no action that holds costs less; of a further option, none that changes other things.
    pub cost_bound: Option<f64>,
    /// Proven: the margin under every shift.
    pub margin: Option<f64>,
    /// The columns that are acted upon.
    intervention: Vec<String>,
    /// The change of each of them in own units, or the category to reach.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    action: Row,
    /// The values of all columns afterwards, in own units.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    counterfactual: Row,
    /// The action in words.
    text: String,
    /// What to do, step by step.
    steps: Vec<StepBody>,
    /// What will follow by itself.
    consequences: Vec<ConsequenceBody>,
}

impl OptionBody {
    /// The changes, and the action in words.
    pub fn into_parts(self) -> (Row, SaidBody) {
        (self.action, SaidBody { steps: self.steps, consequences: self.consequences })
    }
}

/// The answer for one person.
#[derive(serde::Serialize, ToSchema)]
pub struct AnswerBody {
    /// Who it is.
    id: String,
    /// `favourable`, `found`, `impossible`, `undecided` or `unproved`.
    status: &'static str,
    /// Proven: no action that holds costs less.
    cost_bound: Option<f64>,
    /// The answer in words.
    text: String,
    /// Why there is no action, in words.
    reason: Option<String>,
    /// The actions, the cheapest first.
    options: Vec<OptionBody>,
    /// The reference of the proof.
    reference: Option<String>,
    /// The line of a file of proofs.
    #[schema(value_type = Option<std::collections::HashMap<String, serde_json::Value>>)]
    proof: Option<Box<RawValue>>,
}

/// The answers.
#[derive(serde::Serialize, ToSchema)]
pub struct RecourseResponse {
    /// The name of the problem.
    problem: String,
    /// How far circumstances may shift.
    epsilon: f64,
    /// An answer for each person, in order.
    answers: Vec<AnswerBody>,
}

/// One person, with what identifies them.
pub struct Individual {
    pub id: String,
    /// The person alone.
    pub people: People,
}

impl Individual {
    /// The values in standardised units.
    pub fn values(&self) -> &[f64] {
        self.people.individual(0)
    }
}

/// What can be answered about people, once everything that was asked has been checked.
pub struct RecourseQuestion {
    subject: Subject,
    people: Vec<Individual>,
    settings: surefoot::recourse::Settings,
    wanted: Wanted,
    language: surefoot::report::letter::Language,
}

impl RecourseQuestion {
    /// Checks what is asked.
    pub fn new(request: &RecourseRequest, catalogue: &Catalogue) -> Result<Self, Fault> {
        let settings = request.settings()?;
        let options = request.options.unwrap_or(1);
        if !(1..=100).contains(&options) {
            return Err(Fault::Invalid(format!("`options` {options}: must be from 1 to 100")));
        }
        let language = request.language()?;
        let subject = request.subject(catalogue)?;
        let individual = |(number, person): (usize, &super::question::Person)| {
            let people = subject.person(&person.values, number)?;
            Ok(Individual { id: id_of(person.id.as_ref(), number), people })
        };
        let people = request.people.iter().enumerate().map(individual).collect::<Result<Vec<_>, Fault>>()?;
        if people.is_empty() {
            return Err(Fault::Invalid("`people`: is empty; give at least one person".into()));
        }
        let alone = people.len() == 1;
        let wanted = Wanted { proofs: request.proofs, options, explain: request.explain, alone };
        Ok(Self { subject, people, settings, wanted, language })
    }

    /// Refuses more than one person.
    pub fn require_one(&self) -> Result<(), Fault> {
        match self.people.len() {
            1 => Ok(()),
            count => {
                Err(Fault::Invalid(format!("`people`: has {count} people; a stream is for exactly one")))
            }
        }
    }

    /// The answers of a closed form, within microseconds; `None` if somebody needs a search.
    pub fn answer_at_once(&self, most: usize) -> Result<Option<RecourseResponse>, Fault> {
        let Wanted { proofs, options, explain, .. } = self.wanted;
        let is_simple = self.subject.served.is_closed_form && !proofs && options == 1 && !explain;
        if !is_simple || self.people.len() > most {
            return Ok(None);
        }
        let problem = self.subject.problem();
        let solver = Solver::new(problem, self.settings)?;
        let mut answered = Vec::with_capacity(self.people.len());
        for (number, person) in self.people.iter().enumerate() {
            let outcome = solver.solve_at_once(person.values());
            let outcome = outcome.map_err(|error| self.subject.locate(number, person.values(), error))?;
            // Why there is no action takes longer.
            match outcome {
                Some(outcome @ (Outcome::Found(_) | Outcome::AlreadyFavourable)) => {
                    answered.push(Answered { outcomes: vec![outcome], proof: None, reason: None });
                }
                _ => return Ok(None),
            }
        }
        self.response(answered).map(Some)
    }

    /// The answers, with those that are found on the way told to an observer.
    pub fn answer(&mut self, observer: Option<Observer>) -> Result<RecourseResponse, Fault> {
        self.subject.relax();
        let problem = self.subject.problem();
        let answering = Answering::new(problem, self.subject.relaxed(), self.settings, self.wanted)?;
        let answering = match observer {
            Some(observer) => answering.observed(observer),
            None => answering,
        };
        let answered = self.each(|number, person| {
            let mut answered = answering
                .answers(&[person.values()])
                .map_err(|error| self.subject.locate(number, person.values(), error))?;
            Ok(answered.swap_remove(0))
        })?;
        self.response(answered)
    }

    /// What is done for each person, on all cores if there are several.
    fn each<T: Send>(
        &self,
        answer: impl Fn(usize, &Individual) -> Result<T, Fault> + Sync,
    ) -> Result<Vec<T>, Fault> {
        super::each(&self.people, answer)
    }

    fn response(&self, answered: Vec<Answered>) -> Result<RecourseResponse, Fault> {
        let problem = self.subject.problem();
        let table = AnswerTable::new(problem, false);
        let headings = table.headings();
        let sayer = Sayer::new(problem, self.language, self.subject.wording())?;
        let body = |person: &Individual, answered: Answered| -> Result<AnswerBody, Fault> {
            let Answered { outcomes, proof, reason } = answered;
            let text = match &reason {
                Some(reason) => reason.clone(),
                None => describe_options(problem, person.values(), &outcomes)?,
            };
            let of_outcome = |outcome| option(problem, (&table, &headings), &sayer, person.values(), outcome);
            let options = outcomes.iter().filter_map(|outcome| of_outcome(outcome).transpose());
            let options = options.collect::<Result<Vec<_>, Fault>>()?;
            let first = &outcomes[0];
            let bound = match first {
                Outcome::Found(found) => Some(found.cost_bound),
                Outcome::Undecided(undecided) => Some(undecided.cost_bound),
                _ => None,
            };
            let reference = proof.as_ref().map(|proof| Reference::of(&person.id, proof).to_string());
            let line = proof.map(|proof| raw(proof.to_line(&person.id))).transpose()?;
            Ok(AnswerBody {
                id: person.id.clone(),
                status: first.status(),
                cost_bound: bound.filter(|bound| bound.is_finite()),
                text,
                reason,
                options,
                reference,
                proof: line,
            })
        };
        let answers = self.people.iter().zip(answered).map(|(person, answered)| body(person, answered));
        Ok(RecourseResponse {
            problem: self.subject.served.name.clone(),
            epsilon: problem.epsilon(),
            answers: answers.collect::<Result<_, Fault>>()?,
        })
    }
}

/// JSON that is already text.
pub fn raw(text: String) -> Result<Box<RawValue>, Fault> {
    RawValue::from_string(text.trim_end().to_owned()).map_err(|_| Fault::Internal)
}

/// The action of an outcome, with its words and numbers.
pub fn option(
    problem: &Problem,
    (table, headings): (&AnswerTable<'_>, &[Heading]),
    sayer: &Sayer<'_>,
    individual: &[f64],
    outcome: &Outcome,
) -> Result<Option<OptionBody>, Fault> {
    let Some(advice) = outcome.advice() else { return Ok(None) };
    let values = table.values(&[Answer { id: "", option: 0, outcome, reason: None, individual }]);
    let row = TableRow::of(headings, &values, 0);
    let said = SaidBody::from(sayer.say(individual, advice.action, advice.counterfactual)?);
    let intervention = row.text("intervention").unwrap_or_default();
    let names = intervention.split(';').filter(|name| !name.is_empty());
    Ok(Some(OptionBody {
        cost: advice.cost,
        cost_bound: row.number("cost_bound"),
        margin: row.number("margin"),
        intervention: names.map(str::to_owned).collect(),
        action: row.with_prefix("action:"),
        counterfactual: row.with_prefix("counterfactual:"),
        text: describe_action(problem, individual, advice.action)?,
        steps: said.steps,
        consequences: said.consequences,
    }))
}

/// An event of a stream: its name and its data.
pub type Event = (&'static str, String);

/// Something better as an event.
fn event(problem: &Problem, individual: &[f64], improvement: Improvement) -> Event {
    let action = |action: Action, cost: f64, proven: bool| {
        // Categories, which the table names by where the action leads, never follow from anything else.
        let mut counterfactual = individual.to_vec();
        action.features.iter().zip(&action.change).for_each(|(&i, change)| counterfactual[i] += change);
        let outcome = Outcome::Unproved(Candidate { action, counterfactual, cost });
        let table = AnswerTable::new(problem, false);
        let values =
            table.values(&[Answer { id: "", option: 0, outcome: &outcome, reason: None, individual }]);
        let row = TableRow::of(&table.headings(), &values, 0).with_prefix("action:");
        json!({"cost": cost, "action": row, "proven": proven})
    };
    let (name, data) = match improvement {
        Improvement::Bound(bound) => ("bound", json!({"cost_bound": bound})),
        Improvement::Incumbent { action: found, cost } => ("incumbent", action(found, cost, false)),
        Improvement::Proven { action: found, cost } => ("proof", action(found, cost, true)),
    };
    (name, data.to_string())
}

impl RecourseQuestion {
    /// An observer that sends what it is told as events about the first person.
    pub fn observer(&self, send: impl Fn(Event) + Send + Sync + 'static) -> Observer {
        let problem = self.subject.problem().clone();
        let individual = self.people.first().map_or(Vec::new(), |person| person.values().to_vec());
        Observer::new(move |improvement| send(event(&problem, &individual, improvement)))
    }
}
