//! The test bed: its endpoints and what joins them.

use maud::{Markup, html};
use model::{Dut, Endpoint, Gateway, Run, alike::distinct, trial::PathDevice};
use unicode_width::UnicodeWidthStr;

use crate::{
    page::{Drawing, Figure},
    texts::Texts,
};

/// One endpoint's box and the room between two, in the drawing's units.
const BOX: u32 = 296;
const GAP: u32 = 132;
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
}

/// The endpoints, the link, and those devices behind the endpoints that packets go through.
pub(crate) fn topology(run: &Run, devices: &[&PathDevice], t: &Texts) -> Figure {
    let mut ends: Vec<End> = run.bed.endpoints.iter().map(|endpoint| End::of(endpoint, devices, t)).collect();
    let before_receiver = ends.len().saturating_sub(1);
    ends.splice(before_receiver..before_receiver, run.bed.dut.as_ref().map(|dut| End::between(dut, t)));
    let kind = run.bed.kind.word();
    let (link, meaning) = (t.get(&format!("link-{kind}")), t.get(&format!("link-{kind}-meaning")));
    let words: Vec<String> = ends.iter().map(End::words).chain([format!("{link}: {meaning}")]).collect();
    Figure {
        number: 0,
        caption: t.get("topology-caption"),
        note: meaning,
        description: words.join("; "),
        drawing: drawing(&ends, &link),
        legend: vec![],
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
            (t.get("endpoint-driver"), endpoint.driver.clone()),
            ("MTU".to_owned(), format!("{} B", endpoint.mtu.0)),
        ]);
        facts.extend(behind(endpoint, devices).into_iter().map(|device| {
            let name = format!("{} ({})", device.name, device.kind);
            (t.with("endpoint-device", &[("name", &name)]), format!("MTU {} B", device.mtu.0))
        }));
        let labels = [t.get("endpoint-addresses")].into_iter().chain(std::iter::repeat(String::new()));
        facts.extend(labels.zip(endpoint.addresses.iter().map(ToString::to_string)));
        facts.push((t.get("endpoint-cpu"), cpus));
        Self { heading: t.with("endpoint", &[("name", &endpoint.name)]), facts }
    }

    /// The device under test.
    fn between(dut: &Dut, t: &Texts) -> Self {
        let machine = (!dut.machine.is_empty()).then(|| (t.get("endpoint-machine"), dut.machine.clone()));
        let gateway = |gateway: &Gateway| {
            let label = t.with("dut-gateway", &[("name", &gateway.endpoint)]);
            (label, format!("{}/{}", gateway.address, gateway.prefix))
        };
        let mut facts: Vec<_> = machine.into_iter().chain(dut.gateways.iter().map(gateway)).collect();
        if dut.gateways.is_empty() {
            facts.push((t.get("dut-forwards"), String::new()));
        }
        Self { heading: t.get("dut-heading"), facts }
    }

    fn words(&self) -> String {
        let facts: Vec<String> =
            self.facts.iter().map(|(label, value)| format!("{label} {value}").trim().to_owned()).collect();
        format!("{}: {}", self.heading, facts.join(", "))
    }

    fn lines(&self) -> u32 {
        1 + self.facts.iter().map(|(label, value)| 1 + u32::from(is_broken(label, value))).sum::<u32>()
    }
}

/// Devices behind this endpoint's interface, each once.
fn behind<'a>(endpoint: &Endpoint, devices: &[&'a PathDevice]) -> Vec<&'a PathDevice> {
    let is_behind = |device: &&&PathDevice| device.host == endpoint.name && device.name != endpoint.interface;
    distinct(devices.iter().filter(is_behind).copied())
}

/// Whether a value needs a line of its own below its label.
fn is_broken(label: &str, value: &str) -> bool {
    let room = (BOX - 2 * PAD) as usize;
    !label.is_empty() && label.width() * LABEL_CHAR + value.width() * VALUE_CHAR > room
}

fn drawing(ends: &[End], link: &str) -> Drawing {
    let height = ends.iter().map(End::lines).max().unwrap_or(1) * LINE + 2 * PAD;
    let left = |index: usize| index as u32 * (BOX + GAP);
    let content = html! {
        @for (index, end) in ends.iter().enumerate() {
            @if index > 0 { (link_to(left(index), height / 2, link)) }
            rect.box x=(left(index) + 1) y="1" width=(BOX - 2) height=(height - 2) rx="6" {}
            (end_in_box(end, left(index)))
        }
    };
    let width = ends.len() as u32 * (BOX + GAP) - GAP;
    Drawing::Svg { width, height, content: content.into_string() }
}

fn end_in_box(end: &End, left: u32) -> Markup {
    let mut y = PAD + 12;
    html! {
        text.heading x=(left + PAD) y=(y) { (end.heading) }
        @for (label, value) in &end.facts {
            @let label_y = { y += LINE; y };
            @let value_y = { y += if is_broken(label, value) { LINE } else { 0 }; y };
            text.name x=(left + PAD) y=(label_y) { (label) }
            text.value x=(left + BOX - PAD) y=(value_y) text-anchor="end" { (value) }
        }
    }
}

/// The cable that ends at a box.
fn link_to(right: u32, y: u32, name: &str) -> Markup {
    let left = right - GAP;
    html! {
        line.link x1=(left) x2=(right) y1=(y) y2=(y) {}
        circle.link cx=(left) cy=(y) r="5" {}
        circle.link cx=(right) cy=(y) r="5" {}
        text.name x=(left + GAP / 2) y=(y - 10) text-anchor="middle" { (name) }
    }
}
