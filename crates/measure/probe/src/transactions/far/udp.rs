//! Answers datagrams.

use std::net::UdpSocket;

use model::probe::{Exchange, TransactionsSpec};
use socket2::SockRef;

use crate::{
    Control, ProbeError,
    error::socket_error,
    socket::{STOP_CHECK, WOULD_BLOCK, is_nothing_yet, is_refused, set_wait},
    transactions::label,
};

/// Larger than any payload.
const BUFFER: usize = 65_536;

/// Answers datagrams of this trial until stopped, each with its label and as many bytes as asked for.
pub(super) fn serve(
    socket: &UdpSocket,
    spec: &TransactionsSpec,
    token: u32,
    control: &Control,
) -> Result<(), ProbeError> {
    let Exchange::Rr { request, response, .. } = spec.exchange else { return Ok(()) };
    let local = socket.local_addr().map_err(|error| ProbeError::Unable {
        what: "the address of a UDP socket".to_owned(),
        why: error.to_string(),
    })?;
    set_wait(&SockRef::from(socket), spec.mode, Some(STOP_CHECK), local)?;
    let (mut buffer, mut answer) = (vec![0; BUFFER], vec![0; response.0 as usize]);
    while !control.stopped() {
        let (length, peer) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(error) if is_nothing_yet(&error) || is_refused(&error) => continue,
            Err(error) => return Err(socket_error("receive on", local)(error)),
        };
        // Anybody can send to the port.
        if length != request.0 as usize || !label::is_of(token, &buffer[..length]) {
            continue;
        }
        label::copy(&buffer, &mut answer);
        // An answer that cannot be sent is lost, and the client counts it.
        while socket.send_to(&answer, peer).is_err_and(|error| error.kind() == WOULD_BLOCK) && !control.stopped() {}
    }
    Ok(())
}
