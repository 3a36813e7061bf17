//! Recognises the format of a model by its content.

use serde_json::Value;

use super::{Draft, Ensemble, catboost, lightgbm, own, ubj, xgboost};
use crate::error::TreesProblem;

type Result<T> = std::result::Result<T, TreesProblem>;

/// The ensemble in the bytes of a file; `None` if they are none of the formats that this module reads.
pub fn parse(bytes: &[u8]) -> Result<Option<Ensemble>> {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    match &bytes[start..] {
        // In JSON a quotation mark or a brace follows.
        [b'{', b'i' | b'U' | b'I' | b'l' | b'L' | b'#' | b'$' | b'N', ..] => {
            let document = ubj::parse(&bytes[start..])
                .map_err(|message| TreesProblem::Syntax { format: "UBJ", message })?;
            from_document(&document).map(Some)
        }
        [b'{', ..] => {
            let document = serde_json::from_slice(bytes)
                .map_err(|error| TreesProblem::Syntax { format: "JSON", message: error.to_string() })?;
            from_document(&document).map(Some)
        }
        text => match std::str::from_utf8(text) {
            Ok(text) if lightgbm::recognises(text) => lightgbm::read(text)?.build().map(Some),
            _ => Ok(None),
        },
    }
}

fn from_document(document: &Value) -> Result<Ensemble> {
    if own::recognises(document) { own::read(document) } else { draft(document)?.build() }
}

/// The draft of a model that another program wrote, or of trees in Surefoot's own form.
pub fn draft(document: &Value) -> Result<Draft> {
    match document {
        Value::String(text) if lightgbm::recognises(text) => lightgbm::read(text),
        document if xgboost::recognises(document) => xgboost::read(document),
        document if catboost::recognises(document) => catboost::read(document),
        document if document.get("sum").is_some() => own::read_model(document),
        _ => Err(TreesProblem::Unknown),
    }
}
