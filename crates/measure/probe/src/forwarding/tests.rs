//! Frames with planted faults: each is found by its own check, and nothing is found without one.

use std::{collections::BTreeMap, net::IpAddr};

use frame::{
    checksum::{finish, sum},
    headers::IPV4_HEADER,
};
use model::{
    CheckOutcome, CheckResult, ForwardingCheck as Check, ForwardingFault as Fault, ForwardingField as Field,
    ForwardingSide, Mac, NotApplicable, SideFigures,
};
use proptest::prelude::*;

use super::{
    answers::Answers,
    craft::{Crafted, Group, Setting, craft},
    frame_checker::FrameChecker,
};

const NEAR: Mac = Mac([2, 0, 0, 0, 0, 1]);
const FAR: Mac = Mac([2, 0, 0, 0, 0, 2]);
/// Ports of the router: towards the near end and towards the far one.
const ROUTER: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 1]), Mac([2, 0, 0, 0, 1, 2])];
const L3: usize = 14;

fn setting(is_v4: bool, routed: bool) -> Setting {
    let address = |text: &str| -> IpAddr { text.parse().expect("an address") };
    let [source, destination, spare] = match is_v4 {
        true => ["198.18.0.2", "198.19.0.2", "198.19.0.129"],
        false => ["2001:2::2", "2001:2:0:1::2", "2001:2:0:1:8000::1"],
    }
    .map(address);
    Setting {
        near_mac: NEAR,
        next_hop_mac: if routed { ROUTER[0] } else { FAR },
        far_mac: FAR,
        source,
        destination,
        port: 40_000,
        token: 0xdead_beef,
        near_mtu: 1500,
        far_mtu: 1500,
        routed,
        spare: Some(spare),
        flow: 50,
    }
}

/// All four kinds: IPv4 and IPv6, routed and bridged.
fn settings() -> impl Iterator<Item = Setting> {
    [(true, true), (true, false), (false, true), (false, false)].into_iter().map(|(v4, routed)| setting(v4, routed))
}

/// One frame as a device without faults forwards it; `None` where it drops it.
fn forwarded(setting: &Setting, made: &Crafted, frame: &[u8]) -> Option<Vec<u8>> {
    if !made.group.arrives() {
        return None;
    }
    let mut frame = frame.to_vec();
    if setting.routed {
        frame[..6].copy_from_slice(&FAR.0);
        frame[6..12].copy_from_slice(&ROUTER[1].0);
        frame[hop_limit_at(setting)] -= 1;
        put_checksum(setting, &mut frame);
    }
    Some(frame)
}

fn hop_limit_at(setting: &Setting) -> usize {
    if setting.is_v4() { L3 + 8 } else { L3 + 7 }
}

