//! The bed as a picture: a box for each endpoint and the link between. Text in boxes rather than in an image, so that
//! it wraps on a phone and can be read out and copied.

use maud::{Markup, html};
use model::{Bed, BedKind, Endpoint};

use crate::texts::Texts;

/// The endpoints and the link.
pub(crate) fn topology(bed: &Bed, t: &Texts) -> Markup {
    html! {
        figure.topology {
            figcaption { (t.get("topology-caption")) }
            div.bed {
                @for (index, endpoint) in bed.endpoints.iter().enumerate() {
                    @if index > 0 { (link(bed.kind, t)) }
                    (endpoint_box(endpoint, t))
                }
            }
        }
    }
}

fn endpoint_box(endpoint: &Endpoint, t: &Texts) -> Markup {
    let addresses: Vec<String> = endpoint.addresses.iter().map(ToString::to_string).collect();
    let cpus: Vec<String> = endpoint.cpus.iter().map(ToString::to_string).collect();
    let cpus = if cpus.is_empty() { t.get("not-pinned") } else { cpus.join(", ") };
    html! {
        div.endpoint {
            h3 { (t.with("endpoint", &[("name", &endpoint.name)])) }
            dl {
                dt { (t.get("endpoint-namespace")) } dd { code { (endpoint.namespace) } }
                dt { (t.get("endpoint-interface")) } dd { code { (endpoint.interface) } }
                dt { (t.get("endpoint-driver")) } dd { code { (endpoint.driver) } }
                dt { "MTU" } dd { (endpoint.mtu.0) }
                dt { (t.get("endpoint-addresses")) } dd { code { (addresses.join(", ")) } }
                dt { (t.get("endpoint-cpu")) } dd {
                    (cpus)
                    // Why is the program's own word on the machine, in English.
                    @if !endpoint.cpus_why.is_empty() { span.note lang="en" { " – " (endpoint.cpus_why) } }
                }
            }
        }
    }
}

fn link(kind: BedKind, t: &Texts) -> Markup {
    let (name, meaning) = match kind {
        BedKind::Lab => (t.get("link-veth"), t.get("link-veth-meaning")),
    };
    html! {
        div.link {
            span { (name) }
            svg viewBox="0 0 90 16" role="img" aria-labelledby="link-title" {
                title id="link-title" { (meaning) }
                line x1="9" x2="81" y1="8" y2="8" {}
                circle cx="6" cy="8" r="5" {}
                circle cx="84" cy="8" r="5" {}
            }
        }
    }
}
