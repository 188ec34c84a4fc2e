//! Queueing disciplines with their classes and filters.

use model::nic::Saved;

use super::message::{Kind, Told};
use crate::error::Result;

pub(super) const QDISCS: Kind =
    Kind { name: "queueing disciplines", new: 36, get: 38, head: 20, index_attribute: None };
const CLASSES: Kind = Kind { name: "classes", new: 40, get: 42, head: 20, index_attribute: None };
const FILTERS: Kind = Kind { name: "filters", new: 44, get: 46, head: 20, index_attribute: None };

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STAB: u16 = 8;
const TCA_CHAIN: u16 = 11;
const TCA_INGRESS_BLOCK: u16 = 13;
const TCA_EGRESS_BLOCK: u16 = 14;
const TCA_ACT_KIND: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_U32_HASH: u16 = 2;
const TCA_U32_LINK: u16 = 3;
const TCA_U32_DIVISOR: u16 = 4;
/// First number of tables that u32 creates itself, in the table part of a filter's handle.
const FIRST_OWN_TABLE: u32 = 0x8000_0000;

/// `TC_H_ROOT` and `TC_H_INGRESS` of linux/pkt_sched.h.
const ROOT: u32 = u32::MAX;
const INGRESS: u32 = 0xffff_fff1;
/// The two sides of clsact, as parents of filters.
const SIDES: [u32; 2] = [0xffff_fff2, 0xffff_fff3];

/// Disciplines that the kernel accepts as it describes them.
const REPEATABLE: [&str; 16] = [
    "bfifo", "cake", "clsact", "codel", "drr", "fq", "fq_codel", "hfsc", "htb", "ingress", "mq", "pfifo", "pie",
    "prio", "sfq", "tbf",
];
/// Disciplines of these whose classes are created manually.
const WITH_CLASSES: [&str; 3] = ["drr", "hfsc", "htb"];

/// A kind of filter that the kernel accepts as it describes it: attributes for flags, for actions, and for older forms
/// of actions.
struct Classifier {
    name: &'static str,
    flags: u16,
    actions: u16,
    police: Option<u16>,
}

const CLASSIFIERS: [Classifier; 3] = [
    Classifier { name: "u32", flags: 11, actions: 7, police: Some(6) },
    Classifier { name: "flower", flags: 22, actions: 3, police: None },
    Classifier { name: "matchall", flags: 3, actions: 2, police: None },
];
/// Actions that the kernel accepts as it describes them; a police action lacks the required table.
const ACTIONS: [&str; 2] = ["gact", "mirred"];
/// `TCA_CLS_FLAGS_SKIP_HW` and `TCA_CLS_FLAGS_SKIP_SW`: the other flags are read-only.
const SETTABLE_FLAGS: u8 = 1 | 2;

/// All configured disciplines, classes and filters, as words and as messages.
pub(super) fn queueing(interface: &str, index: u32) -> Result<Vec<Saved>> {
    let chosen = Chosen::read(index)?;
    let qdiscs = chosen.qdiscs.iter().map(|told| (told, qdisc_words(told, interface)));
    let classes = chosen.classes.iter().map(|told| (told, class_words(told, interface)));
    let filters = chosen.filters.iter().map(|told| (told, filter_words(told, interface)));
    Ok(qdiscs.chain(classes).chain(filters).map(|(told, words)| settable(told).saved(words)).collect())
}

/// The kind of a saved object: its words begin with it.
pub(super) fn kind(saved: &Saved) -> &'static Kind {
    match saved.words.split(' ').next() {
        Some("class") => &CLASSES,
        Some("filter") => &FILTERS,
        _ => &QDISCS,
    }
}

/// Objects that cannot be restored, in words.
pub(super) fn lasting(interface: &str, index: u32) -> Result<Vec<String>> {
    let chosen = Chosen::read(index)?;
    let mut found = Vec::new();
    for told in chosen.qdiscs.iter().filter(|told| !is_repeatable(told)) {
        let kind = told.text(TCA_KIND).unwrap_or_default();
        let place = qdisc_place(told);
        found.push(format!("the queueing discipline {kind} (tc qdisc delete dev {interface} {place})"));
    }
    for told in chosen.filters.iter().filter(|told| !is_repeatable_filter(told)) {
        let kind = told.text(TCA_KIND).unwrap_or_default();
        let command = filter_words(told, interface).replacen("add", "delete", 1);
        found.push(format!("a filter {kind}, or what it does (tc {command})"));
    }
    Ok(found)
}

