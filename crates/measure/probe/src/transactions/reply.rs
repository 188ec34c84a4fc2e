//! A response that a client waits for. Pure.

use model::FailureKind;

/// The outstanding part of a response.
#[derive(Debug)]
pub(super) enum Outstanding {
    /// The head of an HTTP response, of which this much came, whose body is to have so many bytes.
    Head { begun: Vec<u8>, body: u64 },
    /// So many bytes; whether the connection ends after them.
    Bytes { left: u64, closes: bool },
}

/// Meaning of some bytes of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is more to come.
    More,
    /// The response is whole.
    Whole { closes: bool },
}

impl Outstanding {
    /// Awaits an HTTP response; the memory of the value before is used again.
    pub(super) fn head(&mut self, body: u64) {
        match self {
            Self::Head { begun, body: before } => {
                begun.clear();
                *before = body;
            }
            Self::Bytes { .. } => *self = Self::Head { begun: Vec::new(), body },
        }
    }

    /// Takes bytes that came.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Progress, FailureKind> {
        match self {
            Self::Head { begun, body } if begun.is_empty() => {
                let body = *body;
                match head(bytes, body)? {
                    Some((rest, closes)) => self.body(body, closes, rest),
                    None => {
                        *self = Self::Head { begun: bytes.to_vec(), body };
                        Ok(Progress::More)
                    }
                }
            }
            Self::Head { begun, body } => {
                begun.extend_from_slice(bytes);
                let (begun, body) = (std::mem::take(begun), *body);
                match head(&begun, body)? {
                    Some((rest, closes)) => self.body(body, closes, rest),
                    None => {
                        *self = Self::Head { begun, body };
                        Ok(Progress::More)
                    }
                }
            }
            Self::Bytes { left, closes } => {
                let (left, closes) = (*left, *closes);
                self.body(left, closes, bytes)
            }
        }
    }

    fn body(&mut self, left: u64, closes: bool, bytes: &[u8]) -> Result<Progress, FailureKind> {
        let left = left.checked_sub(bytes.len() as u64).ok_or(FailureKind::Wrong)?;
        *self = Self::Bytes { left, closes };
        Ok(if left == 0 { Progress::Whole { closes } } else { Progress::More })
    }
}

/// The bytes after a correct head; `None` while the head is incomplete.
fn head(bytes: &[u8], body: u64) -> Result<Option<(&[u8], bool)>, FailureKind> {
    let Some(head) = http::response(bytes).map_err(|_| FailureKind::Wrong)? else { return Ok(None) };
    if head.status != 200 || head.body != body {
        return Err(FailureKind::Wrong);
    }
    Ok(Some((&bytes[head.length..], head.closes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(parts: &[&[u8]], body: u64) -> Result<Progress, FailureKind> {
        let mut awaited = Outstanding::Head { begun: Vec::new(), body };
        let mut progress = Ok(Progress::More);
        for part in parts {
            assert_eq!(progress, Ok(Progress::More));
            progress = awaited.take(part);
        }
        progress
    }

    #[test]
    fn a_response_is_whole_in_any_parts() {
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc";
        for cut in 1..response.len() {
            let (one, other) = response.split_at(cut);
            assert_eq!(taken(&[one, other], 3), Ok(Progress::Whole { closes: true }), "{cut}");
        }
        let empty = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(taken(&[empty], 0), Ok(Progress::Whole { closes: false }));
    }

    #[test]
    fn another_response_than_was_asked_for_is_wrong() {
        for response in [
            "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd",
            "220 mail",
        ] {
            assert_eq!(taken(&[response.as_bytes()], 3), Err(FailureKind::Wrong), "{response}");
        }
    }
}
