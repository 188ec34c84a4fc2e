//! Requests of a connection and their replies. Pure.

use std::collections::HashMap;

use http::HeadError;
use model::probe::{Exchange, HttpPath};

/// Replies to HTTP requests that are not for a path of the trial, in the order of their numbers.
const REFUSALS: [(&str, bool); 4] = [
    ("404 Not Found", false),
    ("404 Not Found", true),
    ("400 Bad Request", true),
    ("431 Request Header Fields Too Large", true),
];
const NOT_FOUND: usize = 0;
const MALFORMED: usize = 2;
const TOO_LONG: usize = 3;

/// All that a server answers.
pub(super) struct Service {
    replies: Vec<Reply>,
    kind: Kind,
    /// Content of bodies.
    filler: Vec<u8>,
}

enum Kind {
    /// Requests of so many bytes, each with the one reply.
    Plain { request: u64 },
    /// GET of these paths: the numbers of their replies. The one behind it ends the connection.
    Http { paths: HashMap<String, usize> },
}

/// A reply: its head, and bytes of the filler.
pub(super) struct Reply {
    head: Vec<u8>,
    body: u64,
    /// Whether the server ends the connection after it.
    pub(super) closes: bool,
}

/// Part of a request that came.
pub(super) enum Reader {
    /// So many bytes of it.
    Plain { have: u64 },
    /// These bytes of its head.
    Http { begun: Vec<u8> },
}

impl Service {
    pub(super) fn new(exchange: &Exchange) -> Self {
        let plain = |request: &model::PayloadSize, response: &model::PayloadSize, closes| Self {
            replies: vec![Reply { head: Vec::new(), body: response.0.into(), closes }],
            kind: Kind::Plain { request: request.0.into() },
            filler: vec![0; response.0 as usize],
        };
        match exchange {
            Exchange::Rr { request, response, .. } => plain(request, response, false),
            Exchange::Crr { request, response } => plain(request, response, true),
            Exchange::Http { paths, .. } => Self::http(paths),
        }
    }

    fn http(paths: &[HttpPath]) -> Self {
        let reply = |status: &str, body, closes| {
            let close = if closes { "Connection: close\r\n" } else { "" };
            let head = format!("HTTP/1.1 {status}\r\nServer: wireproof\r\nContent-Length: {body}\r\n{close}\r\n");
            Reply { head: head.into(), body, closes }
        };
        let refusals = REFUSALS.iter().map(|(status, closes)| reply(status, 0, *closes));
        let pages = paths.iter().flat_map(|path| [false, true].map(|closes| reply("200 OK", path.size.0, closes)));
        let numbered = paths.iter().zip((REFUSALS.len()..).step_by(2)).map(|(path, at)| (path.path.clone(), at));
        let largest = paths.iter().map(|path| path.size.0).max().unwrap_or(0);
        Self {
            replies: refusals.chain(pages).collect(),
            kind: Kind::Http { paths: numbered.collect() },
            filler: vec![0; largest as usize],
        }
    }

    /// A reader of one connection's requests.
    pub(super) fn reader(&self) -> Reader {
        match self.kind {
            Kind::Plain { .. } => Reader::Plain { have: 0 },
            Kind::Http { .. } => Reader::Http { begun: Vec::new() },
        }
    }

    pub(super) fn reply(&self, number: usize) -> &Reply {
        &self.replies[number]
    }

    /// The unsent rest of a reply of which so many bytes were sent: of its head, and of its body.
    #[inline]
    pub(super) fn unsent(&self, reply: usize, sent: u64) -> [&[u8]; 2] {
        let reply = &self.replies[reply];
        let head = &reply.head[reply.head.len().min(sent as usize)..];
        let of_body = sent.saturating_sub(reply.head.len() as u64);
        [head, &self.filler[of_body.min(reply.body) as usize..reply.body as usize]]
    }
}

impl Reader {
    /// Takes bytes to the end of a request at the most. Gives how many, and the number of the reply once the request is whole.
    #[inline]
    pub(super) fn take(&mut self, service: &Service, bytes: &[u8]) -> (usize, Option<usize>) {
        match (self, &service.kind) {
            (Self::Plain { have }, Kind::Plain { request }) => {
                let taken = (request - *have).min(bytes.len() as u64);
                *have += taken;
                let is_whole = have == request;
                if is_whole {
                    *have = 0;
                }
                (taken as usize, is_whole.then_some(0))
            }
            (Self::Http { begun }, Kind::Http { paths }) if begun.is_empty() => {
                let (length, reply) = asked(paths, bytes);
                if reply.is_none() {
                    begun.extend_from_slice(bytes);
                }
                (length, reply)
            }
            (Self::Http { begun }, Kind::Http { paths }) => {
                let before = begun.len();
                let room = http::LONGEST_HEAD.saturating_sub(before).max(1);
                begun.extend_from_slice(&bytes[..bytes.len().min(room)]);
                let (length, reply) = asked(paths, begun);
                if reply.is_some() {
                    begun.clear();
                }
                (length.saturating_sub(before), reply)
            }
            // A reader is made by its service.
            _ => (bytes.len(), None),
        }
    }
}

