//! The near side's judgement: what the device answers, and what comes back. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use frame::{
    headers::{self, UDP},
    parse::{self, Icmp, Network, Transport, parse},
};
use model::{CheckResult, ForwardingCheck as Check, ForwardingFault as Fault, NotApplicable};

use super::{
    craft::{Group, Setting},
    tally::Tally,
    view::view,
};

/// An ICMP error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    kind: u8,
    code: u8,
    /// The told MTU, where the answer tells one.
    mtu: Option<u32>,
}

/// Frames that came to the port of the near side.
pub(super) struct Answers {
    setting: Setting,
    /// The first answer to each group.
    first: Vec<(Group, Answer)>,
    returned: u64,
}

impl Answers {
    pub(super) fn new(setting: Setting) -> Self {
        Self { setting, first: Vec::new(), returned: 0 }
    }

    /// Whether a packet of this group was answered.
    pub(super) fn has(&self, group: Group) -> bool {
        self.answer_to(group).is_some()
    }

    fn answer_to(&self, group: Group) -> Option<Answer> {
        self.first.iter().find(|(of, _)| *of == group).map(|(_, answer)| *answer)
    }

    /// Looks at one frame that came from outside, without FCS.
    pub(super) fn take(&mut self, frame: &[u8]) {
        if let Some(seen) = view(frame)
            && let Some(tag) = seen.tag()
        {
            let is_ours =
                tag.token == self.setting.token as u16 && Group::of_number(tag.number(self.setting.token)).is_some();
            self.returned += u64::from(is_ours && seen.is_of(&self.setting));
            return;
        }
        let Ok(packet) = parse(frame) else { return };
        let Network::Ip(parse::Ip { destination, transport: Transport::Icmp(icmp), .. }) = packet.network else {
            return;
        };
        if destination == self.setting.source
            && let Some((group, answer)) = self.read(&icmp)
            && !self.has(group)
        {
            self.first.push((group, answer));
        }
    }

    /// Reads an error about a packet of ours; `None` for other messages.
    fn read(&self, icmp: &Icmp<'_>) -> Option<(Group, Answer)> {
        let errors: &[u8] = if self.setting.is_v4() { &[3, 11, 12] } else { &[1, 2, 3, 4] };
        if !errors.contains(&icmp.kind) {
            return None;
        }
        let (rest, quoted) = icmp.body.split_first_chunk::<4>()?;
        let header = if self.setting.is_v4() { usize::from(quoted.first()? & 0xf) * 4 } else { headers::IPV6_HEADER };
        let protocol = *quoted.get(if self.setting.is_v4() { 9 } else { 6 })?;
        let [a, b, c, d] = *quoted.get(header..)?.first_chunk::<4>()?;
        let [source, destination] = [[a, b], [c, d]].map(u16::from_be_bytes);
        let group = Group::of_port(source)?;
        if protocol != UDP || destination != self.setting.port || quoted_addresses(quoted)? != self.ends(group)? {
            return None;
        }
        let [_, _, high, low] = *rest;
        let mtu = match self.setting.is_v4() {
            true => ((icmp.kind, icmp.code) == (3, 4)).then(|| u16::from_be_bytes([high, low]).into()),
            false => (icmp.kind == 2).then(|| u32::from_be_bytes(*rest)),
        };
        Some((group, Answer { kind: icmp.kind, code: icmp.code, mtu }))
    }

    /// Source and destination of a group's packets.
    fn ends(&self, group: Group) -> Option<[IpAddr; 2]> {
        let setting = &self.setting;
        let destination = if group == Group::Unreachable { setting.spare? } else { setting.destination };
        Some([setting.source, destination])
    }

    /// Outcomes of the checks that this side makes; `sent` are all its frames, `asked` the packets of a group that had to be answered.
    pub(super) fn finish(self, sent: u64, asked: impl Fn(Group) -> u64) -> Vec<CheckResult> {
        let mut tally = Tally::default();
        let fault = (self.returned > 0).then_some(Fault::CameBack { frames: self.returned });
        tally.frames(Check::Returned, sent, self.returned, fault);
        for (group, check) in [
            (Group::TimeExceeded, Check::TimeExceeded),
            (Group::TooBig, Check::TooBig),
            (Group::Unreachable, Check::Unreachable),
        ] {
            match self.why_not(group) {
                Some(reason) => tally.leave_out(check, reason),
                None => {
                    let fault = self.fault(group, asked(group));
                    tally.frames(check, asked(group), u64::from(fault.is_some()), fault);
                }
            }
        }
        tally.outcomes()
    }

    fn why_not(&self, group: Group) -> Option<NotApplicable> {
        let setting = &self.setting;
        match group {
            _ if !setting.routed => Some(NotApplicable::NoRouter),
            Group::TooBig if !setting.has_larger() => Some(NotApplicable::NothingLarger),
            Group::Unreachable if setting.spare.is_none() => Some(NotApplicable::NoSpareAddress),
            Group::Unreachable if self.answer_to(group).is_some_and(|answer| self.is_by_host(answer)) => {
                Some(NotApplicable::AddressInUse)
            }
            _ => None,
        }
    }

    /// A host that has the address answers that its port is closed.
    fn is_by_host(&self, answer: Answer) -> bool {
        let closed = if self.setting.is_v4() { (3, 3) } else { (1, 4) };
        (answer.kind, answer.code) == closed
    }

    fn fault(&self, group: Group, sent: u64) -> Option<Fault> {
        let Some(answer) = self.answer_to(group) else { return Some(Fault::Unanswered { sent }) };
        let expected = self.expected(group);
        if expected.contains(&answer) {
            return None;
        }
        let expected = expected.first().map_or_else(String::new, |answer| self.words(*answer));
        Some(Fault::OtherAnswer { found: self.words(answer), expected })
    }

    /// Right answers, the usual one first (RFC 792, RFC 1191, RFC 1812; RFC 4443).
    fn expected(&self, group: Group) -> Vec<Answer> {
        let answer = |kind, code, mtu| Answer { kind, code, mtu };
        let mtu = Some(self.setting.far_mtu);
        match (group, self.setting.is_v4()) {
            (Group::TimeExceeded, true) => vec![answer(11, 0, None)],
            (Group::TimeExceeded, false) => vec![answer(3, 0, None)],
            (Group::TooBig, true) => vec![answer(3, 4, mtu)],
            (Group::TooBig, false) => vec![answer(2, 0, mtu)],
            (Group::Unreachable, true) => vec![answer(3, 1, None), answer(3, 0, None)],
            (Group::Unreachable, false) => vec![answer(1, 3, None), answer(1, 0, None)],
            _ => Vec::new(),
        }
    }

    fn words(&self, answer: Answer) -> String {
        let protocol = if self.setting.is_v4() { "ICMP" } else { "ICMPv6" };
        let mtu = answer.mtu.map_or_else(String::new, |mtu| format!(" MTU {mtu}"));
        format!("{protocol} {}/{}{mtu}", answer.kind, answer.code)
    }
}

/// Source and destination of a quoted packet; `None` where it is cut off before them.
fn quoted_addresses(quoted: &[u8]) -> Option<[IpAddr; 2]> {
    let first = *quoted.first()?;
    let v4 = |at: usize| Some(IpAddr::from(Ipv4Addr::from_octets(*quoted.get(at..)?.first_chunk()?)));
    let v6 = |at: usize| Some(IpAddr::from(Ipv6Addr::from_octets(*quoted.get(at..)?.first_chunk()?)));
    match first >> 4 {
        4 => Some([v4(12)?, v4(16)?]),
        6 => Some([v6(8)?, v6(24)?]),
        _ => None,
    }
}