struct Chosen {
    qdiscs: Vec<Told>,
    classes: Vec<Told>,
    filters: Vec<Told>,
}

impl Chosen {
    /// The kernel's default disciplines have no handle.
    fn read(index: u32) -> Result<Self> {
        let mut qdiscs = QDISCS.of(index)?;
        qdiscs.retain(|told| number(told) != 0);
        if qdiscs.is_empty() {
            return Ok(Self { qdiscs, classes: Vec::new(), filters: Vec::new() });
        }
        let mut classes = CLASSES.at(index, 0)?;
        classes.retain(|told| told.text(TCA_KIND).is_some_and(|kind| WITH_CLASSES.contains(&kind.as_str())));
        // An hfsc class with the handle of its discipline is created with it.
        classes.retain(|told| number(told) & 0xffff != 0);
        // Parents come first: a class without an existing parent would become a root class.
        let depths: Vec<_> = classes.iter().map(|told| depth(told, &classes)).collect();
        let mut ordered: Vec<_> = depths.into_iter().zip(classes).collect();
        ordered.sort_by_key(|(depth, _)| *depth);
        let classes: Vec<_> = ordered.into_iter().map(|(_, told)| told).collect();
        let filters = filters(index, &qdiscs, &classes)?;
        Ok(Self { qdiscs, classes, filters })
    }
}

/// Number of ancestors of a class.
fn depth(told: &Told, classes: &[Told]) -> usize {
    let above = |told: &Told| classes.iter().find(|other| number(other) == parent(told));
    std::iter::successors(above(told), |told| above(told)).take(classes.len()).count()
}

fn filters(index: u32, qdiscs: &[Told], classes: &[Told]) -> Result<Vec<Told>> {
    let sides = |told: &Told| if parent(told) == INGRESS { SIDES.to_vec() } else { vec![number(told)] };
    let parents = qdiscs.iter().flat_map(sides).chain(classes.iter().map(number));
    let mut filters = Vec::new();
    for parent in parents {
        // A discipline without filters, or the side that ingress lacks, is no error.
        let Ok(told) = FILTERS.at(index, parent) else { continue };
        filters.extend(told.into_iter().filter(is_filter).map(|told| beneath(told, parent)));
    }
    Ok(filters)
}

/// The kernel also lists objects shared by filters of one priority, and u32's automatic tables.
fn is_filter(told: &Told) -> bool {
    let divisor = options(told).and_then(|options| options.number(TCA_U32_DIVISOR)).filter(|_| is_u32(told));
    let is_own_table = divisor == Some(1) && number(told) >= FIRST_OWN_TABLE;
    told.value(TCA_OPTIONS).is_some() && number(told) != 0 && !is_own_table
}

fn is_u32(told: &Told) -> bool {
    told.text(TCA_KIND).as_deref() == Some("u32")
}

fn beneath(mut told: Told, parent: u32) -> Told {
    told.bytes[12..16].copy_from_slice(&parent.to_ne_bytes());
    told
}

/// `struct tcmsg`: handle, parent, and for a filter priority and protocol.
fn number(told: &Told) -> u32 {
    told.head_number(8)
}

fn parent(told: &Told) -> u32 {
    told.head_number(12)
}

fn is_repeatable(told: &Told) -> bool {
    let is_known = told.text(TCA_KIND).is_some_and(|kind| REPEATABLE.contains(&kind.as_str()));
    let has_number_above = parent(told) >> 16 != 0;
    let shares = [TCA_STAB, TCA_INGRESS_BLOCK, TCA_EGRESS_BLOCK].iter().any(|it| told.value(*it).is_some());
    is_known && has_number_above && !shares
}

