//! What is told: `/v1/trade-off` and `/v1/letter`.

use serde::Serialize;
use serde_json::value::RawValue;
use surefoot::Outcome;
use surefoot::recourse::{Reach, TradeOff, trade_off};
use surefoot::report::AnswerTable;
use surefoot::report::letter::{Format, LetterSettings, LetterWriter, Sayer, Template};
use utoipa::ToSchema;

use super::answer::{Individual, OptionBody, option, raw};
use super::catalogue::Catalogue;
use super::each;
use super::fault::Fault;
use super::question::{LetterRequest, Person, TradeOffRequest, id_of};
use crate::trade_off::largest;

/// The answer for one size of the uncertainty.
#[derive(Serialize, ToSchema)]
pub struct PointBody {
    /// The size, in standard deviations.
    epsilon: f64,
    /// `found`, `impossible` or `undecided`.
    status: &'static str,
    /// The effort of the action, in standard deviations.
    cost: Option<f64>,
    /// Proven: no action that holds costs less.
    cost_bound: Option<f64>,
    /// The action.
    option: Option<OptionBody>,
}

/// The uncertainty up to which there is an action.
#[derive(Serialize, ToSchema)]
pub struct ReachBody {
    /// The largest size for which an action is proven to hold.
    possible: Option<f64>,
    /// The smallest size for which it is proven that none holds.
    impossible: Option<f64>,
}

/// What certainty costs one person.
#[derive(Serialize, ToSchema)]
pub struct TradeOffResponse {
    /// The name of the problem.
    problem: String,
    /// Whether the decision is favourable as things stand; then there are no points.
    favourable: bool,
    /// The answer for each size.
    points: Vec<PointBody>,
    /// How far the uncertainty may reach.
    reach: ReachBody,
    /// The reach in words.
    text: String,
}

/// The cheapest action for each size of the uncertainty.
pub fn trade_off_of(request: &TradeOffRequest, catalogue: &Catalogue) -> Result<TradeOffResponse, Fault> {
    let settings = request.settings()?;
    let is_size = |epsilon: &f64| epsilon.is_finite() && *epsilon >= 0.0;
    if let Some(epsilon) = request.epsilons.iter().flatten().find(|epsilon| !is_size(epsilon)) {
        return Err(Fault::Invalid(format!(
            "`epsilons` {epsilon}: must be a number that is not negative, in standard deviations"
        )));
    }
    if request.epsilons.as_ref().is_some_and(|epsilons| epsilons.len() > MOST_SIZES) {
        return Err(Fault::TooLarge(format!("`epsilons`: give at most {MOST_SIZES} sizes")));
    }
    let language = request.language()?;
    let subject = request.subject(catalogue)?;
    let people = subject.person(&request.person.values, 0)?;
    let individual = people.individual(0);
    let problem = subject.problem();
    let name = subject.served.name.clone();
    if problem.score(individual) >= 0.0 {
        return Ok(TradeOffResponse {
            problem: name,
            favourable: true,
            points: Vec::new(),
            reach: ReachBody { possible: None, impossible: None },
            text: "Nothing needs to change: the decision is favourable as things stand.".into(),
        });
    }
    let epsilons = request.epsilons.as_deref().filter(|epsilons| !epsilons.is_empty());
    let TradeOff { epsilons, answers, reach, .. } =
        trade_off(problem, individual, epsilons, settings, |_| {})
            .map_err(|error| subject.locate(0, individual, error))?;
    let sayer = Sayer::new(problem, language, subject.wording())?;
    let table = AnswerTable::new(problem, false);
    let headings = table.headings();
    let point = |(&epsilon, outcome): (&f64, &Outcome)| -> Result<PointBody, Fault> {
        let option = option(problem, (&table, &headings), &sayer, individual, outcome)?;
        let bound = match outcome {
            Outcome::Found(found) => Some(found.cost_bound),
            Outcome::Undecided(undecided) => Some(undecided.cost_bound),
            _ => None,
        };
        let cost = outcome.advice().map(|advice| advice.cost);
        let cost_bound = bound.filter(|bound| bound.is_finite());
        Ok(PointBody { epsilon, status: outcome.status(), cost, cost_bound, option })
    };
    let points = epsilons.iter().zip(&answers).map(point).collect::<Result<_, Fault>>()?;
    let Reach { possible, impossible } = reach;
    let (reach, text) = (ReachBody { possible, impossible }, largest(reach));
    Ok(TradeOffResponse { problem: name, favourable: false, points, reach, text })
}

