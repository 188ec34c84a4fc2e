use super::*;

/// A message from its head and attributes.
fn entry(head: &[u8], attributes: &[(u16, &[u8])]) -> Entry {
    let mut bytes = head.to_vec();
    for (kind, value) in attributes {
        bytes.extend((4 + value.len() as u16).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    Entry { bytes, head: head.len() }
}

#[test]
fn an_address_is_written_as_ip_takes_it() {
    let address = entry(&[2, 24, 0, 0, 7, 0, 0, 0], &[(IFA_ADDRESS, &[198, 18, 0, 9]), (IFA_LABEL, b"eth1:1\0")]);
    assert_eq!(saved_address(address, "eth1").words, "address add 198.18.0.9/24 label eth1:1 dev eth1");
}

#[test]
fn lifetimes_go_on_running() {
    let lifetimes =
        |preferred: u32, valid: u32| [preferred.to_ne_bytes(), valid.to_ne_bytes(), [0; 4], [0; 4]].concat();
    let address = |cache: &[u8]| entry(&[2, 24, 0, 0, 7, 0, 0, 0], &[(IFA_CACHEINFO, cache)]).bytes;
    assert_eq!(aged(&address(&lifetimes(50, 100)), 60), Some(address(&lifetimes(0, 40))));
    assert_eq!(aged(&address(&lifetimes(50, 100)), 100), None);
    let forever = address(&lifetimes(u32::MAX, u32::MAX));
    assert_eq!(aged(&forever, 1_000), Some(forever));
}
