//! The test bed: its endpoints and what joins them.

use maud::{Markup, html};
use model::{Bed, Dut, Endpoint, Gateway, Run, alike::distinct, trial::PathDevice};
use unicode_width::UnicodeWidthStr;

use crate::{
    page::{Drawing, Figure, Number},
    show,
    texts::Texts,
};

/// One endpoint's box and the room between two, in the drawing's units.
const BOX: u32 = 296;
const GAP: u32 = 132;
/// A virtual switch's box, and the room between the parts of a device under test.
const SMALL_BOX: u32 = 150;
const SMALL_GAP: u32 = 56;
/// Room between two senders.
const ROW: u32 = 18;
/// Inside a box: room at the edge, and from one line to the next.
const PAD: u32 = 14;
const LINE: u32 = 21;
/// A narrow character of a label and of a value, rounded up.
const LABEL_CHAR: usize = 7;
const VALUE_CHAR: usize = 8;

/// One endpoint: its heading, and label and value of each fact.
struct End {
    heading: String,
    facts: Vec<(String, String)>,
    width: u32,
}

/// The senders, their receiver, and what stands between them.
struct Topology {
    senders: Vec<End>,
    /// The device under test, in parts from the senders to the receiver, or what joins several senders to the receiver.
    between: Vec<End>,
    receiver: Option<End>,
}

/// The endpoints, what joins them, and those devices behind the endpoints that packets go through.
pub(crate) fn topology(run: &Run, devices: &[&PathDevice], t: &Texts) -> Figure {
    let bed = &run.bed;
    let layout = bed.layout();
    let drawn = Topology {
        senders: bed.senders().iter().map(|end| End::of(end, devices, t)).collect(),
        between: between(bed, t),
        receiver: bed.receiver().map(|end| End::of(end, devices, t)),
    };
    let (link, meaning) = (t.get(&format!("link-{layout}")), t.get(&format!("link-{layout}-meaning")));
    let words: Vec<String> = drawn.all().map(End::words).chain([format!("{link}: {meaning}")]).collect();
    Figure {
        number: Number::default(),
        caption: t.get("topology-caption"),
        note: meaning,
        description: words.join("; "),
        drawing: drawn.drawing(&link),
        legend: vec![],
        floats: false,
    }
}

/// Devices that packets go through between the ends; none where a link joins them.
fn between(bed: &Bed, t: &Texts) -> Vec<End> {
    let joint = t.find(&format!("joint-{}", bed.layout())).unwrap_or_default();
    let switch = |name: &str| End { width: SMALL_BOX, ..End::joint(name) };
    match &bed.dut {
        // A joint of a router's bed stands at both of its sides.
        Some(dut) if bed.makes_its_links() && !dut.gateways.is_empty() && !joint.is_empty() => {
            vec![switch(&joint), End::device(dut, None, t), switch(&joint)]
        }
        Some(dut) => vec![End::device(dut, Some(joint).filter(|_| bed.makes_its_links()), t)],
        None if bed.senders().len() > 1 => vec![End::joint(&joint)],
        None => vec![],
    }
}

impl End {
    fn of(endpoint: &Endpoint, devices: &[&PathDevice], t: &Texts) -> Self {
        let cpus: Vec<String> = endpoint.cpus.iter().map(ToString::to_string).collect();
        let cpus = if cpus.is_empty() { t.get("not-pinned") } else { cpus.join(", ") };
        let places =
            [(t.get("endpoint-machine"), &endpoint.machine), (t.get("endpoint-namespace"), &endpoint.namespace)];
        let places = places.into_iter().filter(|(_, place)| !place.is_empty());
        let mut facts: Vec<_> = places.map(|(label, place)| (label, place.clone())).collect();
        facts.extend([
            (t.get("endpoint-interface"), endpoint.interface.clone()),
            (t.get("endpoint-driver"), show::reading(&endpoint.driver, t, String::clone)),
            ("MTU".to_owned(), format!("{} B", endpoint.mtu.0)),
        ]);
        facts.extend(behind(endpoint, devices).into_iter().map(|device| {
            let name = format!("{} ({})", device.name, device.kind);
            (t.with("endpoint-device", &[("name", &name)]), format!("MTU {} B", device.mtu.0))
        }));
        let labels = [t.get("endpoint-addresses")].into_iter().chain(std::iter::repeat(String::new()));
        facts.extend(labels.zip(endpoint.addresses.iter().map(ToString::to_string)));
        facts.push((t.get("endpoint-cpu"), cpus));
        Self { heading: t.with("endpoint", &[("name", &endpoint.name)]), facts, width: BOX }
    }

