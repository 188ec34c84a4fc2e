//! Ports that sockets of several processes have.

use std::collections::{HashMap, HashSet};

use crate::calls::inode;

/// Whether a socket of another process has the same port, with which the kernel would share what comes. Where it does not say, it is asked again
/// by and by.
pub(crate) fn shares_with_others(port: u16) -> bool {
    let sockets = kernel::diag::udp_sockets(Some(port));
    sockets.is_ok_and(|sockets| shared(&[port], &sockets).is_some_and(|shared| !shared.is_empty()))
}

/// Which of these ports a socket of another process has too, asked for all at once; none where the kernel does not say.
pub(crate) fn shared_ports(ports: &[u16]) -> Option<HashSet<u16>> {
    shared(ports, &kernel::diag::udp_sockets(None).ok()?)
}

fn shared(ports: &[u16], sockets: &[(u16, u64)]) -> Option<HashSet<u16>> {
    let mut count = HashMap::new();
    sockets.iter().for_each(|(port, _)| *count.entry(*port).or_insert(0) += 1);
    let several: HashSet<u16> =
        ports.iter().copied().filter(|port| count.get(port).is_some_and(|it| *it > 1)).collect();
    if several.is_empty() {
        return Some(several);
    }
    let own = own_inodes()?;
    let others = sockets.iter().filter(|(port, inode)| several.contains(port) && !own.contains(inode));
    Some(others.map(|(port, _)| *port).collect())
}

/// What this process has open.
fn own_inodes() -> Option<HashSet<u64>> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?.flatten();
    Some(open.filter_map(|entry| inode(entry.file_name().to_str()?.parse().ok()?)).collect())
}

#[cfg(test)]
mod tests {
    use std::{net::UdpSocket, os::fd::AsRawFd};

    use super::*;

    #[test]
    fn a_port_is_shared_where_another_process_has_it() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let port = socket.local_addr().expect("bound").port();
        let own = inode(socket.as_raw_fd()).expect("open");
        let shared =
            |sockets: &[(u16, u64)]| shared(&[port], sockets).expect("readable").into_iter().collect::<Vec<u16>>();
        assert_eq!(shared(&[(port, own), (port, own)]), [0_u16; 0]);
        assert_eq!(shared(&[(port, own), (port, u64::MAX)]), [port]);
        assert_eq!(shared(&[(port, own), (9, u64::MAX), (9, u64::MAX)]), [0_u16; 0], "it is another's port");
        assert_eq!(shared_ports(&[port]), Some(HashSet::new()));
    }
}
