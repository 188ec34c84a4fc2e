//! Socket addresses in memory: `struct sockaddr_in` and `struct sockaddr_in6`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Bytes of `struct sockaddr_in` and of `struct sockaddr_in6`.
const V4_LENGTH: usize = 16;
const V6_LENGTH: usize = 28;

/// Reads an address; IPv4-mapped IPv6 becomes IPv4. `None` for another family or one that is too short.
pub(crate) fn read(name: &[u8]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_ne_bytes(name.get(..2)?.try_into().ok()?));
    let port = u16::from_be_bytes(name.get(2..4)?.try_into().ok()?);
    match family {
        libc::AF_INET if name.len() >= V4_LENGTH => {
            let octets: [u8; 4] = name.get(4..8)?.try_into().ok()?;
            Some(SocketAddr::new(Ipv4Addr::from(octets).into(), port))
        }
        // The kernel also accepts it without the scope at its end (RFC 2133).
        libc::AF_INET6 if name.len() >= V6_LENGTH - 4 => {
            let octets: [u8; 16] = name.get(8..24)?.try_into().ok()?;
            Some(SocketAddr::new(Ipv6Addr::from(octets).to_canonical(), port))
        }
        _ => None,
    }
}

/// Writes the source address of a datagram that arrived by an interface, in the version of the socket.
///
/// Writes as much as fits; returns the full length.
pub(crate) fn write(address: SocketAddr, interface: u32, v6: bool, room: &mut [u8]) -> usize {
    let mut bytes = [0; V6_LENGTH];
    let family = if v6 { libc::AF_INET6 } else { libc::AF_INET } as u16;
    bytes[..2].copy_from_slice(&family.to_ne_bytes());
    bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
    let length = match address.ip() {
        IpAddr::V4(address) if !v6 => {
            bytes[4..8].copy_from_slice(&address.octets());
            V4_LENGTH
        }
        address => {
            if needs_scope(address) {
                bytes[24..].copy_from_slice(&interface.to_ne_bytes());
            }
            bytes[8..24].copy_from_slice(&as_v6(address).octets());
            V6_LENGTH
        }
    };
    let written = length.min(room.len());
    room[..written].copy_from_slice(&bytes[..written]);
    length
}

/// Whether an address is valid on one link only.
pub(crate) fn needs_scope(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

/// An address in the form of IPv6 sockets.
pub(crate) fn as_v6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (text, v6, length) in [("198.18.0.1:7", false, 16), ("198.18.0.1:7", true, 28), ("[2001:2::1]:7", true, 28)]
        {
            let address: SocketAddr = text.parse().expect("an address");
            let mut room = [0xee; 40];
            assert_eq!(write(address, 9, v6, &mut room), length);
            assert_eq!(read(&room[..length]), Some(address));
            assert_eq!(room[length], 0xee);
            let mut small = [0; 5];
            assert_eq!(
                (write(address, 9, v6, &mut small), &small[..]),
                (length, &room[..5]),
                "cut off, as the kernel does"
            );
        }
    }

    #[test]
    fn who_is_known_on_one_link_alone_is_told_with_it() {
        let mut room = [0; 28];
        write("[fe80::1]:7".parse().expect("an address"), 9, true, &mut room);
        assert_eq!(room[24..], 9_u32.to_ne_bytes());
        write("[2001:2::1]:7".parse().expect("an address"), 9, true, &mut room);
        assert_eq!(room[24..], [0; 4]);
    }

    #[test]
    fn what_is_no_address_is_none() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[2, 0, 0, 7, 198, 18, 0]), None, "too short");
        assert_eq!(read(&[1; 28]), None, "neither version");
        assert_eq!(read(&[0; 28]), None, "AF_UNSPEC");
    }
}
