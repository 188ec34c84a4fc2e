//! The far side's judgement: each arrived frame beside the one that was sent. Pure.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Display,
};

use model::{
    CheckResult, ForwardingCheck as Check, ForwardingFault as Fault, ForwardingField as Field, NotApplicable,
    stream::Vlan,
};

use super::{
    craft::{Crafted, Group, Setting, craft, identification},
    tally::Tally,
    view::{Piece, View, view},
};

/// Judges arrived frames.
pub(super) struct FrameChecker {
    setting: Setting,
    crafted: Vec<Crafted>,
    /// Place of each frame in `crafted`, by group and number.
    places: HashMap<(u16, u64), usize>,
    /// Number of arrivals of each frame.
    arrived: Vec<u64>,
    /// Pieces of each datagram in fragments: by identification and offset.
    pieces: BTreeMap<(u32, usize), Vec<u8>>,
    /// The highest number of the flow that has arrived.
    highest: Option<u64>,
    frames: u64,
    /// Frames that had arrived before.
    again: u64,
    tally: Tally,
}

impl FrameChecker {
    pub(super) fn new(setting: Setting) -> Self {
        let crafted = craft(&setting);
        let place = |(place, made): (usize, &Crafted)| ((made.group.number(), made.number), place);
        let places = crafted.iter().enumerate().map(place).collect();
        let arrived = vec![0; crafted.len()];
        let (pieces, tally) = (BTreeMap::new(), Tally::default());
        Self { setting, crafted, places, arrived, pieces, highest: None, frames: 0, again: 0, tally }
    }

    /// Crafted frames that arrived.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// Compares one arrived frame, without FCS. Frames of others are not looked at.
    pub(super) fn take(&mut self, frame: &[u8]) {
        let Some(seen) = view(frame).filter(|seen| seen.is_v4() == self.setting.is_v4()) else { return };
        if self.take_piece(&seen) {
            return;
        }
        let tag = seen.tag();
        if tag.is_some_and(|tag| tag.token != self.setting.token as u16 || !seen.is_of(&self.setting)) {
            return;
        }
        match tag.and_then(|tag| self.places.get(&(tag.number(self.setting.token), tag.sequence)).copied()) {
            Some(place) => self.take_ours(place, &seen),
            None => self.take_damaged(&seen),
        }
    }

    fn take_ours(&mut self, place: usize, seen: &View<'_>) {
        self.arrived[place] += 1;
        let is_again = self.arrived[place] > 1;
        self.came(is_again);
        let made = &self.crafted[place];
        if is_again || !made.group.arrives() {
            return;
        }
        let (group, number) = (made.group, made.number);
        if let Some(sent) = made.frames.first().and_then(|sent| view(sent)) {
            let (setting, tally) = (&self.setting, &mut self.tally);
            Comparison { setting, tally, sent: &sent, seen }.all(group == Group::Vlan);
        }
        if group == Group::Flow {
            self.order(number);
        }
    }

    fn came(&mut self, is_again: bool) {
        self.frames += 1;
        self.again += u64::from(is_again);
        self.tally.frames(Check::Duplicates, 1, u64::from(is_again), None);
    }

    /// Keeps a fragment of ours; whether it was one. One that ends behind the datagram that was sent is wrong.
    fn take_piece(&mut self, seen: &View<'_>) -> bool {
        let Some(piece) = seen.piece() else { return false };
        if seen.addresses() != [self.setting.source, self.setting.destination] {
            return false;
        }
        let mut cut = self.crafted.iter().filter(|made| made.group == Group::Fragments);
        let is_of = |made: &&Crafted| identification(&self.setting, made.number) == piece.identification;
        let Some(length) = cut.find(is_of).map(|made| sent_body(made).len()) else { return false };
        if piece.offset + piece.bytes.len() <= length {
            let before = self.pieces.insert((piece.identification, piece.offset), piece.bytes.to_vec());
            self.came(before.is_some());
        } else {
            self.frames += 1;
            self.tally.frame(Check::Fragments, Some(beyond(&piece, length)));
        }
        true
    }