fn is_repeatable_filter(told: &Told) -> bool {
    let (Some(options), Some(classifier)) = (options(told), classifier(told)) else { return false };
    let has_old = classifier.police.is_some_and(|police| options.value(police).is_some());
    let is_of_tables = is_u32(told)
        && (number(told) < FIRST_OWN_TABLE
            || [TCA_U32_DIVISOR, TCA_U32_LINK].iter().any(|it| options.value(*it).is_some()));
    let actions = options.value(classifier.actions).unwrap_or_default().to_vec();
    let actions = Told { bytes: actions, head: 0 };
    let known = |bytes: &[u8]| {
        let kind = Told { bytes: bytes.to_vec(), head: 0 }.text(TCA_ACT_KIND);
        kind.is_some_and(|kind| ACTIONS.contains(&kind.as_str()))
    };
    !has_old && !is_of_tables && actions.attributes().all(|(_, place)| known(&actions.bytes[place]))
}

fn classifier(told: &Told) -> Option<&'static Classifier> {
    let kind = told.text(TCA_KIND)?;
    CLASSIFIERS.iter().find(|classifier| classifier.name == kind)
}

fn options(told: &Told) -> Option<Told> {
    Some(Told { bytes: told.value(TCA_OPTIONS)?.to_vec(), head: 0 })
}

/// A message as the kernel accepts it, without counters.
fn settable(told: &Told) -> Told {
    let mut told = told.only(&[TCA_KIND, TCA_OPTIONS, TCA_CHAIN]);
    match told.text(TCA_KIND).as_deref() {
        Some("htb") => tell_htb(&mut told),
        Some("u32") => free_of_table(&mut told),
        _ => {}
    }
    settle_flags(&mut told);
    told
}

/// htb's version is read as a whole, and written as its first half (`HTB_VER` of linux/pkt_sched.h).
fn tell_htb(told: &mut Told) {
    let version = options(told).and_then(|options| options.place(TCA_HTB_INIT));
    if let (Some(version), Some(options)) = (version, told.place(TCA_OPTIONS)) {
        let at = options.start + version.start;
        let half = told.head_number(at) >> 16;
        told.bytes[at..at + 4].copy_from_slice(&half.to_ne_bytes());
    }
}

/// u32 numbers its automatic tables in order of creation, so this filter's table may get another number.
fn free_of_table(told: &mut Told) {
    let Some(options) = options(told) else { return };
    let own = number(told) & 0xfff;
    let without = options.without(&[TCA_U32_HASH]).bytes;
    *told = told.with(TCA_OPTIONS, &without);
    told.bytes[8..12].copy_from_slice(&own.to_ne_bytes());
}

/// Removes read-only flags of hardware offload.
fn settle_flags(told: &mut Told) {
    let flags = classifier(told).and_then(|it| options(told)?.place(it.flags));
    if let (Some(flags), Some(options)) = (flags, told.place(TCA_OPTIONS)) {
        let at = options.start + flags.start;
        let set = u32::from(told.bytes[at] & SETTABLE_FLAGS);
        told.bytes[at..at + 4].copy_from_slice(&set.to_ne_bytes());
    }
}

fn qdisc_words(told: &Told, interface: &str) -> String {
    let kind = told.text(TCA_KIND).unwrap_or_default();
    format!("qdisc replace dev {interface} {} handle {:x}: {kind}", qdisc_place(told), number(told) >> 16)
}

fn qdisc_place(told: &Told) -> String {
    match (parent(told), told.text(TCA_KIND)) {
        (ROOT, _) => "root".to_owned(),
        (INGRESS, kind) => kind.unwrap_or_default(),
        (parent, _) => format!("parent {}", shown(parent)),
    }
}

fn class_words(told: &Told, interface: &str) -> String {
    let kind = told.text(TCA_KIND).unwrap_or_default();
    let place = if parent(told) == ROOT { "root".to_owned() } else { format!("parent {}", shown(parent(told))) };
    format!("class replace dev {interface} {place} classid {} {kind}", shown(number(told)))
}

fn filter_words(told: &Told, interface: &str) -> String {
    let place = match parent(told) {
        parent if parent == SIDES[0] => "ingress".to_owned(),
        parent if parent == SIDES[1] => "egress".to_owned(),
        parent => format!("parent {}", shown(parent)),
    };
    let (kind, priority) = (told.text(TCA_KIND).unwrap_or_default(), told.head_number(16) >> 16);
    format!("filter add dev {interface} {place} pref {priority} {kind}")
}

fn shown(number: u32) -> String {
    format!("{:x}:{:x}", number >> 16, number & 0xffff)
}
