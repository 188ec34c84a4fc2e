//! Detects cables between ports: each sends a few frames, and all listen.

use std::time::{Duration, Instant};

use kernel::packet::Frames;
use model::card::Cable;

/// IEEE Std 802 local experimental EtherType 1.
const ETHERTYPE: u16 = 0x88b5;
/// Nearest-bridge group address (IEEE 802.1Q, table 8-1): no switch forwards it, so received frames came over one
/// cable.
const TO: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e];
/// A locally administered address, unused elsewhere.
const FROM: [u8; 6] = [0x02, 0x77, 0x70, 0x63, 0x61, 0x62];
/// Marks our frames among others of this type.
const MARK: &[u8; 8] = b"wpcabl01";
/// Shortest frame without FCS.
const SHORTEST: usize = 60;
/// Frames per port: one may be lost while a link settles.
const TIMES: usize = 3;
/// A frame takes microseconds over a cable, but a virtual machine may sleep meanwhile.
const LISTEN: Duration = Duration::from_millis(100);

/// Sends from each of these interfaces; returns the cables.
pub fn cabling(interfaces: &[String]) -> kernel::Result<Vec<Cable>> {
    let sockets = interfaces.iter().map(|name| Frames::open(name, ETHERTYPE)).collect::<kernel::Result<Vec<_>>>()?;
    let session = std::process::id().to_be_bytes();
    let mut cables = Vec::new();
    for (from, socket) in interfaces.iter().zip(&sockets) {
        for _ in 0..TIMES {
            socket.send(&frame(session, from))?;
        }
        let heard = listen(&sockets, session, from)?;
        cables.extend(heard.into_iter().map(|to| Cable { from: from.clone(), to: interfaces[to].clone() }));
    }
    Ok(cables)
}

/// Indices of the sockets that received this interface's frames.
fn listen(sockets: &[Frames], session: [u8; 4], from: &str) -> kernel::Result<Vec<usize>> {
    let until = Instant::now() + LISTEN;
    let mut heard = Vec::new();
    for (number, socket) in sockets.iter().enumerate() {
        let mut buffer = [0; 128];
        // The first one may use all of the time; frames for the others are in their buffers by then.
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match socket.receive(&mut buffer, left)? {
                Some(frame) if sender(frame, session) == Some(from) => {
                    heard.push(number);
                    break;
                }
                Some(_) => {}
                None => break,
            }
        }
    }
    Ok(heard)
}

fn frame(session: [u8; 4], from: &str) -> Vec<u8> {
    let length = [from.len() as u8];
    let mut frame = [&TO[..], &FROM, &ETHERTYPE.to_be_bytes(), MARK, &session, &length, from.as_bytes()].concat();
    frame.resize(frame.len().max(SHORTEST), 0);
    frame
}

/// Sender of one of our frames; `None` for others.
fn sender(frame: &[u8], session: [u8; 4]) -> Option<&str> {
    let ours = frame.get(14..)?.strip_prefix(MARK)?.strip_prefix(&session)?;
    let (length, name) = ours.split_first()?;
    std::str::from_utf8(name.get(..usize::from(*length))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_names_its_sender_and_no_other_does() {
        let mut frame = frame([1, 2, 3, 4], "enp1s0f0");
        assert_eq!(frame.len(), 60);
        assert_eq!(sender(&frame, [1, 2, 3, 4]), Some("enp1s0f0"));
        assert_eq!(sender(&frame, [9, 2, 3, 4]), None, "another program's");
        frame[14] = b'x';
        assert_eq!(sender(&frame, [1, 2, 3, 4]), None);
        assert_eq!(sender(&frame[..20], [1, 2, 3, 4]), None);
    }
}