    /// A frame with our ports and without a tag that belongs to a sent frame: its payload was changed.
    fn take_damaged(&mut self, seen: &View<'_>) {
        let Some([source, destination, _]) = seen.datagram() else { return };
        let is_ours = seen.addresses() == [self.setting.source, self.setting.destination];
        if !is_ours || destination != self.setting.port || Group::of_port(source).is_none() {
            return;
        }
        self.frames += 1;
        let expected = format!("0x{:04x}… @ 0", frame::tag::MAGIC);
        let tag = seen.payload().iter().take(frame::tag::SHORT);
        let found = format!("0x{} @ 0", tag.map(|byte| format!("{byte:02x}")).collect::<String>());
        let fault = Fault::Changed { field: Field::PayloadByte, sent: expected.clone(), found, expected };
        self.tally.frame(Check::Payload, Some(fault));
    }

    fn order(&mut self, number: u64) {
        let behind = self.highest.filter(|highest| number < *highest);
        let fault = behind.map(|behind| Fault::OutOfOrder { frames: 1, number, behind });
        self.tally.frame(Check::Order, fault);
        self.highest = self.highest.max(Some(number));
    }

    /// Outcomes of the checks that this side makes.
    pub(super) fn finish(mut self) -> Vec<CheckResult> {
        self.delivery();
        self.lengths();
        self.values(Group::HopLimit, Check::HopLimit);
        self.values(Group::TrafficClass, Check::TrafficClass);
        self.tags();
        self.fragments();
        self.dropped();
        if !self.setting.is_v4() {
            self.tally.leave_out(Check::HeaderChecksum, NotApplicable::NoHeaderChecksum);
        }
        let mut outcomes = self.tally.outcomes();
        outcomes.iter_mut().for_each(count_all);
        outcomes
    }

    /// Numbers of sent and of arrived frames of a group.
    fn counted(&self, group: Group) -> [u64; 2] {
        let of = self.crafted.iter().zip(&self.arrived).filter(|(made, _)| made.group == group);
        of.fold([0, 0], |[sent, came], (_, arrived)| [sent + 1, came + u64::from(*arrived > 0)])
    }

    /// Values of a group that were sent, and those with an arrived frame.
    fn valued(&self, group: Group) -> [BTreeSet<u32>; 2] {
        let of = || self.crafted.iter().zip(&self.arrived).filter(|(made, _)| made.group == group);
        let came = of().filter(|(_, arrived)| **arrived > 0);
        [of().map(|(made, _)| made.value).collect(), came.map(|(made, _)| made.value).collect()]
    }

    fn delivery(&mut self) {
        let [sent, arrived] = self.counted(Group::Flow);
        let fault = (arrived < sent).then_some(Fault::Missing { sent, arrived });
        self.tally.frames(Check::Delivery, sent, sent - arrived, fault);
        let fault = (self.again > 0).then_some(Fault::Twice { frames: self.again });
        self.tally.frames(Check::Duplicates, 0, 0, fault);
        for check in [Check::Order, Check::Payload, Check::MacAddresses, Check::OtherFields, Check::HeaderChecksum] {
            // Known to the report also where nothing arrived.
            self.tally.frames(check, 0, 0, None);
        }
    }

    fn lengths(&mut self) {
        let [sent, came] = self.valued(Group::Lengths);
        let missing: Vec<u32> = sent.difference(&came).copied().collect();
        let (sent, arrived) = (sent.len() as u64, came.len() as u64);
        let ends = missing.first().zip(missing.last());
        let fault = ends.map(|(shortest, longest)| Fault::MissingLengths {
            sent,
            arrived,
            shortest: *shortest,
            longest: *longest,
        });
        self.tally.frames(Check::Lengths, sent, sent - arrived, fault);
    }

