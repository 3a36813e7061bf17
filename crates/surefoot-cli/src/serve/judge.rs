//! What is judged: `/v1/certify`, `/v1/attack` and `/v1/verify`.

use serde::Serialize;
use serde_json::Value;
use surefoot::proof::Reference;
use surefoot::recourse::Settings;
use surefoot::report::letter::{Language, Sayer};
use surefoot::report::{AttackTable, Attacked, Judged, VerdictTable};
use surefoot::{
    Action, Break, Budget, Outcome, Problem, SavedProof, Verdict, Verification, certify, describe,
    infeasibility, margin, refute, verify,
};
use utoipa::ToSchema;

use super::answer::{ConsequenceBody, Individual, Row, SaidBody, StepBody, TableRow, option};
use super::catalogue::Catalogue;
use super::each;
use super::fault::Fault;
use super::question::{
    AttackRequest, CertifyRequest, PersonWithAction, Subject, VerifyRequest, budget, id_of,
};
use crate::verify::Report;

/// The verdict on the action of one person.
#[derive(Serialize, ToSchema)]
pub struct VerdictBody {
    /// Who it is.
    id: String,
    /// `holds`, `breaks` or `undecided`.
    verdict: String,
    /// Proven: the margin is at least this for every shift.
    margin: Option<f64>,
    /// The lowest margin that was found.
    margin_at_most: Option<f64>,
    /// The shift that breaks the action, in words.
    breaks_with: Option<String>,
    /// Whether the problem allows the action.
    feasible: bool,
    /// If it does not: every reason.
    reason: Option<String>,
}

/// The verdicts.
#[derive(Serialize, ToSchema)]
pub struct CertifyResponse {
    /// The name of the problem.
    problem: String,
    /// How far circumstances may shift.
    epsilon: f64,
    /// A verdict for each person, in order.
    verdicts: Vec<VerdictBody>,
}

/// A person with an action, if it was given.
struct Promise {
    individual: Individual,
    action: Option<Action>,
}

fn promises(subject: &Subject, people: &[PersonWithAction]) -> Result<Vec<Promise>, Fault> {
    if people.is_empty() {
        return Err(Fault::Invalid("`people`: is empty; give at least one person".into()));
    }
    let promise = |(number, person): (usize, &PersonWithAction)| {
        let people = subject.person(&person.values, number)?;
        let stated = person.action.as_ref();
        let action = stated.map(|stated| subject.action(stated, number, people.individual(0))).transpose()?;
        Ok(Promise { individual: Individual { id: id_of(person.id.as_ref(), number), people }, action })
    };
    people.iter().enumerate().map(promise).collect()
}

/// Whether actions hold.
pub fn certify_all(request: &CertifyRequest, catalogue: &Catalogue) -> Result<CertifyResponse, Fault> {
    let budget = budget(request.evaluations)?;
    let subject = request.subject(catalogue)?;
    let promises = promises(&subject, &request.people)?;
    if let Some(number) = promises.iter().position(|promise| promise.action.is_none()) {
        return Err(Fault::Invalid(format!("person {}: has no `action`", number + 1)));
    }
    let problem = subject.problem();
    let table = VerdictTable::new(problem);
    let headings = table.headings();
    let verdicts = each(&promises, |number, Promise { individual, action }| {
        let (id, values) = (&individual.id, individual.values());
        let Some(action) = action else { return Err(Fault::Internal) };
        let certificate = certify(problem, values, action, budget);
        let certificate = certificate.map_err(|error| subject.locate(number, values, error))?;
        let why = infeasibility(problem, values, action);
        let why = why.map_err(|error| subject.locate(number, values, error))?;
        let row = Judged { id, action: Some((&certificate.verdict, why.as_ref())) };
        let row = TableRow::of(&headings, &table.values(&[row])?, 0);
        Ok(VerdictBody {
            id: id.clone(),
            verdict: row.text("verdict").unwrap_or_default(),
            margin: row.number("margin"),
            margin_at_most: row.number("margin_at_most"),
            breaks_with: row.text("breaks_with"),
            feasible: why.is_none(),
            reason: row.text("reason"),
        })
    })?;
    Ok(CertifyResponse { problem: subject.served.name.clone(), epsilon: problem.epsilon(), verdicts })
}

/// A shift that `certify` found to break an action.
#[derive(Serialize, ToSchema)]
struct CounterexampleBody {
    /// Its size, at most epsilon.
    size: f64,
    /// The margin under it; `null` also where the result of the action is undefined.
    margin: Option<f64>,
    /// The shift of each feature, in own units.
    #[schema(value_type = std::collections::HashMap<String, f64>)]
    shift: Row,
}

