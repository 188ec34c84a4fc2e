//! Framing of messages in the byte stream: a preamble once, then each message as JSON after its length (4 bytes,
//! big-endian).

use std::io::{self, Read, Write};

use model::Json;

/// First bytes of each direction. Earlier output is foreign, such as a login script's.
pub const PREAMBLE: &[u8] = b"\x00wireproof\x01\n";

/// Longest message, in bytes.
pub const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Foreign output kept for quotation, in bytes.
const NOISE_KEPT: usize = 2_000;

/// Most bytes of foreign output that are skipped, as of login scripts.
pub(crate) const NOISE_SKIPPED: usize = 64 * 1024;

/// An error of the message stream.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side closed the stream.
    #[error("the stream ended")]
    Ended,
    /// Foreign output in the stream.
    #[error(
        "something else was printed where messages should be: {0:?}; is it wireproof that was started there, and not another program of that name?"
    )]
    Noise(String),
    /// An invalid length.
    #[error("a message of {0} bytes is longer than the {MAX_MESSAGE} allowed")]
    TooLong(usize),
    /// Not a message of this build.
    #[error("not a message of this build: {0}")]
    Malformed(serde_json::Error),
    /// Reading or writing failed.
    #[error("the stream broke: {0}")]
    Io(io::Error),
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => Self::Ended,
            _ => Self::Io(error),
        }
    }
}

/// Writes the preamble.
pub fn write_preamble(stream: &mut impl Write) -> Result<(), FrameError> {
    stream.write_all(PREAMBLE)?;
    Ok(stream.flush()?)
}

/// Reads up to the end of the preamble, which differs from any text: output of login scripts before it is skipped.
/// Without a preamble, the error quotes that output.
pub fn read_preamble(stream: &mut impl Read) -> Result<(), FrameError> {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(PREAMBLE) {
        match stream.read(&mut byte)? {
            0 if seen.is_empty() => return Err(FrameError::Ended),
            1 if seen.len() < NOISE_SKIPPED => seen.push(byte[0]),
            _ => {
                seen.truncate(NOISE_KEPT);
                return Err(FrameError::Noise(String::from_utf8_lossy(&seen).into_owned()));
            }
        }
    }
    Ok(())
}

/// Writes one message and flushes.
pub fn write_message(stream: &mut impl Write, message: &impl Json) -> Result<(), FrameError> {
    let text = message.to_json();
    if text.len() > MAX_MESSAGE {
        return Err(FrameError::TooLong(text.len()));
    }
    stream.write_all(&[&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat())?;
    Ok(stream.flush()?)
}

/// Reads one message.
pub fn read_message<T: Json>(stream: &mut impl Read) -> Result<T, FrameError> {
    read_sized(stream).map(|(message, _)| message)
}

/// Reads one message, with its length in bytes.
pub(crate) fn read_sized<T: Json>(stream: &mut impl Read) -> Result<(T, usize), FrameError> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_MESSAGE {
        return Err(FrameError::TooLong(length));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    let text = str::from_utf8(&bytes).map_err(serde::de::Error::custom).map_err(FrameError::Malformed)?;
    T::from_json(text).map(|message| (message, length)).map_err(FrameError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Hello, ToAgent};

    fn hello() -> ToAgent {
        ToAgent::Hello(Hello { build: "1".into(), pid: 7 })
    }

    #[test]
    fn what_is_written_is_read() {
        let mut stream = Vec::new();
        write_preamble(&mut stream).expect("writes");
        write_message(&mut stream, &hello()).expect("writes");
        write_message(&mut stream, &ToAgent::Heartbeat).expect("writes");
        let mut stream = stream.as_slice();
        read_preamble(&mut stream).expect("reads");
        assert_eq!(read_message::<ToAgent>(&mut stream).expect("reads"), hello());
        assert_eq!(read_message::<ToAgent>(&mut stream).expect("reads"), ToAgent::Heartbeat);
        assert!(matches!(read_message::<ToAgent>(&mut stream), Err(FrameError::Ended)));
    }

    #[test]
    fn output_of_a_login_script_is_skipped_or_quoted() {
        let mut stream = b"Welcome to host7!\n".to_vec();
        stream.extend(PREAMBLE);
        read_preamble(&mut stream.as_slice()).expect("found behind it");
        let error = read_preamble(&mut b"command not found".as_slice()).expect_err("noise").to_string();
        assert!(error.contains("command not found"), "{error}");
        let error = read_preamble(&mut [b'x'; NOISE_SKIPPED + 100].as_slice()).expect_err("noise").to_string();
        assert!(error.contains("xxx") && error.len() < 2 * NOISE_KEPT, "{error}");
    }

    #[test]
    fn hostile_lengths_and_texts_are_refused() {
        let huge = [0xff; 8];
        assert!(matches!(read_message::<ToAgent>(&mut huge.as_slice()), Err(FrameError::TooLong(_))));
        let unknown = b"\x00\x00\x00\x02{}";
        assert!(matches!(read_message::<ToAgent>(&mut unknown.as_slice()), Err(FrameError::Malformed(_))));
        let cut = b"\x00\x00\x00\x09{}";
        assert!(matches!(read_message::<ToAgent>(&mut cut.as_slice()), Err(FrameError::Ended)));
    }
}