/// Length of a request, and the number of the reply to it; all bytes and none where more has to come.
fn asked(paths: &HashMap<String, usize>, bytes: &[u8]) -> (usize, Option<usize>) {
    match http::request(bytes) {
        Ok(None) => (bytes.len(), None),
        Ok(Some(request)) => {
            let reply = paths.get(request.path).copied().unwrap_or(NOT_FOUND);
            (request.length, Some(reply + usize::from(request.closes)))
        }
        Err(HeadError::Long) => (bytes.len(), Some(TOO_LONG)),
        Err(_) => (bytes.len(), Some(MALFORMED)),
    }
}

#[cfg(test)]
mod tests {
    use model::{Bytes, PayloadSize};
    use proptest::prelude::*;

    use super::*;

    fn pages() -> Service {
        let paths = [("/a", 3), ("/b", 0)].map(|(path, size)| HttpPath { path: path.to_owned(), size: Bytes(size) });
        Service::http(&paths)
    }

    /// Heads and bodies of the replies to bytes that come in these parts.
    fn answers(service: &Service, parts: &[&[u8]]) -> Vec<String> {
        let (mut reader, mut answers) = (service.reader(), Vec::new());
        for part in parts {
            let mut rest = *part;
            while !rest.is_empty() {
                let (taken, reply) = reader.take(service, rest);
                rest = &rest[taken..];
                if let Some(reply) = reply {
                    let [head, body] = service.unsent(reply, 0);
                    answers.push(format!("{} {}", String::from_utf8_lossy(&head[9..12]), body.len()));
                    if service.reply(reply).closes {
                        return answers;
                    }
                }
            }
        }
        answers
    }

    #[test]
    fn requests_behind_each_other_are_answered_in_turn() {
        let asked = b"GET /a HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nConnection: close\r\n\r\nGET /a";
        let expected = ["200 3", "404 0", "200 0"];
        for cut in 0..asked.len() {
            let (one, other) = asked.split_at(cut);
            assert_eq!(answers(&pages(), &[one, other]), expected, "{cut}");
        }
    }

    #[test]
    fn what_is_no_get_is_refused() {
        let endless = [b"GET /a HTTP/1.1\r\nX: ".as_slice(), &[b'x'; http::LONGEST_HEAD]].concat();
        for (asked, answer) in
            [(b"POST /a HTTP/1.1\r\n\r\n".as_slice(), "400 0"), (b"\x16\x03\x01\x02", "400 0"), (&endless, "431 0")]
        {
            assert_eq!(answers(&pages(), &[asked]), [answer]);
            let bytes: Vec<&[u8]> = asked.chunks(1).collect();
            assert_eq!(answers(&pages(), &bytes), [answer]);
        }
    }

    #[test]
    fn plain_requests_are_counted_by_their_bytes() {
        let exchange = Exchange::Crr { request: PayloadSize(3), response: PayloadSize(5) };
        let service = Service::new(&exchange);
        let mut reader = service.reader();
        assert_eq!(reader.take(&service, b"ab"), (2, None));
        assert_eq!(reader.take(&service, b"cde"), (1, Some(0)));
        assert_eq!(reader.take(&service, b"de"), (2, None));
        assert_eq!(service.unsent(0, 2).map(<[u8]>::len), [0, 3]);
        assert!(service.reply(0).closes);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_within_bounds(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..3000), 0..8)) {
            let (service, mut taken) = (pages(), 0);
            let mut reader = service.reader();
            for part in &parts {
                let mut rest = part.as_slice();
                while !rest.is_empty() {
                    let (length, reply) = reader.take(&service, rest);
                    prop_assert!(length <= rest.len() && (length > 0 || reply.is_some()));
                    rest = &rest[length..];
                    taken += length;
                    if let Reader::Http { begun } = &reader {
                        prop_assert!(begun.len() <= http::LONGEST_HEAD.max(3000));
                    }
                }
            }
            prop_assert!(taken <= parts.iter().map(Vec::len).sum());
        }
    }
}