/// An action that was attacked.
#[derive(Serialize, ToSchema)]
pub struct AttackedBody {
    /// The effort of the action, in standard deviations.
    cost: f64,
    /// The change of each column that is acted upon, in own units, or the category to reach.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    action: Row,
    /// What to do, step by step.
    steps: Vec<StepBody>,
    /// What will follow by itself.
    consequences: Vec<ConsequenceBody>,
    /// Whether a shift of at most epsilon was found that breaks it.
    broken: bool,
    /// The size of the smallest shift found that breaks it.
    smallest_break: Option<f64>,
    /// The margin under it; `null` also where the result of the action is undefined.
    margin: Option<f64>,
    /// The shift of each feature, in own units.
    #[schema(value_type = Option<std::collections::HashMap<String, f64>>)]
    shift: Option<Row>,
    /// The same in words.
    breaks_with: Option<String>,
    /// Of an action that is broken: a shift that is rather large than small, to show what may happen.
    counterexample: Option<CounterexampleBody>,
    /// Whether the problem allows the action.
    feasible: bool,
    /// If it does not: every reason.
    reason: Option<String>,
}

/// The attacks on one person's actions.
#[derive(Serialize, ToSchema)]
pub struct AttackBody {
    /// Who it is.
    id: String,
    /// The status of the answer whose action is attacked; `null` if the action was given.
    status: Option<&'static str>,
    /// The action.
    attack: Option<AttackedBody>,
    /// The cheapest action that is guarded against nothing.
    cheapest: Option<AttackedBody>,
}

/// The attacks.
#[derive(Serialize, ToSchema)]
pub struct AttackResponse {
    /// The name of the problem.
    problem: String,
    /// How far circumstances may shift.
    epsilon: f64,
    /// The attacks for each person, in order.
    attacks: Vec<AttackBody>,
}

/// Attacks actions of one problem.
struct Attacker<'a> {
    subject: &'a Subject,
    language: Language,
    budget: Budget,
}

impl Attacker<'_> {
    fn attack(&self, number: usize, person: &Individual, action: &Action) -> Result<AttackedBody, Fault> {
        let (problem, values) = (self.subject.problem(), person.values());
        let locate = |error| self.subject.locate(number, values, error);
        let actions = std::slice::from_ref(action);
        let found = refute(problem, &person.people, actions, self.budget).map_err(locate)?;
        let found = found.into_iter().next().flatten();
        let why = infeasibility(problem, values, action).map_err(locate)?;
        let table = AttackTable::new(problem);
        let row = Attacked { id: "", action: Some((found.as_ref(), why.as_ref())) };
        let row = TableRow::of(&table.headings(), &table.values(&[row])?, 0);
        // Where the result of the action is undefined, nothing is said of what follows from it.
        let reached = margin::outcome(problem, values, action).unwrap_or_else(|_| values.to_vec());
        let cost = problem.cost().of(problem.features(), action);
        let outcome = Outcome::Unproved(surefoot::outcome::Candidate {
            action: action.clone(),
            counterfactual: reached,
            cost,
        });
        let answers = surefoot::report::AnswerTable::new(problem, false);
        let sayer = Sayer::new(problem, self.language, self.subject.wording())?;
        let option = option(problem, (&answers, &answers.headings()), &sayer, values, &outcome)?;
        let promised = action;
        let (action, SaidBody { steps, consequences }) = option.ok_or(Fault::Internal)?.into_parts();
        let is_found = found.is_some();
        let is_broken = row.truth("broken").unwrap_or_default();
        let counterexample =
            is_broken.then(|| self.counterexample(number, person, &table, promised)).transpose()?;
        Ok(AttackedBody {
            cost,
            action,
            steps,
            consequences,
            broken: is_broken,
            smallest_break: row.number("smallest_break"),
            margin: row.number("margin"),
            shift: is_found.then(|| row.with_prefix("shift:")),
            breaks_with: row.text("breaks_with"),
            counterexample: counterexample.flatten(),
            feasible: why.is_none(),
            reason: row.text("reason"),
        })
    }

    /// The shift with which `certify` disproves an action. `None` if it does not.
    fn counterexample(
        &self,
        number: usize,
        person: &Individual,
        table: &AttackTable<'_>,
        action: &Action,
    ) -> Result<Option<CounterexampleBody>, Fault> {
        let (problem, values) = (self.subject.problem(), person.values());
        let locate = |error| self.subject.locate(number, values, error);
        let verdict = certify(problem, values, action, self.budget).map_err(locate)?.verdict;
        let Verdict::Breaks { variant, perturbation, margin } = verdict else { return Ok(None) };
        let own = problem.for_person(values).map_err(locate)?;
        let (own, values) = own.as_ref().map_or((problem, values), |own| (&own.problem, &own.individual[..]));
        let shift = margin::shifts(own, values, &perturbation).map_err(locate)?;
        let size = own.uncertainty().size(&perturbation);
        let is_within = own.uncertainty().includes(size);
        let found = Break { variant, perturbation, shift, size, is_within, counterfactual: None, margin };
        let row = Attacked { id: "", action: Some((Some(&found), None)) };
        let row = TableRow::of(&table.headings(), &table.values(&[row])?, 0);
        let is_within = row.truth("broken").unwrap_or_default();
        Ok(is_within.then(|| CounterexampleBody {
            size,
            margin: row.number("margin"),
            shift: row.with_prefix("shift:"),
        }))
    }
}

