//! Differences between two runs beside their figures, brought together for a terminal. Pure.

use crate::texts::Texts;

/// Values of one object that a line names.
const MOST: usize = 3;

/// Text of a value that is absent.
const NONE: &str = "–";

/// Part of the machines, the plan or the bed, with its values that differ.
#[derive(Clone, Debug, PartialEq)]
struct Object<'a> {
    /// Alike ones share a line.
    names: Vec<&'a str>,
    values: Vec<Value<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Value<'a> {
    name: &'a str,
    before: &'a str,
    after: &'a str,
}

/// A line for each object whose values differ, like `endpoints 1 interfaces 1: name "eth1" → "eth2", mtu 1500 → 9000`. Objects that
/// differ in the same way share a line, one that is in one of the runs alone is only named, and of many values the first are.
pub(crate) fn grouped(changed: &[String], t: &Texts) -> Vec<String> {
    let mut objects: Vec<Object<'_>> = Vec::new();
    let mut others = Vec::new();
    for change in changed {
        let Some((name, value)) = parsed(change) else {
            others.push(change.clone());
            continue;
        };
        match objects.iter_mut().find(|object| object.names == [name]) {
            Some(object) => object.values.push(value),
            None => objects.push(Object { names: vec![name], values: vec![value] }),
        }
    }
    let mut hidden = 0;
    let lines = alike(without_parts(objects)).iter().map(|object| line(object, &mut hidden, t)).collect::<Vec<_>>();
    let more = (hidden > 0).then(|| t.with("compare-changed-more", &[("count", &hidden)]));
    lines.into_iter().chain(others).chain(more).collect()
}

/// The object and its value of `endpoints 1 interfaces 1 mtu: 1500 → 9000`.
fn parsed(change: &str) -> Option<(&str, Value<'_>)> {
    let (path, values) = change.split_once(": ")?;
    let (before, after) = values.split_once(" → ")?;
    let (object, name) = path.rsplit_once(' ').unwrap_or(("", path));
    Some((object, Value { name, before, after }))
}

/// Which of the runs alone has an object of several values; `None` where both have it.
fn only(object: &Object<'_>) -> Option<&'static str> {
    let all = |is_none: fn(&Value<'_>) -> bool| object.values.len() > 1 && object.values.iter().all(is_none);
    if all(|value| value.after == NONE) {
        Some("compare-changed-only-reference")
    } else if all(|value| value.before == NONE) {
        Some("compare-changed-only-run")
    } else {
        None
    }
}

/// Without parts of objects that one of the runs alone has.
fn without_parts(objects: Vec<Object<'_>>) -> Vec<Object<'_>> {
    let is_part = |object: &Object<'_>| {
        let wholes = objects.iter().filter(|whole| *whole != object && only(whole).is_some());
        let mut within = wholes
            .filter(|whole| object.names[0].strip_prefix(whole.names[0]).is_some_and(|rest| rest.starts_with(' ')));
        let is_absent = |value: &Value<'_>| value.before == NONE || value.after == NONE;
        object.values.iter().all(is_absent) && within.next().is_some()
    };
    objects.iter().filter(|object| !is_part(object)).cloned().collect()
}

/// Objects that differ in the same way, as one.
fn alike(objects: Vec<Object<'_>>) -> Vec<Object<'_>> {
    let mut alike: Vec<Object<'_>> = Vec::new();
    for object in objects {
        let is_alike =
            |known: &Object<'_>| known.values == object.values || only(known).is_some() && only(known) == only(&object);
        match alike.iter_mut().find(|known| is_alike(known)) {
            Some(known) => known.names.extend(object.names),
            None => alike.push(object),
        }
    }
    alike
}

fn line(object: &Object<'_>, hidden: &mut usize, t: &Texts) -> String {
    let names = object.names.join(&t.get("list-comma"));
    if let Some(only) = only(object) {
        return t.with(only, &[("what", &names)]);
    }
    let value = |value: &Value<'_>| format!("{} {} → {}", value.name, value.before, value.after);
    match object.values.as_slice() {
        [Value { name, before, after }] => format!("{names} {name}: {before} → {after}").trim_start().to_owned(),
        values => {
            *hidden += values.len().saturating_sub(MOST) * object.names.len();
            let shown = values.iter().take(MOST).map(value).collect::<Vec<_>>().join(&t.get("list-comma"));
            let more = if values.len() > MOST { " …" } else { "" };
            format!("{names}: {shown}{more}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::Lang;

    fn lines(changed: &[&str]) -> Vec<String> {
        let changed: Vec<String> = changed.iter().map(|change| (*change).to_owned()).collect();
        grouped(&changed, Texts::of(Lang::En))
    }

    #[test]
    fn an_object_is_said_once_with_what_differs() {
        assert_eq!(lines(&["plan name: \"a\" → \"b\""]), ["plan name: \"a\" → \"b\""]);
        assert_eq!(lines(&["simulated: true → false"]), ["simulated: true → false"]);
        let port = |port: u8, what: &str| format!("endpoints {port} interfaces 1 {what}");
        let changed = [1, 2].map(|it| [port(it, "name: \"lab\" → \"eth\""), port(it, "mtu: 1500 → 9000")]).concat();
        let both = "endpoints 1 interfaces 1, endpoints 2 interfaces 1: name \"lab\" → \"eth\", mtu 1500 → 9000";
        assert_eq!(lines(&changed.iter().map(String::as_str).collect::<Vec<_>>()), [both]);
        let many = ["a", "b", "c", "d", "e"].map(|name| format!("hosts 1 {name}: 1 → 2"));
        let shown = lines(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(shown[0], "hosts 1: a 1 → 2, b 1 → 2, c 1 → 2 …");
        assert!(shown[1].contains("2 more") && shown[1].contains("--json"), "{}", shown[1]);
    }

    #[test]
    fn what_one_of_the_runs_alone_has_is_only_named() {
        let changed = [
            "endpoints 1 interfaces 2 bus: \"\" → –",
            "endpoints 1 interfaces 2 mtu: 1500 → –",
            "endpoints 1 interfaces 2 offloads tx: true → –",
            "hosts 2 kernel: – → \"6.1\"",
            "hosts 2 name: – → \"far\"",
            "hosts 3 kernel: – → \"6.12\"",
            "hosts 3 name: – → \"further\"",
        ];
        let shown = lines(&changed);
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown[0].contains("endpoints 1 interfaces 2") && shown[1].contains("hosts 2, hosts 3"), "{shown:?}");
    }
}
