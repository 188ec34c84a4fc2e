//! The queueing discipline that everything an interface sends goes through, and what it replaced.

use model::nic::{Queueing, Saved};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};

use super::{
    message::Entry,
    queueing::{self, QDISCS, ROOT, TCA_KIND, kind, number, parent},
    shown,
};
use crate::{
    error::{On, Result},
    link::existing,
};

/// The disciplines of an interface of the caller's namespace.
pub fn queueing(interface: &str) -> Result<Queueing> {
    let index = index(interface)?;
    let root = QDISCS.of(index)?.into_iter().find(|entry| parent(entry) == ROOT);
    let saved = queueing::queueing(interface, index)?;
    Ok(Queueing {
        kind: root.as_ref().and_then(|entry| entry.text(TCA_KIND)).unwrap_or_else(|| "noqueue".to_owned()),
        is_default: root.is_none_or(|entry| number(&entry) == 0),
        saved,
    })
}

/// Disciplines, classes and filters of an interface that could not be put back, in words.
pub fn lasting_queueing(interface: &str) -> Result<Vec<String>> {
    queueing::lasting(interface, index(interface)?)
}

/// Puts a discipline of this kind at the root, with the kernel's values.
pub fn set_root_qdisc(interface: &str, kind: &str) -> Result<()> {
    let index = index(interface)?;
    let what = format!("qdisc {kind} of {}", shown(interface));
    QDISCS.tell(&root(kind).bytes, index, NLM_F_CREATE | NLM_F_REPLACE).on("RTM_NEWQDISC", what)
}

/// Restores the disciplines at and below the root. Those of received packets were never touched.
pub fn set_queueing(interface: &str, before: &Queueing) -> Result<()> {
    let index = index(interface)?;
    let what = || format!("qdisc {} of {}", before.kind, shown(interface));
    if !queueing(interface)?.is_default {
        QDISCS.take_away(&root("").bytes, index).on("RTM_DELQDISC", what())?;
    }
    let sending = before.saved.iter().filter(|saved| !is_of_receiving(saved));
    for saved in sending {
        let flags = if saved.words.starts_with("filter") { NLM_F_EXCL } else { NLM_F_REPLACE };
        kind(saved).tell(&saved.message, index, NLM_F_CREATE | flags).on("RTM_NEWQDISC", &saved.words)?;
    }
    // The default may have been another one when the interface was made.
    if before.is_default && queueing(interface)?.kind != before.kind {
        set_root_qdisc(interface, &before.kind)?;
    }
    Ok(())
}

/// Whether an object belongs to the discipline of received packets.
fn is_of_receiving(saved: &Saved) -> bool {
    let of_received = [" ingress", " clsact", " parent ffff:", " egress"];
    of_received.iter().any(|words| saved.words.contains(words))
}

/// A discipline at the root; without a kind, any.
fn root(kind: &str) -> Entry {
    let mut head = vec![0; QDISCS.head];
    head[12..16].copy_from_slice(&ROOT.to_ne_bytes());
    let entry = Entry { bytes: head, head: QDISCS.head };
    if kind.is_empty() { entry } else { entry.with(TCA_KIND, &[kind.as_bytes(), &[0]].concat()) }
}

fn index(interface: &str) -> Result<u32> {
    Ok(existing(interface).on("RTM_GETLINK", shown(interface))?.header.index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace;

    #[test]
    fn a_discipline_is_replaced_and_the_one_before_comes_back() {
        let name = format!("wptest{}qdisc", std::process::id());
        namespace::create(&name).expect("this test needs root");
        let told = namespace::within(&name, || {
            let default = queueing("lo")?;
            set_root_qdisc("lo", "pfifo")?;
            let set = queueing("lo")?;
            set_root_qdisc("lo", "bfifo")?;
            set_queueing("lo", &set)?;
            let back = queueing("lo")?;
            set_queueing("lo", &default)?;
            Ok([default, set, back, queueing("lo")?])
        });
        namespace::delete(&name).expect("it is ours");
        let [default, set, back, end] =
            told.expect("a namespace").unwrap_or_else(|error: crate::Error| panic!("{error}"));
        assert!(default.is_default && default.kind == "noqueue", "{default:?}");
        assert!(!set.is_default && set.kind == "pfifo", "{set:?}");
        assert_eq!((back.kind, back.is_default), ("pfifo".to_owned(), false));
        assert_eq!(end, default);
    }
}
