//! English findings about a machine, in the report's language.

use model::Reading;

use super::NO_FIGURE;
use crate::texts::Texts;

/// A reading: its value in words, nothing where it is absent, or why it cannot be read.
pub(crate) fn reading<T>(reading: &Reading<T>, t: &Texts, words: impl FnOnce(&T) -> String) -> String {
    match reading {
        Reading::Known(value) => words(value),
        Reading::Absent => String::new(),
        Reading::Unreadable { path, why } => t.with("unreadable", &[("path", path), ("why", why)]),
    }
}

/// The same, with a sign where it is absent.
pub(crate) fn reading_or_none<T>(reading: &Reading<T>, t: &Texts, words: impl FnOnce(&T) -> String) -> String {
    if matches!(reading, Reading::Absent) { NO_FIGURE.to_owned() } else { self::reading(reading, t, words) }
}

/// The name of a hypervisor, or that it has none.
pub(crate) fn hypervisor(name: &str, t: &Texts) -> String {
    if name == "of unknown kind" { t.get("hypervisor-unknown") } else { name.to_owned() }
}

/// State of an interface as the kernel names it (`operstate`, RFC 2863).
pub(crate) fn link_state(state: &str, t: &Texts) -> String {
    let known = ["up", "down", "unknown", "dormant", "lowerlayerdown", "notpresent", "testing"];
    if known.contains(&state) { t.get(&format!("state-{state}")) } else { state.to_owned() }
}

/// Why an end measures on the cores it has; `None` where it is said in words that are not known here.
pub(crate) fn why_these_cores(why: &str, t: &Texts) -> Option<String> {
    let senders =
        why.rsplit_once(", shared by ").and_then(|(why, senders)| Some((why, senders.strip_suffix(" senders")?)));
    if let Some((why, senders)) = senders {
        let cores = why_these_cores(why, t)?;
        return Some(t.with("cores-shared", &[("cores", &cores), ("senders", &senders)]));
    }
    match why {
        "as asked for" => Some(t.get("cores-asked")),
        "one of two threads of the only core there is" => Some(t.get("cores-threads")),
        "one of several cores that may be threads of one core" => Some(t.get("cores-unknown")),
        "the only core there is, for both ends" => Some(t.get("cores-only")),
        chosen => these(chosen, t),
    }
}

fn these(why: &str, t: &Texts) -> Option<String> {
    let (cores, interrupts) = why.split_once(", ").unwrap_or((why, ""));
    let (kind, node) = cores.split_once(" of NUMA node ").map_or((cores, None), |(kind, node)| (kind, Some(node)));
    let kind = match kind {
        "core" | "cores" => t.get("cores-plain"),
        "isolated core" | "isolated cores" => t.get("cores-isolated"),
        "tickless core" | "tickless cores" => t.get("cores-tickless"),
        _ => return None,
    };
    let of_node = |node| t.with("cores-of-node", &[("cores", &kind), ("node", &node)]);
    let cores = node.map_or_else(|| kind.clone(), of_node);
    match interrupts {
        "" => Some(cores),
        "interrupted by the card" => Some(t.with("cores-interrupted", &[("cores", &cores)])),
        "the first apart from the card's interrupts" => Some(t.with("cores-apart", &[("cores", &cores)])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::Lang;

    #[test]
    fn an_unreadable_value_says_so_in_both_languages() {
        let said = |value: Reading<String>, lang| reading(&value, Texts::of(lang), String::clone);
        let refused = || Reading::Unreadable { path: "/sys/x".into(), why: "Permission denied".into() };
        assert_eq!(said(refused(), Lang::En), "cannot be read (/sys/x: Permission denied)");
        assert_eq!(said(refused(), Lang::Ja), "読み取れない(/sys/x: Permission denied)");
        assert_eq!((said("tsc".into(), Lang::En), said(Reading::Absent, Lang::En)), ("tsc".into(), String::new()));
    }

    #[test]
    fn why_an_end_has_its_cores_is_said_in_japanese_too() {
        let ja = |why: &str| why_these_cores(why, Texts::of(Lang::Ja));
        assert_eq!(ja("core of NUMA node 0").as_deref(), Some("NUMAノード 0 のコア"));
        assert_eq!(ja("as asked for").as_deref(), Some("指定どおり"));
        let apart = ja("isolated cores of NUMA node 1, the first apart from the card's interrupts");
        assert!(apart.is_some_and(|words| words.starts_with("NUMAノード 1 の分離されたコア")));
        assert_eq!(ja("cores that somebody chose"), None);
        let shared = "core of NUMA node 0, interrupted by the card, shared by 2 senders";
        assert_eq!(ja(shared).as_deref(), Some("NUMAノード 0 のコア。カードの割り込みも処理。2つの送信側で共用"));
        let en = why_these_cores(shared, Texts::of(Lang::En));
        assert_eq!(en.as_deref(), Some("cores of NUMA node 0, interrupted by the card, shared by 2 senders"));
        let en = why_these_cores("tickless cores, interrupted by the card", Texts::of(Lang::En));
        assert_eq!(en.as_deref(), Some("tickless cores, interrupted by the card"));
    }
}