    /// The device under test. In a lab, one that does not route is what joins the ends.
    fn device(dut: &Dut, joint: Option<String>, t: &Texts) -> Self {
        let machine = (!dut.machine.is_empty()).then(|| (t.get("endpoint-machine"), dut.machine.clone()));
        let gateway = |gateway: &Gateway| {
            let label = t.with("dut-gateway", &[("name", &gateway.endpoint)]);
            (label, format!("{}/{}", gateway.address, gateway.prefix))
        };
        let mut facts: Vec<_> = machine.into_iter().chain(dut.gateways.iter().map(gateway)).collect();
        if !dut.cpus.is_empty() {
            let cpus: Vec<String> = dut.cpus.iter().map(ToString::to_string).collect();
            facts.push((t.get("endpoint-cpu"), cpus.join(", ")));
        }
        if let Some(heading) = joint.filter(|_| dut.gateways.is_empty()) {
            facts.insert(0, (t.get("dut-heading"), String::new()));
            return Self { heading, facts, width: BOX };
        }
        if dut.gateways.is_empty() {
            facts.push((t.get("dut-forwards"), String::new()));
        }
        Self { heading: t.get("dut-heading"), facts, width: BOX }
    }

    /// A bridge or a network, of which nothing more is known.
    fn joint(name: &str) -> Self {
        Self { heading: name.to_owned(), facts: vec![], width: BOX }
    }

    fn words(&self) -> String {
        let facts: Vec<String> =
            self.facts.iter().map(|(label, value)| format!("{label} {value}").trim().to_owned()).collect();
        if facts.is_empty() { self.heading.clone() } else { format!("{}: {}", self.heading, facts.join(", ")) }
    }

    fn height(&self) -> u32 {
        self.lines() * LINE + 2 * PAD
    }

    fn lines(&self) -> u32 {
        1 + self.facts.iter().map(|(label, value)| 1 + u32::from(self.is_broken(label, value))).sum::<u32>()
    }

    /// Whether a value needs a line of its own below its label.
    fn is_broken(&self, label: &str, value: &str) -> bool {
        let room = (self.width - 2 * PAD) as usize;
        !label.is_empty() && label.width() * LABEL_CHAR + value.width() * VALUE_CHAR > room
    }
}

/// Devices behind this endpoint's interface, each once.
fn behind<'a>(endpoint: &Endpoint, devices: &[&'a PathDevice]) -> Vec<&'a PathDevice> {
    let is_behind = |device: &&&PathDevice| device.host == endpoint.name && device.name != endpoint.interface;
    distinct(devices.iter().filter(is_behind).copied())
}

impl Topology {
    /// The senders, what is between, and the receiver.
    fn all(&self) -> impl Iterator<Item = &End> {
        self.senders.iter().chain(&self.between).chain(&self.receiver)
    }

    /// Senders below each other, all of one height; what is between is as high as all of them, so that each has a link of its own to it.
    fn drawing(&self, link: &str) -> Drawing {
        let height_of_end = self.senders.iter().chain(&self.receiver).map(End::height).max().unwrap_or(0);
        let count = self.senders.len().max(1) as u32;
        let senders = count * (height_of_end + ROW) - ROW;
        let height = self.between.iter().map(End::height).max().unwrap_or(0).max(senders);
        let top = |index: usize| (height - senders) / 2 + index as u32 * (height_of_end + ROW);
        let lefts = self.lefts();
        let last = lefts[lefts.len() - 1];
        let content = html! {
            @for (index, end) in self.senders.iter().enumerate() {
                (link_to((lefts[0], top(index) + height_of_end / 2), GAP, link))
                (boxed(end, (0, top(index)), height_of_end))
            }
            @for (part, place) in self.between.iter().zip(lefts.windows(2)) {
                @if place[1] != last {
                    (link_to((place[1], height / 2), SMALL_GAP, ""))
                } @else if self.receiver.is_some() {
                    (link_to((last, height / 2), GAP, link))
                }
                (boxed(part, (place[0], 0), height))
            }
            @if let Some(receiver) = &self.receiver {
                (boxed(receiver, (last, (height - height_of_end) / 2), height_of_end))
            }
        };
        Drawing::Svg { width: last + BOX, height, content: content.into_string() }
    }

    /// Left edges of the parts between, and of the receiver.
    fn lefts(&self) -> Vec<u32> {
        let mut lefts = vec![BOX + GAP];
        for (place, part) in self.between.iter().enumerate() {
            let gap = if place + 1 == self.between.len() { GAP } else { SMALL_GAP };
            lefts.push(lefts[place] + part.width + gap);
        }
        lefts
    }
}

/// A box with the facts in its middle.
fn boxed(end: &End, (left, top): (u32, u32), height: u32) -> Markup {
    html! {
        rect.box x=(left + 1) y=(top + 1) width=(end.width - 2) height=(height - 2) rx="6" {}
        (end_in_box(end, left, top + (height - end.height()) / 2))
    }
}

