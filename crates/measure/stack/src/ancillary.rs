//! Control messages (cmsg(3)) beside datagrams.

use std::net::IpAddr;

use crate::sockaddr::as_v6;

/// `struct cmsghdr`, and the alignment of it and of messages.
const HEAD: usize = size_of::<libc::cmsghdr>();
const ALIGNMENT: usize = size_of::<usize>();

/// IP version by which the kernel reads control messages: from the destination and the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V4,
    V6,
    /// IPv4 on an IPv6 socket.
    Mapped,
}

impl Version {
    pub(crate) fn of(to: IpAddr, v6_socket: bool) -> Self {
        match (to, v6_socket) {
            (IpAddr::V6(_), _) => Self::V6,
            (IpAddr::V4(_), true) => Self::Mapped,
            (IpAddr::V4(_), false) => Self::V4,
        }
    }
}

/// Control messages of one datagram to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SendControl {
    /// Time to live, or hop limit.
    pub(crate) ttl: Option<u8>,
    /// Type of service, or traffic class.
    pub(crate) traffic_class: Option<u8>,
    /// Source address.
    pub(crate) source: Option<IpAddr>,
    /// Bytes of each segment that the kernel would cut the datagram into; 0: not cut.
    pub(crate) segment: Option<u16>,
}

impl SendControl {
    /// Reads control messages beside a datagram to an address of this version.
    ///
    /// `None` if the kernel has to act on one of them, or to refuse it.
    pub(crate) fn read(mut control: &[u8], to: Version) -> Option<Self> {
        let mut said = Self::default();
        while !control.is_empty() {
            let head = control.get(..HEAD)?;
            let word = |at: usize| Some(i32::from_ne_bytes(head.get(at..at + 4)?.try_into().ok()?));
            let length = usize::from_ne_bytes(head.get(..ALIGNMENT)?.try_into().ok()?);
            let data = control.get(HEAD..length)?;
            said.take(word(ALIGNMENT)?, word(ALIGNMENT + 4)?, data, to)?;
            control = control.get(length.checked_next_multiple_of(ALIGNMENT)?..).unwrap_or_default();
        }
        Some(said)
    }

    fn take(&mut self, level: i32, kind: i32, data: &[u8], to: Version) -> Option<()> {
        match (level, kind) {
            // The kernel ignores messages of the other version (`ip_cmsg_send` and `ip6_datagram_send_ctl`).
            (libc::SOL_IP, _) if to == Version::V6 => {}
            (libc::SOL_IPV6, libc::IPV6_PKTINFO) if to == Version::Mapped => self.choose_v6(data, true)?,
            (libc::SOL_IPV6, _) if to != Version::V6 => {}
            (libc::SOL_IP, libc::IP_TTL) => self.ttl = Some(byte(data).filter(|ttl| *ttl > 0)?),
            // The kernel accepts a single byte too.
            (libc::SOL_IP, libc::IP_TOS) => {
                self.traffic_class = Some(if let [tos] = data { *tos } else { byte(data)? })
            }
            (libc::SOL_IP, libc::IP_PKTINFO) => {
                // `struct in_pktinfo`: an interface, the source, and an address for receivers only.
                let (interface, source) = (data.get(..4)?, data.get(4..8)?);
                self.choose(interface, source.try_into().map(|it: [u8; 4]| it.into()).ok()?)?;
            }
            (libc::SOL_IPV6, libc::IPV6_HOPLIMIT) => self.ttl = Some(byte(data)?),
            (libc::SOL_IPV6, libc::IPV6_TCLASS) => self.traffic_class = Some(byte(data)?),
            (libc::SOL_IPV6, libc::IPV6_PKTINFO) => self.choose_v6(data, false)?,
            (libc::SOL_UDP, libc::UDP_SEGMENT) => self.segment = Some(u16::from_ne_bytes(data.try_into().ok()?)),
            _ => return None,
        }
        Some(())
    }

