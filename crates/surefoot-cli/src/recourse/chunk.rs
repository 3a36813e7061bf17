//! The answers of some people, in the form in which they are written and saved.

use serde::{Deserialize, Serialize, Serializer};
use surefoot::report::{Answer, AnswerTable, ColumnType, Heading, Values};

use super::answering::Answered;
use super::counts::Counts;

/// The answers of consecutive people.
pub struct Chunk {
    /// The rows of the table of answers, column by column.
    pub columns: Vec<Values>,
    /// How often each kind of answer was given.
    pub counts: Counts,
    /// Their proofs, one line each.
    pub proofs: String,
    /// Whose proofs were left out, since they are too long.
    pub too_long: Vec<String>,
}

impl Chunk {
    /// The answers of these people, ids and individuals. Proofs whose lines have more than `longest_proof` bytes are left out.
    pub fn new(
        table: &AnswerTable<'_>,
        (ids, individuals): (&[String], &[&[f64]]),
        answers: &[Answered],
        longest_proof: usize,
    ) -> Self {
        let rows = ids.iter().zip(individuals).zip(answers).flat_map(|((id, individual), answered)| {
            let reason = answered.reason.as_deref();
            let outcomes = answered.outcomes.iter().enumerate();
            outcomes.map(move |(option, outcome)| Answer { id, option, individual, outcome, reason })
        });
        let columns = table.values(&rows.collect::<Vec<Answer<'_>>>());
        let mut counts = Counts::default();
        let (mut proofs, mut too_long) = (String::new(), Vec::new());
        for (id, answered) in ids.iter().zip(answers) {
            answered.outcomes.iter().take(1).for_each(|first| counts.add(first));
            let Some(proof) = &answered.proof else { continue };
            let line = proof.to_line(id);
            if line.len() > longest_proof {
                too_long.push(id.clone());
            } else {
                proofs.push_str(&line);
            }
        }
        Self { columns, counts, proofs, too_long }
    }

    /// One line of JSON that holds everything but the text of the proofs; `digest` is that of the people.
    pub fn to_line(&self, digest: &str) -> String {
        let line = Line {
            people: digest,
            counts: self.counts,
            proof_bytes: self.proofs.len() as u64,
            too_long: &self.too_long,
            columns: self.columns.iter().map(Cells).collect(),
        };
        // Texts and numbers can always be written.
        serde_json::to_string(&line).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Line<'a> {
    people: &'a str,
    counts: Counts,
    proof_bytes: u64,
    too_long: &'a [String],
    columns: Vec<Cells<'a>>,
}

/// Answers that were saved, without the text of their proofs.
#[derive(Deserialize)]
pub struct SavedChunk {
    /// The digest of the people.
    pub people: String,
    /// How often each kind of answer was given.
    pub counts: Counts,
    /// The size of their proofs.
    pub proof_bytes: u64,
    /// Whose proofs were left out.
    pub too_long: Vec<String>,
    columns: Vec<serde_json::Value>,
}

impl SavedChunk {
    /// The answers, for a table with these headings; none if they do not fit it.
    pub fn into_chunk(self, headings: &[Heading]) -> Option<Chunk> {
        if self.columns.len() != headings.len() {
            return None;
        }
        let columns = self.columns.into_iter().zip(headings).map(|(cells, heading)| values(cells, heading));
        let columns = columns.collect::<Option<Vec<Values>>>()?;
        Some(Chunk { columns, counts: self.counts, proofs: String::new(), too_long: self.too_long })
    }
}

/// A number as JSON; one that is not finite is a text there.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(Option<f64>),
    Other(String),
}

/// The values of a column as JSON.
struct Cells<'a>(&'a Values);

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Values::Text(texts) => texts.serialize(serializer),
            Values::Boolean(truths) => truths.serialize(serializer),
            Values::Number(numbers) => serializer.collect_seq(numbers.iter().map(|&number| match number {
                Some(value) if !value.is_finite() => Number::Other(value.to_string()),
                number => Number::Finite(number),
            })),
        }
    }
}

fn values(cells: serde_json::Value, heading: &Heading) -> Option<Values> {
    Some(match heading.holds {
        ColumnType::Text => Values::Text(serde_json::from_value(cells).ok()?),
        ColumnType::Boolean => Values::Boolean(serde_json::from_value(cells).ok()?),
        ColumnType::Number | ColumnType::OwnValue => {
            let numbers: Vec<Number> = serde_json::from_value(cells).ok()?;
            let number = |number| match number {
                Number::Finite(number) => Some(number),
                Number::Other(text) => text.parse().ok().map(Some),
            };
            Values::Number(numbers.into_iter().map(number).collect::<Option<_>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use surefoot::{Change, Classifier, Complete, Feature, Features, Problem};

    use super::*;

    #[test]
    fn saved_answers_are_the_same_to_the_last_bit() {
        let texts = vec![Some("a \"b\"\n,ü".to_owned()), None, Some(String::new())];
        let numbers = [0.1 + 0.2, -0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 1e300, 3.0];
        let columns = vec![
            Values::Text(texts),
            Values::Number(numbers.into_iter().map(Some).chain([None]).collect()),
            Values::Boolean(vec![Some(true), None, Some(false)]),
        ];
        let holds = [ColumnType::Text, ColumnType::Number, ColumnType::Boolean];
        let headings = holds.map(|holds| Heading { name: "x".into(), holds });
        let chunk = Chunk { columns, counts: Counts::default(), proofs: "abc\n".into(), too_long: vec![] };
        let saved: SavedChunk = serde_json::from_str(&chunk.to_line("digest")).unwrap();
        assert_eq!((saved.people.as_str(), saved.proof_bytes), ("digest", 4));
        let read = saved.into_chunk(&headings).unwrap();
        assert_eq!(read.columns, chunk.columns);
        assert!(matches!(&read.columns[1], Values::Number(read) if read[1].unwrap().is_sign_negative()));
    }

    #[test]
    fn proofs_that_are_too_long_to_be_checked_are_left_out() {
        let features = Features::new(vec![Feature::new("income").change(Change::Increase)]).unwrap();
        let problem = Problem::new(features, Classifier::linear(vec![1.0], 0.0, 0.5).unwrap()).unwrap();
        let answered = || {
            let proof = Complete::new(&problem).unwrap().prove(&[-1.0]).unwrap();
            let saved = proof.saved(&problem, &[-1.0]);
            Answered { outcomes: vec![proof.outcome], proof: Some(saved), reason: None }
        };
        let ids = ["ana", "benjamin", "carl"].map(String::from);
        let answers = [answered(), answered(), answered()];
        let longest = answers[0].proof.as_ref().unwrap().to_line("ana").len();
        let people = (&ids[..], &[&[-1.0][..]; 3][..]);
        let chunk = Chunk::new(&AnswerTable::new(&problem, false), people, &answers, longest);
        assert_eq!(chunk.too_long, ["benjamin", "carl"]);
        assert_eq!((chunk.proofs.lines().count(), chunk.counts.people()), (1, 3));
    }
}
