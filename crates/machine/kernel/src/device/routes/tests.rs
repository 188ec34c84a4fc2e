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

fn through(objects: Vec<Entry>) -> RoutesThrough {
    RoutesThrough { interface: "eth1".into(), index: 7, objects }
}

#[test]
fn a_route_is_written_as_ip_takes_it_without_its_state() {
    let head = [2, 0, 0, 0, 254, 3, 0, 1, 16 | 4, 0, 0, 0];
    let oif = |index: u32| index.to_ne_bytes();
    let attributes: [(u16, &[u8]); 3] =
        [(RTA_OIF, &oif(7)), (RTA_GATEWAY, &[198, 18, 0, 1]), (RTA_TABLE, &100_u32.to_ne_bytes())];
    let route = entry(&head, &attributes);
    assert!(is_given_route(&route) && through(vec![]).takes(&route));
    assert!(!through(vec![]).takes(&entry(&head, &[(RTA_OIF, &oif(8))])));
    let saved = through(vec![]).saved_route(route).expect("no other interface");
    assert_eq!(saved.words, "route add 0.0.0.0/0 via 198.18.0.1 dev eth1 table 100");
    assert_eq!(saved.message[8], 4);
}

#[test]
fn each_hop_of_a_route_is_seen_and_told_back_without_its_state() {
    let hop =
        |index: u32| [vec![16, 0, 1 | 4, 2], index.to_ne_bytes().to_vec(), vec![8, 0, 5, 0, 198, 18, 0, 1]].concat();
    let hops_of = [hop(7), hop(7)].concat();
    let route = entry(&[2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0], &[(RTA_MULTIPATH, &hops_of)]);
    assert!(through(vec![]).takes(&route));
    let saved = through(vec![]).saved_route(route).expect("no other interface");
    let one = "nexthop via 198.18.0.1 dev eth1 weight 3";
    assert_eq!(saved.words, format!("route add 0.0.0.0/24 {one} {one} table 254"));
    let moved = renumbered(&saved, 7, 9);
    let hops = hops(&Entry { bytes: moved.message.clone(), head: 12 });
    assert_eq!(hops.iter().map(|hop| (hop.index, moved.message[hop.at + 2])).collect::<Vec<_>>(), [(9, 4), (9, 4)]);
}

#[test]
fn a_route_of_a_nexthop_object_goes_by_that_alone() {
    let id = 12_u32.to_ne_bytes();
    let object = entry(&[2, 253, 0, 0, 0, 0, 0, 0], &[(NHA_ID, &id), (NHA_OIF, &7_u32.to_ne_bytes())]);
    let route = entry(&[2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0], &[(RTA_NH_ID, &id), (RTA_GATEWAY, &[198, 18, 0, 1])]);
    assert!(!through(vec![]).takes(&route));
    let through = through(vec![object]);
    assert!(through.takes(&route));
    let saved = through.saved_route(route).expect("no other interface");
    assert_eq!(saved.words, "route add 0.0.0.0/24 nhid 12 table 254");
    assert_eq!(saved.message.len(), 12 + 8, "the gateway is the object's");
    assert_eq!(through.nexthops()[0].words, "nexthop replace id 12 dev eth1");
    assert_eq!(through.nexthops()[0].message[1], 0, "the scope is not taken");
}

#[test]
fn what_comes_by_itself_is_not_told_back() {
    let route = |protocol, to: [u8; 16], expires: u32| {
        let cache = [[0; 8].to_vec(), expires.to_ne_bytes().to_vec(), vec![0; 20]].concat();
        entry(&[10, 64, 0, 0, 254, protocol, 0, 1, 0, 0, 0, 0], &[(RTA_DST, &to), (RTA_CACHEINFO, &cache)])
    };
    let (global, local) = (*b"\x20\x01\0\x02............", *b"\xfe\x80..............");
    assert!(is_given_route(&route(KERNEL, global, 0)), "an address may bring none");
    assert!(!is_given_route(&route(KERNEL, local, 0)) && !is_given_route(&route(KERNEL, global, 9)));
    assert!(!is_given_route(&route(9, global, 0)) && is_given_route(&route(3, global, 0)));
    assert!(is_relied_on(&route(9, global, 0)) && !is_relied_on(&route(KERNEL, global, 0)));
}