    /// Values of a field whose frames did not arrive, while others did.
    fn values(&mut self, group: Group, check: Check) {
        let [sent, came] = self.valued(group);
        let (sent, arrived) = (sent.len() as u64, came.len() as u64);
        let is_missing = arrived < sent && self.frames > 0;
        let fault = is_missing.then_some(Fault::Missing { sent, arrived });
        self.tally.frames(check, 0, if is_missing { sent - arrived } else { 0 }, fault);
    }

    fn tags(&mut self) {
        let [sent, came] = self.valued(Group::Vlan);
        let (sent, arrived) = (sent.len() as u64, came.len() as u64);
        match arrived {
            _ if self.setting.routed => self.tally.leave_out(Check::Vlan, NotApplicable::TagsEndAtRouters),
            0 => self.tally.leave_out(Check::Vlan, NotApplicable::TagsDoNotPass),
            _ => {
                let fault = (arrived < sent).then_some(Fault::Missing { sent, arrived });
                self.tally.frames(Check::Vlan, 0, sent - arrived, fault);
            }
        }
    }

    /// One datagram of two has to come whole; its pieces may have been cut again.
    fn fragments(&mut self) {
        let cut: Vec<&Crafted> = self.crafted.iter().filter(|made| made.group == Group::Fragments).collect();
        if self.frames == 0 || cut.is_empty() {
            self.tally.leave_out(Check::Fragments, NotApplicable::NothingArrived);
            return;
        }
        let sent: u64 = cut.iter().map(|made| made.frames.len() as u64).sum();
        let arrived = (self.pieces.len() as u64).min(sent);
        let bodies: Vec<[Vec<u8>; 2]> = cut.iter().map(|made| [sent_body(made), self.arrived_body(made)]).collect();
        let is_whole = bodies.iter().any(|[sent, came]| sent == came);
        let fault = match bodies.first() {
            _ if is_whole => None,
            Some([body, came]) if arrived == sent => changed_byte(body, came).map(|(body, came)| Fault::Changed {
                field: Field::PayloadByte,
                sent: body.clone(),
                found: came,
                expected: body,
            }),
            _ => Some(Fault::Missing { sent, arrived }),
        };
        let wrong = if is_whole { 0 } else { (sent - arrived).max(1) };
        self.tally.frames(Check::Fragments, sent, wrong, fault);
    }

    /// Arrived pieces of a datagram, as far as they follow each other.
    fn arrived_body(&self, made: &Crafted) -> Vec<u8> {
        let id = identification(&self.setting, made.number);
        let pieces = self.pieces.range((id, 0)..=(id, usize::MAX));
        joined(pieces.map(|((_, offset), bytes)| (*offset, bytes.as_slice())))
    }

    /// Frames that a router drops.
    fn dropped(&mut self) {
        for (group, check) in [
            (Group::TimeExceeded, Check::TimeExceeded),
            (Group::TooBig, Check::TooBig),
            (Group::Unreachable, Check::Unreachable),
        ] {
            let [sent, arrived] = self.counted(group);
            if arrived > 0 {
                self.tally.frames(check, sent, arrived, Some(Fault::NotDropped { sent, arrived }));
            }
        }
        let [sent, arrived] = self.counted(Group::BadChecksum);
        let check = Check::BadChecksum;
        match arrived {
            _ if !self.setting.is_v4() => self.tally.leave_out(check, NotApplicable::NoHeaderChecksum),
            _ if !self.setting.routed => self.tally.leave_out(check, NotApplicable::NoRouter),
            _ if self.frames == 0 => self.tally.leave_out(check, NotApplicable::NothingArrived),
            0 => self.tally.frames(check, sent, 0, None),
            _ => self.tally.frames(check, sent, arrived, Some(Fault::NotDropped { sent, arrived })),
        }
    }
}