    /// `struct in6_pktinfo`: the source and an interface. The kernel refuses an address of the other version.
    fn choose_v6(&mut self, data: &[u8], mapped: bool) -> Option<()> {
        let (source, interface) = (data.get(..16)?, data.get(16..20)?);
        let source: IpAddr = source.try_into().map(|it: [u8; 16]| it.into()).ok()?;
        (source.to_canonical().is_ipv4() == mapped).then_some(())?;
        self.choose(interface, source)
    }

    /// The kernel handles a chosen interface.
    fn choose(&mut self, interface: &[u8], source: IpAddr) -> Option<()> {
        self.source = (!source.is_unspecified()).then(|| source.to_canonical());
        (interface == [0; 4]).then_some(())
    }
}

/// A C `int` with the value of a byte; `None` if the kernel would refuse it or read it as its default.
fn byte(data: &[u8]) -> Option<u8> {
    u8::try_from(i32::from_ne_bytes(data.try_into().ok()?)).ok()
}

/// Writes control messages into a program's buffer, as the kernel does.
pub(crate) struct Writer<'a> {
    room: &'a mut [u8],
    /// Bytes written, with the gaps between messages.
    pub(crate) length: usize,
    /// Whether a message did not fit (`MSG_CTRUNC`).
    pub(crate) cut: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(room: &'a mut [u8]) -> Self {
        Self { room, length: 0, cut: false }
    }

    /// Writes one message, truncated to the room left; nothing if its header does not fit.
    pub(crate) fn put(&mut self, level: i32, kind: i32, data: &[u8]) {
        let room = self.room.get_mut(self.length..).unwrap_or_default();
        let length = (HEAD + data.len()).min(room.len());
        self.cut |= length < HEAD + data.len();
        if length < HEAD {
            return;
        }
        room[..ALIGNMENT].copy_from_slice(&length.to_ne_bytes());
        room[ALIGNMENT..ALIGNMENT + 4].copy_from_slice(&level.to_ne_bytes());
        room[ALIGNMENT + 4..HEAD].copy_from_slice(&kind.to_ne_bytes());
        room[HEAD..length].copy_from_slice(&data[..length - HEAD]);
        self.length += (HEAD + data.len()).next_multiple_of(ALIGNMENT).min(room.len());
    }

    /// A C `int`.
    pub(crate) fn put_number(&mut self, level: i32, kind: i32, value: u8) {
        self.put(level, kind, &i32::from(value).to_ne_bytes());
    }

    /// `IP_PKTINFO`: the interface of arrival and the local address.
    pub(crate) fn put_info_v4(&mut self, interface: u32, to: [u8; 4]) {
        let mut info = [0; 12];
        info[..4].copy_from_slice(&interface.to_ne_bytes());
        info[4..8].copy_from_slice(&to);
        info[8..].copy_from_slice(&to);
        self.put(libc::SOL_IP, libc::IP_PKTINFO, &info);
    }

    /// `IPV6_PKTINFO`.
    pub(crate) fn put_info_v6(&mut self, interface: u32, to: IpAddr) {
        let mut info = [0; 20];
        info[..16].copy_from_slice(&as_v6(to).octets());
        info[16..].copy_from_slice(&interface.to_ne_bytes());
        self.put(libc::SOL_IPV6, libc::IPV6_PKTINFO, &info);
    }

    /// Seconds and their fraction.
    pub(crate) fn put_time(&mut self, kind: i32, seconds: i64, parts: i64) {
        let mut time = [0; 16];
        time[..8].copy_from_slice(&seconds.to_ne_bytes());
        time[8..].copy_from_slice(&parts.to_ne_bytes());
        self.put(libc::SOL_SOCKET, kind, &time);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut room = [0; 256];
        let mut writer = Writer::new(&mut room);
        writer.put_number(libc::SOL_IP, libc::IP_TTL, 9);
        writer.put(libc::SOL_IP, libc::IP_TOS, &[0xb8]);
        writer.put_info_v4(0, [198, 18, 0, 1]);
        writer.put(libc::SOL_UDP, libc::UDP_SEGMENT, &100_u16.to_ne_bytes());
        assert!(!writer.cut);
        let length = writer.length;
        let source = Some([198, 18, 0, 1].into());
        let said = SendControl { ttl: Some(9), traffic_class: Some(0xb8), source, segment: Some(100) };
        assert_eq!(SendControl::read(&room[..length], Version::V4), Some(said));
        assert_eq!(SendControl::read(&room[..length], Version::Mapped), Some(said));
        let segment_alone = SendControl { segment: Some(100), ..SendControl::default() };
        assert_eq!(SendControl::read(&room[..length], Version::V6), Some(segment_alone), "passed over");
        let mut writer = Writer::new(&mut room);
        writer.put_number(libc::SOL_IPV6, libc::IPV6_HOPLIMIT, 9);
        writer.put_number(libc::SOL_IPV6, libc::IPV6_TCLASS, 0xb8);
        let length = writer.length;
        assert_eq!(
            SendControl::read(&room[..length], Version::V6),
            Some(SendControl { source: None, segment: None, ..said })
        );
        for other in [Version::V4, Version::Mapped] {
            assert_eq!(SendControl::read(&room[..length], other), Some(SendControl::default()), "passed over");
        }
    }

    #[test]
    fn a_source_is_of_the_version_that_it_sends_by() {
        let of = |source: &str, to: Version| {
            let mut room = [0; 64];
            let mut writer = Writer::new(&mut room);
            writer.put_info_v6(0, source.parse().expect("an address"));
            let length = writer.length;
            SendControl::read(&room[..length], to).map(|said| said.source)
        };
        let (v4, v6) = ("198.18.0.1", "2001:2::1");
        let chosen = |text: &str| Some(Some(text.parse().expect("an address")));
        assert_eq!([of(v6, Version::V6), of(v4, Version::Mapped)], [chosen(v6), chosen(v4)]);
        assert_eq!([of(v4, Version::V6), of(v6, Version::Mapped), of("::", Version::Mapped)], [None; 3], "refused");
        assert_eq!([of("::", Version::V6), of(v6, Version::V4)], [Some(None); 2]);
    }

    #[test]
    fn what_the_kernel_has_to_judge_is_left_to_it() {
        let of = |level: i32, kind: i32, data: &[u8]| {
            let mut room = [0; 64];
            let mut writer = Writer::new(&mut room);
            writer.put(level, kind, data);
            let length = writer.length;
            SendControl::read(&room[..length], if level == libc::SOL_IPV6 { Version::V6 } else { Version::V4 })
        };
        assert_eq!(of(libc::SOL_IP, libc::IP_TTL, &0_i32.to_ne_bytes()), None, "refused");
        assert_eq!(of(libc::SOL_IP, libc::IP_TTL, &256_i32.to_ne_bytes()), None, "refused");
        assert_eq!(of(libc::SOL_IPV6, libc::IPV6_TCLASS, &(-1_i32).to_ne_bytes()), None, "the default");
        assert_eq!(of(libc::SOL_IP, libc::IP_TTL, &[1]), None, "too short");
        assert_eq!(of(libc::SOL_SOCKET, libc::SCM_RIGHTS, &[0; 4]), None, "something else");
        assert_eq!(of(libc::SOL_IP, libc::IP_PKTINFO, &[1, 0, 0, 0, 198, 18, 0, 1, 0, 0, 0, 0]), None, "an interface");
    }

    #[test]
    fn what_does_not_fit_is_cut_off() {
        let mut room = [0xee; 18];
        let mut writer = Writer::new(&mut room);
        writer.put_number(libc::SOL_IP, libc::IP_TTL, 9);
        assert_eq!((writer.length, writer.cut), (18, true));
        assert_eq!(room[..8], 18_usize.to_ne_bytes());
        assert_eq!(room[16..], [9, 0]);
        let mut writer = Writer::new(&mut room[..15]);
        writer.put_number(libc::SOL_IP, libc::IP_TTL, 9);
        assert_eq!((writer.length, writer.cut), (0, true));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100), length in 0..100_u8) {
            let _ = SendControl::read(&bytes, Version::V4);
            let mut bytes = bytes;
            if bytes.len() >= HEAD {
                bytes[..8].copy_from_slice(&u64::from(length).to_ne_bytes());
            }
            for to in [Version::V4, Version::V6, Version::Mapped] {
                let _ = SendControl::read(&bytes, to);
            }
        }
    }
}