/// Attacks actions.
pub fn attack_all(request: &AttackRequest, catalogue: &Catalogue) -> Result<AttackResponse, Fault> {
    let settings = request.settings()?;
    let subject = request.subject(catalogue)?;
    let promises = promises(&subject, &request.people)?;
    let problem = subject.problem();
    let unguarded = request.cheapest.then(|| problem.clone().with_epsilon(0.0)).transpose()?;
    let attacker =
        Attacker { subject: &subject, language: request.language()?, budget: budget(request.evaluations)? };
    let attacks = each(&promises, |number, Promise { individual, action }| {
        let (id, values) = (&individual.id, individual.values());
        let answer = |problem: &Problem| {
            answer(problem, settings, values).map_err(|error| subject.locate(number, values, error))
        };
        let (status, action) = match action {
            Some(action) => (None, Some(action.clone())),
            None => {
                let outcome = answer(problem)?;
                (Some(outcome.status()), outcome.advice().map(|advice| advice.action.clone()))
            }
        };
        let attack = action.map(|action| attacker.attack(number, individual, &action)).transpose()?;
        let cheapest = unguarded.as_ref().map(answer).transpose()?;
        let cheapest = cheapest.as_ref().and_then(Outcome::advice).map(|advice| advice.action.clone());
        let cheapest = cheapest.map(|action| attacker.attack(number, individual, &action)).transpose()?;
        Ok(AttackBody { id: id.clone(), status, attack, cheapest })
    })?;
    Ok(AttackResponse { problem: subject.served.name.clone(), epsilon: problem.epsilon(), attacks })
}

/// The cheapest action, as `/v1/recourse` answers.
fn answer(problem: &Problem, settings: Settings, individual: &[f64]) -> surefoot::Result<Outcome> {
    surefoot::recourse::Solver::new(problem, settings)?.solve(individual)
}

/// Whether a proof is right.
#[derive(Serialize, ToSchema)]
pub struct VerificationBody {
    /// Who it is about.
    id: String,
    /// Its reference.
    reference: String,
    /// `verified`, `wrong`, `unverified` or `other_problem`.
    verdict: &'static str,
    /// Why it is not verified, in words.
    fault: Option<String>,
    /// What a verified proof says, in words.
    text: Option<String>,
}

/// Whether proofs are right.
#[derive(Serialize, ToSchema)]
pub struct VerifyResponse {
    /// The name of the problem.
    problem: String,
    /// Whether every proof is verified.
    all_verified: bool,
    /// The report in words.
    text: String,
    /// The verification of each proof, in order.
    results: Vec<VerificationBody>,
}

/// Checks saved proofs with the independent checker.
pub fn verify_all(request: &VerifyRequest, catalogue: &Catalogue) -> Result<VerifyResponse, Fault> {
    let subject = request.subject(catalogue)?;
    if request.proofs.is_empty() {
        return Err(Fault::Invalid("`proofs`: is empty; give at least one".into()));
    }
    let problem = subject.problem();
    let checked = each(&request.proofs, |number, line| {
        let invalid =
            |error: &dyn std::fmt::Display| Fault::Invalid(format!("proof {}: {error}", number + 1));
        let value: Value = serde_json::from_str(line.proof.get()).map_err(|error| invalid(&error))?;
        let proof = SavedProof::from_value(&value).map_err(|error| invalid(&error))?;
        let verification = verify(problem, &proof).map_err(|error| invalid(&error))?;
        Ok((proof, verification))
    })?;
    let mut all = Report::default();
    let mut results = Vec::with_capacity(checked.len());
    for (line, (proof, verification)) in request.proofs.iter().zip(checked) {
        let verdict = match &verification {
            Verification::Verified(_) => "verified",
            Verification::OtherProblem { .. } => "other_problem",
            Verification::Wrong(_) => "wrong",
            Verification::Unverified(_) => "unverified",
        };
        let text = match verdict == "verified" {
            true => Some(describe(problem, &proof.individual, &proof.outcome)?),
            false => None,
        };
        let mut alone = Report::default();
        alone.add(&line.id, &proof.outcome, verification.clone());
        all.add(&line.id, &proof.outcome, verification);
        results.push(VerificationBody {
            id: line.id.clone(),
            reference: Reference::of(&line.id, &proof).to_string(),
            verdict,
            fault: Some(alone.examples.trim().to_owned()).filter(|fault| !fault.is_empty()),
            text,
        });
    }
    Ok(VerifyResponse {
        problem: subject.served.name.clone(),
        all_verified: all.failed() == 0,
        text: all.to_string().trim().to_owned(),
        results,
    })
}
