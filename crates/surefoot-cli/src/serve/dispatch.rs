//! From the body of a request to that of its response, without connections and threads.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::answer::RecourseQuestion;
use super::catalogue::Catalogue;
use super::fault::Fault;
use super::question::{
    AttackRequest, CertifyRequest, LetterRequest, RecourseRequest, TradeOffRequest, VerifyRequest, read,
};
use super::{judge, tell};

/// The answer to the question in a body. People and proofs may be at most so many.
pub fn answer_to(path: &str, body: &[u8], catalogue: &Catalogue, most: usize) -> Result<Vec<u8>, Fault> {
    match path {
        "/v1/recourse" => written(&recourse_question(body, catalogue, most)?.answer(None)?),
        "/v1/certify" => {
            let request: CertifyRequest = read(body)?;
            check_count("people", request.people.len(), most)?;
            written(&judge::certify_all(&request, catalogue)?)
        }
        "/v1/attack" => {
            let request: AttackRequest = read(body)?;
            check_count("people", request.people.len(), most)?;
            written(&judge::attack_all(&request, catalogue)?)
        }
        "/v1/trade-off" => {
            let request: TradeOffRequest = read(body)?;
            written(&tell::trade_off_of(&request, catalogue)?)
        }
        "/v1/letter" => {
            let request: LetterRequest = read(body)?;
            check_count("people", request.people.len(), most)?;
            written(&tell::letters_to(&request, catalogue)?)
        }
        "/v1/verify" => {
            let request: VerifyRequest = read(body)?;
            check_count("proofs", request.proofs.len(), most)?;
            written(&judge::verify_all(&request, catalogue)?)
        }
        _ => Err(Fault::NotFound),
    }
}

/// What people ask for, once it has been checked.
pub fn recourse_question(body: &[u8], catalogue: &Catalogue, most: usize) -> Result<RecourseQuestion, Fault> {
    let request: RecourseRequest = read(body)?;
    check_count("people", request.people.len(), most)?;
    RecourseQuestion::new(&request, catalogue)
}

/// JSON as bytes.
pub fn written(body: &impl Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(body).map_err(|_| Fault::Internal)
}

/// Refuses more people or proofs than a request may have.
fn check_count(field: &str, count: usize, most: usize) -> Result<(), Fault> {
    match count > most {
        true => Err(Fault::TooLarge(format!(
            "`{field}`: has {count} entries; give at most {most} in one request"
        ))),
        false => Ok(()),
    }
}

/// Answers bodies as the service does, without connections and threads. For tests.
pub struct Offline(Catalogue);

/// The largest number of people in a request.
const MOST_PEOPLE: usize = 100;

impl Offline {
    /// Reads a problem file.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn open(path: &Path) -> Result<Self> {
        Catalogue::open(path, None).map(Self)
    }

    /// The response to a body, or the status and the details of the error.
    pub fn answer(&self, path: &str, body: &[u8]) -> Result<Vec<u8>, (u16, String)> {
        answer_to(path, body, &self.0, MOST_PEOPLE).map_err(details)
    }

    /// The response to a question about recourse that a closed form answers; `None` if none does.
    pub fn answer_at_once(&self, body: &[u8]) -> Result<Option<Vec<u8>>, (u16, String)> {
        let answer = || {
            let answer = recourse_question(body, &self.0, MOST_PEOPLE)?.answer_at_once(MOST_PEOPLE)?;
            answer.map(|answer| written(&answer)).transpose()
        };
        answer().map_err(details)
    }
}

fn details(fault: Fault) -> (u16, String) {
    let details = serde_json::to_string(&fault.details("")).unwrap_or_default();
    (fault.status().as_u16(), details)
}