fn put_checksum(setting: &Setting, frame: &mut [u8]) {
    if setting.is_v4() {
        frame[L3 + 10..L3 + 12].fill(0);
        let checksum = finish(sum(&frame[L3..L3 + IPV4_HEADER]));
        frame[L3 + 10..L3 + 12].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Outcomes at the far side where the device does this to each frame that it forwards.
fn judged(setting: &Setting, device: impl Fn(&Crafted, Vec<u8>) -> Vec<Vec<u8>>) -> BTreeMap<Check, CheckResult> {
    // The far side does not know the MAC address of the router.
    let mut frame_checker = FrameChecker::new(Setting { next_hop_mac: FAR, ..setting.clone() });
    for made in &craft(setting) {
        let frames = made.frames.iter().filter_map(|frame| forwarded(setting, made, frame));
        frames.flat_map(|frame| device(made, frame)).for_each(|frame| frame_checker.take(&frame));
    }
    frame_checker.finish().into_iter().map(|result| (result.check, result)).collect()
}

/// Checks that failed.
fn failed(results: &BTreeMap<Check, CheckResult>) -> Vec<Check> {
    results.values().filter(|result| result.has_failed()).map(|result| result.check).collect()
}

fn fault(results: &BTreeMap<Check, CheckResult>, check: Check) -> Fault {
    match &results[&check].outcome {
        CheckOutcome::Failed { fault } => fault.clone(),
        other => panic!("{check:?}: {other:?}"),
    }
}

fn reason(results: &BTreeMap<Check, CheckResult>, check: Check) -> NotApplicable {
    match &results[&check].outcome {
        CheckOutcome::NotApplicable { reason } => *reason,
        other => panic!("{check:?}: {other:?}"),
    }
}

#[test]
fn a_device_without_faults_passes() {
    for setting in settings() {
        let results = judged(&setting, |_, frame| vec![frame]);
        assert_eq!(failed(&results), [], "{results:#?}");
        let passed = |check: Check| results[&check].outcome == CheckOutcome::Passed;
        for check in [
            Check::Delivery,
            Check::Duplicates,
            Check::Order,
            Check::Lengths,
            Check::Payload,
            Check::HopLimit,
            Check::MacAddresses,
            Check::TrafficClass,
            Check::OtherFields,
            Check::Fragments,
        ] {
            assert!(passed(check), "{check:?}: {results:#?}");
        }
        assert_eq!(passed(Check::HeaderChecksum), setting.is_v4());
        assert_eq!(passed(Check::BadChecksum), setting.is_v4() && setting.routed);
        assert_eq!(passed(Check::Vlan), !setting.routed);
        let lengths = if setting.is_v4() { 1500 - 46 + 1 } else { 1500 - 66 + 1 };
        assert_eq!(results[&Check::Lengths].frames, lengths, "each length once");
    }
}

#[test]
fn a_ttl_that_is_kept_is_a_routers_fault_and_one_that_is_taken_a_bridges() {
    for setting in settings() {
        let results = judged(&setting, |_, mut frame| {
            let at = hop_limit_at(&setting);
            frame[at] = if setting.routed { frame[at] + 1 } else { frame[at].saturating_sub(1) };
            put_checksum(&setting, &mut frame);
            vec![frame]
        });
        // A tag moves the header of the tagged frames: another byte of theirs is changed.
        let found: Vec<Check> =
            failed(&results).into_iter().filter(|check| setting.routed || *check == Check::HopLimit).collect();
        assert_eq!(found, [Check::HopLimit], "{results:#?}");
        let Fault::Changed { field: Field::HopLimit, sent, found, expected } = fault(&results, Check::HopLimit) else {
            panic!("{results:#?}")
        };
        let right = if setting.routed { ["64", "64", "63"] } else { ["64", "63", "64"] };
        assert_eq!([sent, found, expected], right);
    }
}

#[test]
fn a_header_checksum_that_is_not_renewed_is_found() {
    let setting = setting(true, true);
    let results = judged(&setting, |_, mut frame| {
        frame[L3 + 10] ^= 1;
        vec![frame]
    });
    assert_eq!(failed(&results), [Check::HeaderChecksum], "{results:#?}");
    assert_eq!(results[&Check::HeaderChecksum].frames, results[&Check::HeaderChecksum].wrong);
}

#[test]
fn mac_addresses_that_a_router_keeps_or_a_bridge_changes_are_found() {
    for setting in settings() {
        let results = judged(&setting, |_, mut frame| {
            let source = if setting.routed { NEAR } else { ROUTER[1] };
            frame[6..12].copy_from_slice(&source.0);
            vec![frame]
        });
        assert_eq!(failed(&results), [Check::MacAddresses], "{results:#?}");
        let Fault::Changed { field, found, expected, .. } = fault(&results, Check::MacAddresses) else {
            panic!("{results:#?}")
        };
        assert_eq!(field, Field::SourceMac);
        assert_ne!(found, expected);
    }
}

#[test]
fn a_flipped_bit_is_found_at_its_place() {
    const AT: usize = 40;
    for setting in settings() {
        let payload = L3 + if setting.is_v4() { 28 } else { 48 };
        let results = judged(&setting, |made, mut frame| {
            if made.group == Group::Flow && made.number == 7 {
                frame[payload + AT] ^= 0x10;
            }
            vec![frame]
        });
        assert_eq!(failed(&results), [Check::Payload], "{results:#?}");
        assert_eq!(results[&Check::Payload].wrong, 1);
        let Fault::Changed { field: Field::PayloadByte, sent, found, .. } = fault(&results, Check::Payload) else {
            panic!("{results:#?}")
        };
        assert!(sent != found && found.ends_with(" @ 40"), "{sent} {found}");
    }
}

#[test]
fn a_flipped_bit_of_the_tag_is_found_too() {
    let setting = setting(true, true);
    let results = judged(&setting, |made, mut frame| {
        if made.group == Group::Flow && made.number == 7 {
            frame[L3 + 28] ^= 0x10;
        }
        vec![frame]
    });
    assert_eq!(failed(&results), [Check::Delivery, Check::Payload], "{results:#?}");
}

#[test]
fn frames_that_come_twice_or_out_of_order_or_not_at_all_are_counted() {
    let setting = setting(false, true);
    let is = |made: &Crafted, number| made.group == Group::Flow && made.number == number;
    let twice = judged(&setting, |made, frame| if is(made, 3) { vec![frame.clone(), frame] } else { vec![frame] });
    assert_eq!(failed(&twice), [Check::Duplicates]);
    assert_eq!(fault(&twice, Check::Duplicates), Fault::Twice { frames: 1 });

    let lost = judged(&setting, |made, frame| if is(made, 3) { vec![] } else { vec![frame] });
    assert_eq!(failed(&lost), [Check::Delivery]);
    assert_eq!(fault(&lost, Check::Delivery), Fault::Missing { sent: 50, arrived: 49 });

    let held = std::cell::RefCell::new(Vec::new());
    let late = judged(&setting, |made, frame| match made.number {
        3 | 4 if made.group == Group::Flow => {
            held.borrow_mut().push(frame);
            vec![]
        }
        9 if made.group == Group::Flow => [vec![frame], held.take()].concat(),
        _ => vec![frame],
    });
    assert_eq!(failed(&late), [Check::Order]);
    assert_eq!(fault(&late, Check::Order), Fault::OutOfOrder { frames: 2, number: 3, behind: 9 });
}

#[test]
fn lengths_that_do_not_pass_are_named_by_their_ends() {
    for setting in settings() {
        let results = judged(&setting, |made, frame| {
            let is_long = made.group == Group::Lengths && (1401..=1444).contains(&made.value);
            if is_long { vec![] } else { vec![frame] }
        });
        assert_eq!(failed(&results), [Check::Lengths]);
        let Fault::MissingLengths { sent, arrived, shortest, longest } = fault(&results, Check::Lengths) else {
            panic!("{results:#?}")
        };
        assert_eq!((sent - arrived, shortest, longest), (44, 1401, 1444));
    }
}

#[test]
fn one_lost_frame_is_no_fault_of_its_length_or_value() {
    let setting = setting(true, false);
    let results = judged(&setting, |made, frame| {
        let is_lost = [Group::Lengths, Group::HopLimit, Group::TrafficClass, Group::Vlan].contains(&made.group)
            && made.number == 2;
        if is_lost { vec![] } else { vec![frame] }
    });
    assert_eq!(failed(&results), []);
}

#[test]
fn a_traffic_class_that_is_reset_or_rewritten_is_found_by_its_part() {
    let setting = setting(true, true);
    let results = judged(&setting, |_, mut frame| {
        frame[L3 + 1] &= 0xfc;
        put_checksum(&setting, &mut frame);
        vec![frame]
    });
    assert_eq!(failed(&results), [Check::TrafficClass]);
    let Fault::Changed { field, sent, found, .. } = fault(&results, Check::TrafficClass) else {
        panic!("{results:#?}")
    };
    assert_eq!((field, sent.as_str(), found.as_str()), (Field::Ecn, "1", "0"));
    let dropped = judged(&setting, |made, frame| {
        let is_high = made.group == Group::TrafficClass && made.value >= 0xc0;
        if is_high { vec![] } else { vec![frame] }
    });
    assert_eq!(fault(&dropped, Check::TrafficClass), Fault::Missing { sent: 256, arrived: 192 });
}

#[test]
fn other_fields_of_the_header_are_compared() {
    let setting = setting(true, true);
    let results = judged(&setting, |made, mut frame| {
        if made.group != Group::Fragments {
            // "Don't fragment" cleared.
            frame[L3 + 6] = 0;
            put_checksum(&setting, &mut frame);
        }
        vec![frame]
    });
    assert_eq!(failed(&results), [Check::OtherFields]);
    let changed = fault(&results, Check::OtherFields);
    assert!(
        matches!(&changed, Fault::Changed { field: Field::FragmentField, sent, .. } if sent == "0x4000"),
        "{changed:?}"
    );
}

#[test]
fn a_version_that_is_changed_is_found_and_is_no_loss() {
    for setting in settings() {
        let results = judged(&setting, |made, mut frame| {
            if made.group == Group::Flow {
                frame[L3] ^= 0x20;
                put_checksum(&setting, &mut frame);
            }
            vec![frame]
        });
        assert_eq!(failed(&results), [Check::OtherFields], "{results:#?}");
        let Fault::Changed { field: Field::Length, sent, found, .. } = fault(&results, Check::OtherFields) else {
            panic!("{results:#?}")
        };
        let other = if setting.is_v4() { 6 } else { 4 };
        assert_eq!(found, format!("{sent} (IPv{other})"));
    }
}

#[test]
fn tags_are_kept_or_do_not_pass_at_all() {
    for setting in settings().filter(|setting| !setting.routed) {
        let filtered = judged(&setting, |made, frame| if made.group == Group::Vlan { vec![] } else { vec![frame] });
        assert_eq!(failed(&filtered), []);
        assert_eq!(reason(&filtered, Check::Vlan), NotApplicable::TagsDoNotPass);
        let stripped = judged(&setting, |made, frame| match made.group {
            Group::Vlan => vec![[&frame[..12], &frame[16..]].concat()],
            _ => vec![frame],
        });
        assert_eq!(failed(&stripped), [Check::Vlan], "{stripped:#?}");
        let changed = fault(&stripped, Check::Vlan);
        assert!(
            matches!(&changed, Fault::Changed { sent, found, .. } if sent == "1 (PCP 0)" && found == "–"),
            "{changed:?}"
        );
    }
}

#[test]
fn fragments_that_are_lost_or_changed_are_found() {
    for setting in settings() {
        let lost = judged(&setting, |made, frame| {
            let is_later = made.group == Group::Fragments && is_last(&setting, &frame);
            if is_later { vec![] } else { vec![frame] }
        });
        assert_eq!(failed(&lost), [Check::Fragments]);
        assert_eq!(fault(&lost, Check::Fragments), Fault::Missing { sent: 4, arrived: 2 });
        let changed = judged(&setting, |made, mut frame| {
            if made.group == Group::Fragments {
                frame[100] ^= 1;
            }
            vec![frame]
        });
        assert_eq!(failed(&changed), [Check::Fragments]);
        assert!(matches!(fault(&changed, Check::Fragments), Fault::Changed { field: Field::PayloadByte, .. }));
    }
}

#[test]
fn fragments_that_end_behind_what_was_sent_are_wrong_and_not_kept() {
    for setting in settings() {
        // The byte with the upper bits of the offset.
        let (at, offset) = if setting.is_v4() { (L3 + 6, 0x8000 + 488) } else { (L3 + 42, 0x1000 + 480) };
        let results = judged(&setting, |made, frame| {
            if made.group != Group::Fragments || !is_last(&setting, &frame) {
                return vec![frame];
            }
            let mut moved = frame.clone();
            moved[at] |= 0x10;
            put_checksum(&setting, &mut moved);
            vec![frame, moved]
        });
        assert_eq!(failed(&results), [Check::Fragments], "{results:#?}");
        assert_eq!((results[&Check::Fragments].frames, results[&Check::Fragments].wrong), (6, 2));
        let Fault::Changed { field: Field::PayloadByte, sent, found, .. } = fault(&results, Check::Fragments) else {
            panic!("{results:#?}")
        };
        assert_eq!(sent, format!("– @ {offset}"));
        assert!(found.starts_with("0x") && found.ends_with(&format!(" @ {offset}")), "{found}");
    }
}

/// Whether no fragment follows.
fn is_last(setting: &Setting, frame: &[u8]) -> bool {
    if setting.is_v4() { frame[L3 + 6] & 0x20 == 0 } else { frame[L3 + 43] & 1 == 0 }
}

#[test]
fn packets_that_had_to_be_dropped_are_found() {
    let setting = setting(true, true);
    let mut frame_checker = FrameChecker::new(setting.clone());
    let all = craft(&setting);
    let passed = all.iter().filter(|made| [Group::BadChecksum, Group::TimeExceeded].contains(&made.group));
    passed.flat_map(|made| &made.frames).for_each(|frame| frame_checker.take(frame));
    let results: BTreeMap<Check, CheckResult> = frame_checker.finish().into_iter().map(|it| (it.check, it)).collect();
    assert_eq!(fault(&results, Check::BadChecksum), Fault::NotDropped { sent: 10, arrived: 10 });
    assert_eq!(fault(&results, Check::TimeExceeded), Fault::NotDropped { sent: 3, arrived: 3 });
}

#[test]
fn where_nothing_arrives_only_delivery_fails() {
    for setting in settings() {
        let results = judged(&setting, |_, _| vec![]);
        assert_eq!(failed(&results), [Check::Delivery, Check::Lengths]);
        assert_eq!(reason(&results, Check::HopLimit), NotApplicable::NothingArrived);
        assert_eq!(reason(&results, Check::Fragments), NotApplicable::NothingArrived);
    }
}

#[test]
fn frames_of_others_and_of_earlier_trials_are_not_looked_at() {
    let setting = setting(true, false);
    let mut frame_checker = FrameChecker::new(setting.clone());
    let earlier = Setting { token: 1, ..setting.clone() };
    craft(&earlier).iter().flat_map(|made| &made.frames).for_each(|frame| frame_checker.take(frame));
    // Fragments of IPv4 have room for one half of the token.
    let half = Setting { token: setting.token ^ 1 << 31, port: setting.port + 1, ..setting.clone() };
    let half = craft(&half).into_iter().filter(|made| made.group != Group::Fragments);
    half.flat_map(|made| made.frames).for_each(|frame| frame_checker.take(&frame));
    for length in 0..200 {
        frame_checker.take(&vec![0x45; length]);
        frame_checker.take(&[&[0; 12][..], &[0x86, 0xdd], &vec![0x60; length]].concat());
        frame_checker.take(&[&[0; 12][..], &[0x08, 0x00], &vec![0x4f; length]].concat());
    }
    assert_eq!(frame_checker.frames(), 0);
    assert_eq!(
        failed(&frame_checker.finish().into_iter().map(|it| (it.check, it)).collect()),
        [Check::Delivery, Check::Lengths]
    );
}

#[test]
fn a_token_without_an_address_or_the_ports_of_the_trial_is_somebody_elses() {
    for setting in settings() {
        let address = |text: &str| -> IpAddr { text.parse().expect("an address") };
        let [source, destination] = match setting.is_v4() {
            true => ["203.0.113.1", "203.0.113.2"],
            false => ["2001:db8::1", "2001:db8::2"],
        }
        .map(address);
        let setting = Setting { near_mtu: 200, far_mtu: 200, ..setting };
        let moved = Setting { source, destination, ..setting.clone() };
        let others = Setting { port: setting.port + 1, ..moved.clone() };
        let flow = |of: &Setting| craft(of).into_iter().find(|made| made.group == Group::Flow).expect("it is sent");
        for (of, frames) in [(&others, 0), (&moved, 1), (&setting, 1)] {
            let made = flow(of);
            let frame = &made.frames[0];
            let (mut frame_checker, mut answers) = (FrameChecker::new(setting.clone()), Answers::new(setting.clone()));
            frame_checker.take(frame);
            answers.take(frame);
            assert_eq!(frame_checker.frames(), frames);
            let results: BTreeMap<Check, CheckResult> =
                answers.finish(1, |_| 1).into_iter().map(|result| (result.check, result)).collect();
            assert_eq!(results[&Check::Returned].wrong, frames);
        }
    }
}

#[test]
fn what_the_other_side_tells_is_not_believed_where_it_cannot_be() {
    for setting in settings() {
        assert_eq!(setting.check(), Ok(()));
        assert_eq!(Setting { spare: None, ..setting.clone() }.check(), Ok(()));
        let least = if setting.is_v4() { 68 } else { 1_280 };
        for (mtu, is_believed) in
            [(0, false), (least - 1, false), (least, true), (65_536, true), (65_537, false), (u32::MAX, false)]
        {
            assert_eq!(Setting { near_mtu: mtu, ..setting.clone() }.check().is_ok(), is_believed, "{mtu}");
            assert_eq!(Setting { far_mtu: mtu, ..setting.clone() }.check().is_ok(), is_believed, "{mtu}");
        }
        let wrong: &[&str] = if setting.is_v4() {
            &["198.19.0.2", "198.18.0.2", "198.19.1.129", "198.19.0.0", "198.19.0.255", "224.0.0.1", "2001:2:0:1::3"]
        } else {
            &["2001:2:0:1::2", "2001:2::2", "2001:2:0:2::3", "ff02::1", "::", "198.19.0.129"]
        };
        for spare in wrong {
            let told = Setting { spare: Some(spare.parse().expect("an address")), ..setting.clone() };
            assert!(told.check().is_err_and(|why| why.contains(spare)), "{spare}");
        }
        // Both ends in one network.
        let bridged = Setting { source: setting.spare.expect("it is set"), ..setting.clone() };
        assert!(bridged.check().is_err());
    }
}

/// An ICMP error with the beginning of a sent frame, as a router sends it to the near end.
fn error(setting: &Setting, (kind, code): (u8, u8), rest: u32, about: &[u8]) -> Vec<u8> {
    use frame::headers::{self, Ip, finish_ip, pseudo_sum};
    let mut frame = Vec::new();
    let gateway: IpAddr = if setting.is_v4() { "198.18.0.1" } else { "2001:2::1" }.parse().expect("an address");
    let (ether_type, protocol) =
        if setting.is_v4() { (headers::IPV4, headers::ICMP) } else { (headers::IPV6, headers::ICMPV6) };
    headers::ethernet(&mut frame, NEAR, ROUTER[0], &[], ether_type);
    let l3 = frame.len();
    headers::ip(&mut frame, &Ip { source: gateway, destination: setting.source, protocol, dscp: 0, ttl: 64 });
    let l4 = frame.len();
    frame.extend([kind, code, 0, 0]);
    frame.extend(rest.to_be_bytes());
    // As little as a router has to quote (RFC 792): the header and 8 bytes.
    frame.extend(&about[L3..L3 + (l4 - l3) + 8]);
    finish_ip(&mut frame, l3, l4);
    let pseudo = if setting.is_v4() { 0 } else { pseudo_sum(&frame[l3..l4]) + (frame.len() - l4) as u32 };
    let checksum = finish(pseudo + sum(&frame[l4..]));
    frame[l4 + 2..l4 + 4].copy_from_slice(&checksum.to_be_bytes());
    frame
}

/// Outcomes at the near side where packets of these groups are answered so.
fn answered(setting: &Setting, errors: &[(Group, (u8, u8), u32)]) -> BTreeMap<Check, CheckResult> {
    let mut answers = Answers::new(setting.clone());
    for (group, kind, rest) in errors {
        let all = craft(setting);
        let about = all.iter().find(|made| made.group == *group).expect("it is sent");
        answers.take(&error(setting, *kind, *rest, &about.frames[0]));
        assert!(answers.has(*group));
    }
    answers.finish(1_000, |_| 3).into_iter().map(|result| (result.check, result)).collect()
}

#[test]
fn right_answers_pass_and_others_fail() {
    for is_v4 in [true, false] {
        let setting = Setting { near_mtu: 9000, ..setting(is_v4, true) };
        let [exceeded, too_big, unreachable, closed] =
            if is_v4 { [(11, 0), (3, 4), (3, 1), (3, 3)] } else { [(3, 0), (2, 0), (1, 3), (1, 4)] };
        let of = |mtu, unreachable| {
            let answers = [
                (Group::TimeExceeded, exceeded, 0),
                (Group::TooBig, too_big, mtu),
                (Group::Unreachable, unreachable, 0),
            ];
            answered(&setting, &answers)
        };
        assert_eq!(failed(&of(1500, unreachable)), []);
        assert_eq!(reason(&of(1500, closed), Check::Unreachable), NotApplicable::AddressInUse);
        let wrong = of(1400, exceeded);
        assert_eq!(failed(&wrong), [Check::TooBig, Check::Unreachable]);
        let Fault::OtherAnswer { found, expected } = fault(&wrong, Check::TooBig) else { panic!("{wrong:#?}") };
        assert!(found.ends_with("MTU 1400") && expected.ends_with("MTU 1500"), "{found} {expected}");
        let silent = answered(&setting, &[]);
        assert_eq!(failed(&silent), [Check::TimeExceeded, Check::TooBig, Check::Unreachable]);
        assert_eq!(fault(&silent, Check::TimeExceeded), Fault::Unanswered { sent: 3 });
    }
}

#[test]
fn only_errors_about_our_own_packets_are_believed() {
    for is_v4 in [true, false] {
        let setting = setting(is_v4, true);
        let (exceeded, echo) = if is_v4 { ((11, 0), (8, 0)) } else { ((3, 0), (128, 0)) };
        let is_believed = |kind, about: &Setting| {
            let mut answers = Answers::new(setting.clone());
            let all = craft(about);
            let packet = all.iter().find(|made| made.group == Group::TimeExceeded).expect("it is sent");
            answers.take(&error(&setting, kind, 0, &packet.frames[0]));
            answers.has(Group::TimeExceeded)
        };
        let back = Setting { source: setting.destination, destination: setting.source, ..setting.clone() };
        assert!(is_believed(exceeded, &setting));
        assert!(!is_believed(echo, &setting) && !is_believed(exceeded, &back));
    }
}

#[test]
fn what_only_a_router_answers_is_not_asked_of_a_bridge() {
    let bridged = answered(&setting(true, false), &[]);
    assert_eq!(failed(&bridged), []);
    for check in [Check::TimeExceeded, Check::TooBig, Check::Unreachable] {
        assert_eq!(reason(&bridged, check), NotApplicable::NoRouter);
    }
    let alike = answered(&setting(true, true), &[]);
    assert_eq!(reason(&alike, Check::TooBig), NotApplicable::NothingLarger);
    let narrow = answered(&Setting { spare: None, ..setting(true, true) }, &[]);
    assert_eq!(reason(&narrow, Check::Unreachable), NotApplicable::NoSpareAddress);
}

#[test]
fn a_frame_that_comes_back_is_found() {
    for setting in settings() {
        let mut answers = Answers::new(setting.clone());
        answers.take(&craft(&setting)[0].frames[0]);
        for token in [1, setting.token ^ 1 << 31] {
            answers.take(&craft(&Setting { token, ..setting.clone() })[0].frames[0]);
        }
        answers.take(&[0; 60]);
        let results = answers.finish(1_000, |_| 0).into_iter().map(|result| (result.check, result)).collect();
        assert_eq!(fault(&results, Check::Returned), Fault::CameBack { frames: 1 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Frames that a device or somebody else changed: both sides read them, and their outcomes are possible.
    #[test]
    fn changed_and_cut_frames_break_nothing(
        kind in 0_usize..4,
        damages in prop::collection::vec(
            (
                any::<prop::sample::Index>(),
                prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..=8),
                prop::option::of(any::<prop::sample::Index>()),
            ),
            1..200,
        ),
    ) {
        // As far as the headers reach, of which a changed byte does most.
        const HEADERS: usize = 80;
        let ordinary = settings().nth(kind).expect("there are four");
        let setting = Setting { near_mtu: 400, far_mtu: 300, flow: 10, ..ordinary };
        let (mut frame_checker, mut answers) = (FrameChecker::new(setting.clone()), Answers::new(setting.clone()));
        let exceeded = if setting.is_v4() { (11, 0) } else { (3, 0) };
        let all = craft(&setting);
        // Frames of all groups, about as many of each.
        let frames: Vec<&Vec<u8>> = all.iter().filter(|made| made.number < 8).flat_map(|made| &made.frames).collect();
        for (place, changes, cut) in damages {
            let sent = frames[place.index(frames.len())];
            for mut frame in [sent.clone(), error(&setting, exceeded, 0, sent)] {
                for (at, byte) in &changes {
                    let at = at.index(frame.len().min(HEADERS));
                    frame[at] = *byte;
                }
                if let Some(cut) = &cut {
                    frame.truncate(cut.index(frame.len()));
                }
                frame_checker.take(&frame);
                answers.take(&frame);
            }
        }
        let routed = setting.routed;
        let is_possible = |checks| SideFigures::Forwarding(ForwardingSide { routed, frames: 1, checks }).check();
        prop_assert_eq!(is_possible(frame_checker.finish()), Ok(()));
        prop_assert_eq!(is_possible(answers.finish(1, |_| 1)), Ok(()));
    }
}