fn end_in_box(end: &End, left: u32, top: u32) -> Markup {
    let mut y = top + PAD + 12;
    html! {
        text.heading x=(left + PAD) y=(y) { (end.heading) }
        @for (label, value) in &end.facts {
            @let label_y = { y += LINE; y };
            @let value_y = { y += if end.is_broken(label, value) { LINE } else { 0 }; y };
            text.name x=(left + PAD) y=(label_y) { (label) }
            text.value x=(left + end.width - PAD) y=(value_y) text-anchor="end" { (value) }
        }
    }
}

/// The cable of this length that ends at a box.
fn link_to((right, y): (u32, u32), length: u32, name: &str) -> Markup {
    let left = right - length;
    html! {
        line.link x1=(left) x2=(right) y1=(y) y2=(y) {}
        circle.link cx=(left) cy=(y) r="5" {}
        circle.link cx=(right) cy=(y) r="5" {}
        @if !name.is_empty() {
            text.name x=(left + length / 2) y=(y - 10) text-anchor="middle" { (name) }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Bed, Endpoint, Plan, fixture};

    use super::*;
    use crate::lang::Lang;

    fn figure(bed: Bed, lang: Lang) -> (Figure, String) {
        let plan = Plan::parse("name = \"t\"\n[[path]]", &[]).unwrap();
        let figure = topology(&Run { bed, ..fixture::run(plan) }, &[], Texts::of(lang));
        let Drawing::Svg { content, .. } = figure.drawing.clone() else { panic!("a drawing") };
        (figure, content)
    }

    fn bed(senders: usize) -> Bed {
        let lab = fixture::lab();
        let names = (1..=senders).map(|number| format!("a{number}")).chain(["b".to_owned()]);
        let endpoints = names.map(|name| Endpoint { name, ..lab.endpoints[0].clone() }).collect();
        Bed { endpoints, ..lab }
    }

    fn boxes(content: &str) -> usize {
        content.matches("<rect class=\"box\"").count()
    }

    /// The height of each link.
    fn links(content: &str) -> Vec<u32> {
        let lines = content.split("<line class=\"link\"").skip(1);
        let height = |line: &str| line.split("y1=\"").nth(1)?.split('"').next()?.parse().ok();
        lines.filter_map(height).collect()
    }

    #[test]
    fn several_senders_hang_on_a_bridge_and_not_on_each_other() {
        let (figure, content) = figure(bed(3), Lang::En);
        assert_eq!(boxes(&content), 5, "three senders, the bridge, the receiver");
        let heights = links(&content);
        assert!(
            heights.len() == 4 && heights[..3].is_sorted_by(|a, b| a < b),
            "each has a link of its own: {heights:?}"
        );
        assert!(figure.description.contains("; Linux bridge; Endpoint b: "), "{}", figure.description);
        assert!(!figure.note.contains("two endpoints"), "{}", figure.note);
        let (japanese, _) = self::figure(bed(3), Lang::Ja);
        assert!(japanese.note.contains("ブリッジ") && !japanese.note.contains("2つ"), "{}", japanese.note);
    }

    #[test]
    fn two_ends_are_joined_by_one_link() {
        let (figure, content) = figure(bed(1), Lang::En);
        assert_eq!((boxes(&content), links(&content).len()), (2, 1));
        assert!(figure.note.contains("between the two endpoints"));
    }

    #[test]
    fn a_device_between_is_named_where_the_link_is() {
        let dut = Bed { dut: Some(Dut::default()), ..bed(1) };
        let (figure, content) = figure(dut, Lang::En);
        assert_eq!((boxes(&content), links(&content).len()), (3, 2));
        assert!(figure.note.contains("device under test"), "{}", figure.note);
        assert!(figure.description.contains("Linux bridge: Device under test"), "{}", figure.description);
    }

    #[test]
    fn a_router_behind_switches_is_drawn_as_a_chain() {
        let gateway = |endpoint: &str, address: &str| Gateway {
            endpoint: endpoint.to_owned(),
            address: address.parse().unwrap(),
            prefix: 24,
        };
        let gateways = vec![gateway("a1", "198.18.0.1"), gateway("b", "198.19.0.1")];
        let dut = Some(Dut { machine: "vswitch".to_owned(), gateways, cpus: vec![1] });
        let (figure, content) = figure(Bed { dut, ..bed(1) }, Lang::Ja);
        assert_eq!((boxes(&content), links(&content).len()), (5, 4));
        let chain = "; Linux ブリッジ; 被試験装置(DUT): マシン vswitch, a1 側 198.18.0.1/24, b 側 198.19.0.1/24, 固定先のコア 1; Linux ブリッジ; ";
        assert!(figure.description.contains(chain), "{}", figure.description);
        assert_eq!(content.matches(">veth ペア<").count(), 2, "the links of the ends alone are named");
    }
}
