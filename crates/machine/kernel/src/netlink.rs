//! A blocking rtnetlink request with all its answers.

use std::{convert::Infallible, io};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

/// Sends a request in the calling thread's network namespace. `flags` are added to the common ones.
pub(crate) fn request<M: Message>(message: M, flags: u16) -> io::Result<Vec<M>> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&serialized(message, flags), 0)?;
    answers(&socket)
}

/// A type of request and answer.
pub(crate) trait Message: NetlinkSerializable + NetlinkDeserializable + Into<NetlinkPayload<Self>> {}

impl<M: NetlinkSerializable + NetlinkDeserializable + Into<NetlinkPayload<M>>> Message for M {}

/// A raw message of the kernel, to be sent back unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    /// Type, like `RTM_NEWROUTE`.
    pub(crate) kind: u16,
    /// The part after the header.
    pub(crate) bytes: Vec<u8>,
}

impl NetlinkSerializable for Raw {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.bytes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.bytes);
    }
}

impl NetlinkDeserializable for Raw {
    type Error = Infallible;

    fn deserialize(header: &NetlinkHeader, bytes: &[u8]) -> Result<Self, Infallible> {
        Ok(Self { kind: header.message_type, bytes: bytes.to_vec() })
    }
}

impl From<Raw> for NetlinkPayload<Raw> {
    fn from(raw: Raw) -> Self {
        Self::InnerMessage(raw)
    }
}

fn serialized<M: Message>(message: M, flags: u16) -> Vec<u8> {
    let mut packet = NetlinkMessage::from(message);
    packet.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    packet.finalize();
    let mut bytes = vec![0; packet.buffer_len()];
    packet.serialize(&mut bytes);
    bytes
}

fn answers<M: Message>(socket: &Socket) -> io::Result<Vec<M>> {
    let mut answers = Vec::new();
    loop {
        let (datagram, _) = socket.recv_from_full()?;
        let mut rest = datagram.as_slice();
        while !rest.is_empty() {
            let message = NetlinkMessage::<M>::deserialize(rest).map_err(io::Error::other)?;
            match message.payload {
                NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                // Every request asks for an acknowledgement, which is an error without a code and comes last.
                NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
                NetlinkPayload::Error(_) | NetlinkPayload::Done(_) => return Ok(answers),
                _ => {}
            }
            // Messages in a datagram begin at multiples of four (NLMSG_ALIGN).
            let length = (message.header.length as usize).next_multiple_of(4).max(4);
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}
