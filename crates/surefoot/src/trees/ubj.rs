//! Universal Binary JSON, draft 12, as XGBoost writes it.

use serde_json::{Map, Number, Value};

/// The deepest nesting that is read.
const DEEPEST: usize = 100;

/// The document; an error says what is wrong and where.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    let mut reader = Reader { bytes, at: 0 };
    let marker = reader.marker()?;
    let value = reader.value(marker, 0)?;
    if reader.bytes[reader.at..].iter().all(|&byte| byte == b'N') {
        return Ok(value);
    }
    Err(format!("there is more after byte {}", reader.at))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The type and the number of the items of a list or a table, if they are stated; otherwise the byte that
/// follows its start.
struct Header {
    kind: Option<u8>,
    count: Option<usize>,
    next: Option<u8>,
}

impl Reader<'_> {
    fn take<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], String> {
        let chunk = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<COUNT>());
        let chunk = *chunk.ok_or_else(|| format!("it ends at byte {}", self.bytes.len()))?;
        self.at += COUNT;
        Ok(chunk)
    }

    /// The next byte that is not the marker of nothing.
    fn marker(&mut self) -> Result<u8, String> {
        loop {
            let [marker] = self.take()?;
            if marker != b'N' {
                return Ok(marker);
            }
        }
    }

    fn unknown(&self, marker: u8) -> String {
        format!("the marker {:?} at byte {} is not known", char::from(marker), self.at.saturating_sub(1))
    }

    fn whole(&mut self, marker: u8) -> Result<i64, String> {
        Ok(match marker {
            b'i' => i8::from_be_bytes(self.take()?).into(),
            b'U' => u8::from_be_bytes(self.take()?).into(),
            b'I' => i16::from_be_bytes(self.take()?).into(),
            b'l' => i32::from_be_bytes(self.take()?).into(),
            b'L' => i64::from_be_bytes(self.take()?),
            _ => return Err(self.unknown(marker)),
        })
    }

    /// A length, which cannot exceed the number of bytes that are left.
    fn length(&mut self) -> Result<usize, String> {
        let marker = self.marker()?;
        let length = usize::try_from(self.whole(marker)?).ok();
        let left = self.bytes.len() - self.at;
        length.filter(|&length| length <= left).ok_or_else(|| format!("a wrong length at byte {}", self.at))
    }

    fn text(&mut self) -> Result<String, String> {
        let length = self.length()?;
        let text = &self.bytes[self.at..self.at + length];
        self.at += length;
        String::from_utf8(text.to_vec()).map_err(|_| format!("a text before byte {} is no UTF-8", self.at))
    }

    fn value(&mut self, marker: u8, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err(format!("it is nested more than {DEEPEST} deep"));
        }
        let float = |number: f64| Number::from_f64(number).map_or(Value::Null, Value::Number);
        Ok(match marker {
            b'Z' => Value::Null,
            b'T' => Value::Bool(true),
            b'F' => Value::Bool(false),
            b'd' => float(f32::from_be_bytes(self.take()?).into()),
            b'D' => float(f64::from_be_bytes(self.take()?)),
            b'C' => Value::String(char::from(self.take::<1>()?[0]).into()),
            b'S' | b'H' => Value::String(self.text()?),
            b'[' => Value::Array(self.list(depth)?),
            b'{' => Value::Object(self.table(depth)?),
            whole => Value::Number(self.whole(whole)?.into()),
        })
    }

    /// The optional type and count after the start of a list or a table.
    fn header(&mut self) -> Result<Header, String> {
        let mut next = self.marker()?;
        let mut kind = None;
        if next == b'$' {
            kind = Some(self.take::<1>()?[0]);
            next = self.marker()?;
            // Items without content would let a short file state huge lists.
            if next != b'#' || matches!(kind, Some(b'Z' | b'T' | b'F' | b'N')) {
                return Err(format!("a wrong type of items at byte {}", self.at));
            }
        }
        if next == b'#' {
            let count = self.length()?;
            return Ok(Header { kind, count: Some(count), next: None });
        }
        Ok(Header { kind: None, count: None, next: Some(next) })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Value>, String> {
        let Header { kind, count, mut next } = self.header()?;
        let mut items = Vec::new();
        loop {
            let marker = match (count, next.take()) {
                (Some(count), _) if items.len() == count => return Ok(items),
                (Some(_), _) => kind.map_or_else(|| self.marker(), Ok)?,
                (None, Some(marker)) => marker,
                (None, None) => self.marker()?,
            };
            if count.is_none() && marker == b']' {
                return Ok(items);
            }
            items.push(self.value(marker, depth + 1)?);
        }
    }

    fn table(&mut self, depth: usize) -> Result<Map<String, Value>, String> {
        let Header { kind, count, mut next } = self.header()?;
        let mut fields = Map::new();
        let mut read = 0;
        loop {
            if count == Some(read) {
                return Ok(fields);
            }
            if count.is_none() {
                let marker = next.take().map_or_else(|| self.marker(), Ok)?;
                if marker == b'}' {
                    return Ok(fields);
                }
                // It belongs to the length of the name.
                self.at -= 1;
            }
            let name = self.text()?;
            let marker = kind.map_or_else(|| self.marker(), Ok)?;
            fields.insert(name, self.value(marker, depth + 1)?);
            read += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_by_hand() {
        let bytes =
            b"{i\x01a[$d#i\x02\x3f\x80\x00\x00\xbf\x00\x00\x00i\x01b[i\x05Si\x01xTFZ]i\x01cI\x01\x00}";
        let expected = serde_json::json!({"a": [1.0, -0.5], "b": [5, "x", true, false, null], "c": 256});
        assert_eq!(parse(bytes), Ok(expected));
        assert_eq!(parse(b"{#i\x01i\x01aL\0\0\0\0\0\0\0\x07"), Ok(serde_json::json!({"a": 7})));
    }

    #[test]
    fn malformed_documents_are_refused() {
        for cut in
            [&b"{"[..], b"[i", b"[$d#i\x7f", b"{i\x01", b"Si\xff", b"x", b"", b"[$#", b"ZZ", b"[$Z#i\x00"]
        {
            assert!(parse(cut).is_err(), "{cut:?}");
        }
        assert!(parse(&[b'['; 5000]).unwrap_err().contains("nested"));
    }
}