/// The datagram that was sent in pieces.
fn sent_body(made: &Crafted) -> Vec<u8> {
    let pieces = made.frames.iter().filter_map(|frame| view(frame)?.piece());
    joined(pieces.map(|piece| (piece.offset, piece.bytes)))
}

/// The fault of a piece that ends behind a datagram of this length: its first byte that was not sent.
fn beyond(piece: &Piece<'_>, length: usize) -> Fault {
    let at = piece.offset.max(length);
    let byte = piece.bytes.get(at - piece.offset).map_or_else(|| "–".to_owned(), |byte| format!("0x{byte:02x}"));
    let sent = format!("– @ {at}");
    Fault::Changed { field: Field::PayloadByte, sent: sent.clone(), found: format!("{byte} @ {at}"), expected: sent }
}

/// Pieces put together, up to the first gap.
fn joined<'p>(pieces: impl Iterator<Item = (usize, &'p [u8])>) -> Vec<u8> {
    pieces.fold(Vec::new(), |mut whole, (offset, piece)| {
        if offset == whole.len() {
            whole.extend(piece);
        }
        whole
    })
}

/// The first byte that differs, as it was sent and as it arrived, with its place.
fn changed_byte(sent: &[u8], found: &[u8]) -> Option<(String, String)> {
    let at = (0..sent.len().max(found.len())).find(|at| sent.get(*at) != found.get(*at))?;
    let byte = |bytes: &[u8]| bytes.get(at).map_or_else(|| "–".to_owned(), |byte| format!("0x{byte:02x}"));
    Some((format!("{} @ {at}", byte(sent)), format!("{} @ {at}", byte(found))))
}

/// Puts the number of wrong frames into a fault that counts.
fn count_all(result: &mut CheckResult) {
    if let model::CheckOutcome::Failed { fault: Fault::OutOfOrder { frames, .. } } = &mut result.outcome {
        *frames = result.wrong;
    }
}

/// An arrived frame beside the one that was sent.
struct Comparison<'c> {
    setting: &'c Setting,
    tally: &'c mut Tally,
    sent: &'c View<'c>,
    seen: &'c View<'c>,
}