/// The largest number of sizes of one curve: each may cost a search.
const MOST_SIZES: usize = 100;

/// The letter to one person.
#[derive(Serialize, ToSchema)]
pub struct LetterBody {
    /// Who it is for.
    id: String,
    /// The status of the answer.
    status: &'static str,
    /// The reference of the proof.
    reference: Option<String>,
    /// The letter as HTML or text.
    content: String,
    /// The content of the letter as data.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    letter: Box<RawValue>,
    /// The proofs of everything that the letter says is proven: lines of a file of proofs.
    #[schema(value_type = Vec<std::collections::HashMap<String, serde_json::Value>>)]
    proofs: Vec<Box<RawValue>>,
}

/// The letters.
#[derive(Serialize, ToSchema)]
pub struct LetterResponse {
    /// The name of the problem.
    problem: String,
    /// How far circumstances may shift.
    epsilon: f64,
    /// A letter for each person, in order.
    letters: Vec<LetterBody>,
}

/// Letters in words.
pub fn letters_to(request: &LetterRequest, catalogue: &Catalogue) -> Result<LetterResponse, Fault> {
    let settings = request.settings()?;
    let format = request.format.as_deref().unwrap_or("html").parse::<Format>()?;
    if !matches!(format, Format::Html | Format::Text) {
        return Err(Fault::Invalid(format!("`format` {format}: must be `html` or `text`")));
    }
    let options = request.options.unwrap_or(1);
    if !(1..=3).contains(&options) {
        return Err(Fault::Invalid(format!("`options` {options}: must be from 1 to 3")));
    }
    if options > 1 && !settings.method.proves() {
        return Err(Fault::Invalid(format!(
            "`options` {options}: the method `{}` finds one action for each person; leave out `options`, or choose \
             another `method`",
            settings.method
        )));
    }
    let language = request.language()?;
    let mut subject = request.subject(catalogue)?;
    if request.people.is_empty() {
        return Err(Fault::Invalid("`people`: is empty; give at least one person".into()));
    }
    let individual = |(number, person): (usize, &Person)| {
        let people = subject.person(&person.values, number)?;
        Ok(Individual { id: id_of(person.id.as_ref(), number), people })
    };
    let people = request.people.iter().enumerate().map(individual).collect::<Result<Vec<_>, Fault>>()?;
    subject.relax();
    let problem = subject.problem();
    let wording = subject.wording().clone();
    let words = LetterSettings { language, others: usize::from(options) - 1, wording };
    let writer = LetterWriter::new(problem, subject.relaxed(), settings, words)?;
    let template = Template::built_in(format)?;
    let letters = each(&people, |number, person| {
        let written = writer.write(&person.id, person.values());
        let written = written.map_err(|error| subject.locate(number, person.values(), error))?;
        let proofs = written.proofs.iter().map(|(_, proof)| raw(proof.to_line(&person.id)));
        Ok(LetterBody {
            id: person.id.clone(),
            status: written.letter.status,
            reference: written.letter.reference.clone(),
            content: template.page(&written.letter)?,
            letter: raw(written.letter.to_json())?,
            proofs: proofs.collect::<Result<_, Fault>>()?,
        })
    })?;
    Ok(LetterResponse { problem: subject.served.name.clone(), epsilon: problem.epsilon(), letters })
}
