//! Queueing disciplines with their classes and filters.

use model::nic::Saved;

use super::message::{Entry, Kind};
use crate::error::Result;

pub(super) const QDISCS: Kind =
    Kind { name: "queueing disciplines", new: 36, get: 38, head: 20, index_attribute: None };
const CLASSES: Kind = Kind { name: "classes", new: 40, get: 42, head: 20, index_attribute: None };
const FILTERS: Kind = Kind { name: "filters", new: 44, get: 46, head: 20, index_attribute: None };

pub(super) const TCA_KIND: u16 = 1;
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
pub(super) const ROOT: u32 = u32::MAX;
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
    let qdiscs = chosen.qdiscs.iter().map(|entry| (entry, qdisc_words(entry, interface)));
    let classes = chosen.classes.iter().map(|entry| (entry, class_words(entry, interface)));
    let filters = chosen.filters.iter().map(|entry| (entry, filter_words(entry, interface)));
    Ok(qdiscs.chain(classes).chain(filters).map(|(entry, words)| settable(entry).saved(words)).collect())
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
    for entry in chosen.qdiscs.iter().filter(|entry| !is_repeatable(entry)) {
        let kind = entry.text(TCA_KIND).unwrap_or_default();
        let place = qdisc_place(entry);
        found.push(format!("the queueing discipline {kind} (tc qdisc delete dev {interface} {place})"));
    }
    for entry in chosen.filters.iter().filter(|entry| !is_repeatable_filter(entry)) {
        let kind = entry.text(TCA_KIND).unwrap_or_default();
        let command = filter_words(entry, interface).replacen("add", "delete", 1);
        found.push(format!("a filter {kind}, or what it does (tc {command})"));
    }
    Ok(found)
}

struct Chosen {
    qdiscs: Vec<Entry>,
    classes: Vec<Entry>,
    filters: Vec<Entry>,
}

impl Chosen {
    /// The kernel's default disciplines have no handle.
    fn read(index: u32) -> Result<Self> {
        let mut qdiscs = QDISCS.of(index)?;
        qdiscs.retain(|entry| number(entry) != 0);
        if qdiscs.is_empty() {
            return Ok(Self { qdiscs, classes: Vec::new(), filters: Vec::new() });
        }
        let mut classes = CLASSES.at(index, 0)?;
        classes.retain(|entry| entry.text(TCA_KIND).is_some_and(|kind| WITH_CLASSES.contains(&kind.as_str())));
        // An hfsc class with the handle of its discipline is created with it.
        classes.retain(|entry| number(entry) & 0xffff != 0);
        // Parents come first: a class without an existing parent would become a root class.
        let depths: Vec<_> = classes.iter().map(|entry| depth(entry, &classes)).collect();
        let mut ordered: Vec<_> = depths.into_iter().zip(classes).collect();
        ordered.sort_by_key(|(depth, _)| *depth);
        let classes: Vec<_> = ordered.into_iter().map(|(_, entry)| entry).collect();
        let filters = filters(index, &qdiscs, &classes)?;
        Ok(Self { qdiscs, classes, filters })
    }
}

/// Number of ancestors of a class.
fn depth(entry: &Entry, classes: &[Entry]) -> usize {
    let above = |entry: &Entry| classes.iter().find(|other| number(other) == parent(entry));
    std::iter::successors(above(entry), |entry| above(entry)).take(classes.len()).count()
}

fn filters(index: u32, qdiscs: &[Entry], classes: &[Entry]) -> Result<Vec<Entry>> {
    let sides = |entry: &Entry| if parent(entry) == INGRESS { SIDES.to_vec() } else { vec![number(entry)] };
    let parents = qdiscs.iter().flat_map(sides).chain(classes.iter().map(number));
    let mut filters = Vec::new();
    for parent in parents {
        // A discipline without filters, or the side that ingress lacks, is no error.
        let Ok(entry) = FILTERS.at(index, parent) else { continue };
        filters.extend(entry.into_iter().filter(is_filter).map(|entry| beneath(entry, parent)));
    }
    Ok(filters)
}

/// The kernel also lists objects shared by filters of one priority, and u32's automatic tables.
fn is_filter(entry: &Entry) -> bool {
    let divisor = options(entry).and_then(|options| options.number(TCA_U32_DIVISOR)).filter(|_| is_u32(entry));
    let is_own_table = divisor == Some(1) && number(entry) >= FIRST_OWN_TABLE;
    entry.value(TCA_OPTIONS).is_some() && number(entry) != 0 && !is_own_table
}

fn is_u32(entry: &Entry) -> bool {
    entry.text(TCA_KIND).as_deref() == Some("u32")
}

fn beneath(mut entry: Entry, parent: u32) -> Entry {
    entry.bytes[12..16].copy_from_slice(&parent.to_ne_bytes());
    entry
}

/// `struct tcmsg`: handle, parent, and for a filter priority and protocol.
pub(super) fn number(entry: &Entry) -> u32 {
    entry.head_number(8)
}

pub(super) fn parent(entry: &Entry) -> u32 {
    entry.head_number(12)
}

