//! Heads of HTTP/1.1 requests and responses, read from what a peer sent.
//!
//! Bodies are those of a known length (`Content-Length`): transfer codings are refused.

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Status};

/// Longest head in bytes; what is longer is refused.
pub const LONGEST_HEAD: usize = 8192;

/// Most header lines of a head; the room for them is not cleared before each head.
const MOST_HEADERS: usize = 64;

/// Head of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Bytes of the head.
    pub length: usize,
    /// The requested resource.
    pub path: &'a str,
    /// Whether the connection ends after the response.
    pub closes: bool,
}

/// Head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Bytes of the head.
    pub length: usize,
    /// Status code.
    pub status: u16,
    /// Bytes of the body.
    pub body: u64,
    /// Whether the connection ends after it.
    pub closes: bool,
}

/// A head that is not HTTP/1, or not of the kind that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// It is not HTTP/1.
    #[error("this is not HTTP/1: {0}")]
    Malformed(httparse::Error),
    /// It does not end.
    #[error("the head is longer than {LONGEST_HEAD} bytes")]
    Long,
    /// The length of the body is not known, is given twice, or is none of a GET.
    #[error("the body has no length that can be used")]
    Body,
    /// The method is not GET.
    #[error("the method is not GET")]
    Method,
}

impl From<httparse::Error> for HeadError {
    fn from(error: httparse::Error) -> Self {
        Self::Malformed(error)
    }
}

/// Reads the head of a GET; `None` where more of it has to come.
pub fn request(bytes: &[u8]) -> Result<Option<Request<'_>>, HeadError> {
    let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut []);
    let parsed = request.parse_with_uninit_headers(bounded(bytes), &mut headers)?;
    let Status::Complete(length) = parsed else { return part(bytes) };
    let lines = lines(request.headers, request.version)?;
    match (request.method, request.path) {
        (Some("GET"), Some(_)) if lines.length.unwrap_or(0) > 0 => Err(HeadError::Body),
        (Some("GET"), Some(path)) => Ok(Some(Request { length, path, closes: lines.closes })),
        _ => Err(HeadError::Method),
    }
}

/// Reads the head of a response; `None` where more of it has to come.
pub fn response(bytes: &[u8]) -> Result<Option<Response>, HeadError> {
    let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let parser = ParserConfig::default();
    let parsed = parser.parse_response_with_uninit_headers(&mut response, bounded(bytes), &mut headers)?;
    let Status::Complete(length) = parsed else { return part(bytes) };
    let lines = lines(response.headers, response.version)?;
    let (Some(body), Some(status)) = (lines.length, response.code) else { return Err(HeadError::Body) };
    Ok(Some(Response { length, status, body, closes: lines.closes }))
}

fn bounded(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(LONGEST_HEAD)]
}

fn part<T>(bytes: &[u8]) -> Result<Option<T>, HeadError> {
    if bytes.len() >= LONGEST_HEAD { Err(HeadError::Long) } else { Ok(None) }
}

/// Meaning of the header lines.
struct Lines {
    length: Option<u64>,
    closes: bool,
}

fn lines(headers: &[Header<'_>], version: Option<u8>) -> Result<Lines, HeadError> {
    let mut lines = Lines { length: None, closes: version == Some(0) };
    for header in headers {
        if header.name.eq_ignore_ascii_case("content-length") {
            let length = length(header.value).ok_or(HeadError::Body)?;
            if lines.length.replace(length).is_some() {
                return Err(HeadError::Body);
            }
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(HeadError::Body);
        } else if header.name.eq_ignore_ascii_case("connection") {
            for word in header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                if word.eq_ignore_ascii_case(b"close") {
                    lines.closes = true;
                } else if word.eq_ignore_ascii_case(b"keep-alive") {
                    lines.closes = false;
                }
            }
        }
    }
    Ok(lines)
}

/// Digits alone: no sign, no space.
fn length(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes that are much like heads.
    fn nearly_a_head() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"GET /a HTTP/1.1\r\n".to_vec()),
            Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
            Just(b"Content-Length: ".to_vec()),
            Just(b"Connection: keep-alive, close\r\n".to_vec()),
            Just(b"\r\n".to_vec()),
            "[0-9]{1,25}\r\n".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..20),
        ];
        prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn a_head_that_is_whole_does_not_depend_on_what_follows(bytes in nearly_a_head(), rest in any::<[u8; 5]>()) {
            let longer = [bytes.as_slice(), &rest].concat();
            if let Ok(Some(head)) = request(&bytes) {
                prop_assert!(head.length <= bytes.len() && head.path.len() < head.length);
                prop_assert_eq!(request(&bytes[..head.length - 1]), Ok(None));
                prop_assert_eq!(request(&longer), Ok(Some(head)));
            }
            if let Ok(Some(head)) = response(&bytes) {
                prop_assert!(head.length <= bytes.len());
                prop_assert_eq!(response(&bytes[..head.length - 1]), Ok(None));
                prop_assert_eq!(response(&longer), Ok(Some(head)));
            }
        }

        #[test]
        fn a_head_has_an_end(bytes in prop::collection::vec(any::<u8>(), LONGEST_HEAD..LONGEST_HEAD + 5)) {
            prop_assert!(!matches!(request(&bytes), Ok(None)));
            prop_assert!(!matches!(response(&bytes), Ok(None)));
        }
    }

    #[test]
    fn a_request_is_read_once_it_is_whole() {
        let head = b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET";
        for end in 0..head.len() - 3 {
            assert_eq!(request(&head[..end]), Ok(None), "{end}");
        }
        let read = Request { length: head.len() - 3, path: "/a", closes: true };
        assert_eq!(request(head), Ok(Some(read)));
        let old = b"GET / HTTP/1.0\r\n\r\n";
        assert_eq!(request(old).map(|read| read.map(|read| read.closes)), Ok(Some(true)));
        let kept = b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
        assert_eq!(request(kept).map(|read| read.map(|read| read.closes)), Ok(Some(false)));
    }

    #[test]
    fn a_response_is_read_with_its_length() {
        let head = b"HTTP/1.1 404 Not Found\r\nServer: nginx\r\nCONTENT-length: 153\r\n\r\n<html>";
        let read = Response { length: head.len() - 6, status: 404, body: 153, closes: false };
        assert_eq!(response(head), Ok(Some(read)));
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for lines in [
            "",
            "Content-Length: -1\r\n",
            "Content-Length: 1\r\nContent-Length: 1\r\n",
            "Transfer-Encoding: chunked\r\n",
        ] {
            let head = format!("HTTP/1.1 200 OK\r\n{lines}\r\n");
            assert_eq!(response(head.as_bytes()), Err(HeadError::Body), "{lines}");
        }
        assert_eq!(request(b"POST / HTTP/1.1\r\n\r\n"), Err(HeadError::Method));
        assert_eq!(request(b"GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n"), Err(HeadError::Body));
        assert!(matches!(response(b"SSH-2.0-OpenSSH\r\n"), Err(HeadError::Malformed(_))));
        let endless = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; LONGEST_HEAD]].concat();
        assert_eq!(response(&endless), Err(HeadError::Long));
    }
}