impl Comparison<'_> {
    fn all(&mut self, is_tagged: bool) {
        self.hop_limit();
        self.header_checksum();
        self.mac_addresses();
        self.traffic_class();
        self.tag(is_tagged);
        self.other_fields();
        self.payload();
    }

    /// Counts the frame, with the first of these fields that is not as expected.
    fn fields(&mut self, check: Check, fields: &[(Field, String, String, String)]) {
        let wrong = fields.iter().find(|(_, _, found, expected)| found != expected);
        let fault = wrong.map(|(field, sent, found, expected)| Fault::Changed {
            field: *field,
            sent: sent.clone(),
            found: found.clone(),
            expected: expected.clone(),
        });
        self.tally.frame(check, fault);
    }

    fn hop_limit(&mut self) {
        let [sent, found] = [self.sent.hop_limit(), self.seen.hop_limit()];
        let expected = if self.setting.routed { sent.saturating_sub(1) } else { sent };
        let field = (Field::HopLimit, sent.to_string(), found.to_string(), expected.to_string());
        self.fields(Check::HopLimit, &[field]);
    }

    fn header_checksum(&mut self) {
        if self.seen.is_v4() {
            let ([sent, _], [found, right]) = (self.sent.checksums(), self.seen.checksums());
            let [sent, found, right] = [sent, found, right].map(|sum| format!("0x{sum:04x}"));
            self.fields(Check::HeaderChecksum, &[(Field::HeaderChecksum, sent, found, right)]);
        }
    }

    /// Behind a router the destination is the far end's own, and the source is not the near end's any more.
    fn mac_addresses(&mut self) {
        let destination = (
            Field::DestinationMac,
            // The router's address is known to the near end alone.
            if self.setting.routed { "–".to_owned() } else { self.sent.destination.to_string() },
            self.seen.destination.to_string(),
            self.setting.far_mac.to_string(),
        );
        let (near, found) = (self.setting.near_mac, self.seen.source);
        let expected = match self.setting.routed {
            true if found == near => format!("≠ {near}"),
            true => found.to_string(),
            false => near.to_string(),
        };
        let source = (Field::SourceMac, self.sent.source.to_string(), found.to_string(), expected);
        self.fields(Check::MacAddresses, &[destination, source]);
    }

    fn traffic_class(&mut self) {
        let ([dscp, ecn], [seen_dscp, seen_ecn]) = (self.sent.class(), self.seen.class());
        self.fields(
            Check::TrafficClass,
            &[unchanged(Field::Dscp, dscp, seen_dscp), unchanged(Field::Ecn, ecn, seen_ecn)],
        );
    }

    /// Tags are counted where there were some; a tag that was put in is a fault too.
    fn tag(&mut self, is_tagged: bool) {
        let [sent, found] = [&self.sent.vlans, &self.seen.vlans].map(|vlans| tags(vlans));
        if is_tagged || sent != found {
            self.fields(Check::Vlan, &[unchanged(Field::VlanTag, sent, found)]);
        }
    }

    fn other_fields(&mut self) {
        let (sent, seen) = (self.sent, self.seen);
        let [[source, destination], [seen_source, seen_destination]] = [sent.addresses(), seen.addresses()];
        let mut fields = vec![
            unchanged(Field::SourceAddress, source, seen_source),
            unchanged(Field::DestinationAddress, destination, seen_destination),
            unchanged(Field::Length, length(sent), length(seen)),
        ];
        if sent.is_v4() {
            let [flags, seen_flags] = [sent, seen].map(|view| format!("0x{:04x}", view.fragment_field()));
            fields.push(unchanged(Field::Identification, sent.identification(), seen.identification()));
            fields.push(unchanged(Field::FragmentField, flags, seen_flags));
        } else {
            let [label, seen_label] = [sent, seen].map(|view| format!("0x{:05x}", view.flow_label()));
            fields.push(unchanged(Field::FlowLabel, label, seen_label));
        }
        if let Some(([from, to, sum], [seen_from, seen_to, seen_sum])) = sent.datagram().zip(seen.datagram()) {
            let [sum, seen_sum] = [sum, seen_sum].map(|sum| format!("0x{sum:04x}"));
            fields.push(unchanged(Field::Ports, format!("{from} → {to}"), format!("{seen_from} → {seen_to}")));
            fields.push(unchanged(Field::UdpChecksum, sum, seen_sum));
        }
        self.fields(Check::OtherFields, &fields);
    }

    fn payload(&mut self) {
        let changed = changed_byte(self.sent.payload(), self.seen.payload());
        let fields = Vec::from_iter(changed.map(|(sent, found)| unchanged(Field::PayloadByte, sent, found)));
        self.fields(Check::Payload, &fields);
    }
}

/// A field that has to arrive as it was sent.
fn unchanged<T: Display>(field: Field, sent: T, found: T) -> (Field, String, String, String) {
    (field, sent.to_string(), found.to_string(), sent.to_string())
}

/// Length of a packet, with the version that its header tells where its EtherType is another one's.
fn length(view: &View<'_>) -> String {
    let (length, told) = (view.length(), view.told_version());
    let right = if view.is_v4() { 4 } else { 6 };
    if told == right { length.to_string() } else { format!("{length} (IPv{told})") }
}

/// Tags as a report shows them: the outer one first, each with its number and priority.
fn tags(vlans: &[Vlan]) -> String {
    let tag = |vlan: &Vlan| format!("{} (PCP {})", vlan.id, vlan.priority);
    if vlans.is_empty() { "–".to_owned() } else { vlans.iter().map(tag).collect::<Vec<_>>().join(", ") }
}