fn is_repeatable(entry: &Entry) -> bool {
    let is_known = entry.text(TCA_KIND).is_some_and(|kind| REPEATABLE.contains(&kind.as_str()));
    let has_number_above = parent(entry) >> 16 != 0;
    let shares = [TCA_STAB, TCA_INGRESS_BLOCK, TCA_EGRESS_BLOCK].iter().any(|it| entry.value(*it).is_some());
    is_known && has_number_above && !shares
}

fn is_repeatable_filter(entry: &Entry) -> bool {
    let (Some(options), Some(classifier)) = (options(entry), classifier(entry)) else { return false };
    let has_old = classifier.police.is_some_and(|police| options.value(police).is_some());
    let is_of_tables = is_u32(entry)
        && (number(entry) < FIRST_OWN_TABLE
            || [TCA_U32_DIVISOR, TCA_U32_LINK].iter().any(|it| options.value(*it).is_some()));
    let actions = options.value(classifier.actions).unwrap_or_default().to_vec();
    let actions = Entry { bytes: actions, head: 0 };
    let known = |bytes: &[u8]| {
        let kind = Entry { bytes: bytes.to_vec(), head: 0 }.text(TCA_ACT_KIND);
        kind.is_some_and(|kind| ACTIONS.contains(&kind.as_str()))
    };
    !has_old && !is_of_tables && actions.attributes().all(|(_, place)| known(&actions.bytes[place]))
}

fn classifier(entry: &Entry) -> Option<&'static Classifier> {
    let kind = entry.text(TCA_KIND)?;
    CLASSIFIERS.iter().find(|classifier| classifier.name == kind)
}

fn options(entry: &Entry) -> Option<Entry> {
    Some(Entry { bytes: entry.value(TCA_OPTIONS)?.to_vec(), head: 0 })
}

/// A message as the kernel accepts it, without counters.
fn settable(entry: &Entry) -> Entry {
    let mut entry = entry.only(&[TCA_KIND, TCA_OPTIONS, TCA_CHAIN]);
    match entry.text(TCA_KIND).as_deref() {
        Some("htb") => tell_htb(&mut entry),
        Some("u32") => free_of_table(&mut entry),
        _ => {}
    }
    settle_flags(&mut entry);
    entry
}

/// htb's version is read as a whole, and written as its first half (`HTB_VER` of linux/pkt_sched.h).
fn tell_htb(entry: &mut Entry) {
    let version = options(entry).and_then(|options| options.place(TCA_HTB_INIT));
    if let (Some(version), Some(options)) = (version, entry.place(TCA_OPTIONS)) {
        let at = options.start + version.start;
        let half = entry.head_number(at) >> 16;
        entry.bytes[at..at + 4].copy_from_slice(&half.to_ne_bytes());
    }
}

/// u32 numbers its automatic tables in order of creation, so this filter's table may get another number.
fn free_of_table(entry: &mut Entry) {
    let Some(options) = options(entry) else { return };
    let own = number(entry) & 0xfff;
    let without = options.without(&[TCA_U32_HASH]).bytes;
    *entry = entry.with(TCA_OPTIONS, &without);
    entry.bytes[8..12].copy_from_slice(&own.to_ne_bytes());
}

/// Removes read-only flags of hardware offload.
fn settle_flags(entry: &mut Entry) {
    let flags = classifier(entry).and_then(|it| options(entry)?.place(it.flags));
    if let (Some(flags), Some(options)) = (flags, entry.place(TCA_OPTIONS)) {
        let at = options.start + flags.start;
        let set = u32::from(entry.bytes[at] & SETTABLE_FLAGS);
        entry.bytes[at..at + 4].copy_from_slice(&set.to_ne_bytes());
    }
}

fn qdisc_words(entry: &Entry, interface: &str) -> String {
    let kind = entry.text(TCA_KIND).unwrap_or_default();
    format!("qdisc replace dev {interface} {} handle {:x}: {kind}", qdisc_place(entry), number(entry) >> 16)
}

fn qdisc_place(entry: &Entry) -> String {
    match (parent(entry), entry.text(TCA_KIND)) {
        (ROOT, _) => "root".to_owned(),
        (INGRESS, kind) => kind.unwrap_or_default(),
        (parent, _) => format!("parent {}", shown(parent)),
    }
}

fn class_words(entry: &Entry, interface: &str) -> String {
    let kind = entry.text(TCA_KIND).unwrap_or_default();
    let place = if parent(entry) == ROOT { "root".to_owned() } else { format!("parent {}", shown(parent(entry))) };
    format!("class replace dev {interface} {place} classid {} {kind}", shown(number(entry)))
}

fn filter_words(entry: &Entry, interface: &str) -> String {
    let place = match parent(entry) {
        parent if parent == SIDES[0] => "ingress".to_owned(),
        parent if parent == SIDES[1] => "egress".to_owned(),
        parent => format!("parent {}", shown(parent)),
    };
    let (kind, priority) = (entry.text(TCA_KIND).unwrap_or_default(), entry.head_number(16) >> 16);
    format!("filter add dev {interface} {place} pref {priority} {kind}")
}

fn shown(number: u32) -> String {
    format!("{:x}:{:x}", number >> 16, number & 0xffff)
}
