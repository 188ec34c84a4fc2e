//! Differences between two runs beside their figures, brought together for a terminal. Pure.

use model::{Environment, change::DriverNumber, environment::EndpointFacts};

use crate::{show, texts::Texts};

/// Values of one object that a line names.
const MOST: usize = 3;

/// Their list within a path.
const GATEWAYS: &str = " gateways ";

/// Text of a value that is absent.
const NONE: &str = "–";

/// Part of the machines, the plan or the bed, with its values that differ.
#[derive(Clone, Debug, PartialEq)]
struct Object<'a> {
    /// Alike ones share a line.
    names: Vec<&'a str>,
    values: Vec<Value<'a>>,
    /// Whether others are parts of it, all of which one of the runs lacks.
    is_with_parts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Value<'a> {
    name: &'a str,
    before: &'a str,
    after: &'a str,
}

/// A line for each object whose values differ, like `endpoint 1 interface 1: name "eth1" → "eth2", mtu 1500 → 9000`. Objects that
/// differ in the same way share a line, one that is in one of the runs alone is only named, and of many values the first are. Endpoints,
/// interfaces and hosts have their names where the machines are known, else their numbers.
pub(crate) fn grouped(changed: &[String], machines: Option<&Environment>, t: &Texts) -> Vec<String> {
    let mut objects: Vec<Object<'_>> = Vec::new();
    let mut others = Vec::new();
    for change in changed {
        let Some((name, value)) = parsed(change) else {
            others.push(change.clone());
            continue;
        };
        match objects.iter_mut().find(|object| object.names == [name]) {
            Some(object) => object.values.push(value),
            None => objects.push(Object { names: vec![name], values: vec![value], is_with_parts: false }),
        }
    }
    let all = objects.clone();
    objects.iter_mut().for_each(|object| object.is_with_parts = lacks_parts(object, &all));
    let mut hidden = 0;
    let line = |object: &Object<'_>| line(object, machines, &mut hidden, t);
    let lines = alike(without_parts(objects)).iter().map(line).collect::<Vec<_>>();
    let more = (hidden > 0).then(|| t.with("compare-changed-more", &[("count", &hidden)]));
    lines.into_iter().chain(others).chain(more).collect()
}

/// The object and its value of `endpoints 1 interfaces 1 mtu: 1500 → 9000`. A number of a driver is a value of the settings, and all gateways
/// are one object.
fn parsed(change: &str) -> Option<(&str, Value<'_>)> {
    let (path, values) = change.split_once(": ")?;
    let (before, after) = values.split_once(" → ")?;
    let gateways = || path.find(GATEWAYS).map(|at| path.split_at(at + GATEWAYS.len() - 1));
    let of_list = || path.split_once(" numbers ").or_else(gateways);
    let (object, name) = of_list().or_else(|| path.rsplit_once(' ')).unwrap_or(("", path));
    let name = name.trim_start();
    Some((object, Value { name, before, after }))
}

/// Whether an object is within another one.
fn is_part(object: &Object<'_>, whole: &Object<'_>) -> bool {
    object.names[0].strip_prefix(whole.names[0]).is_some_and(|rest| rest.starts_with(' '))
}

/// Whether an object has parts, and one of the runs has none of their values.
fn lacks_parts(object: &Object<'_>, all: &[Object<'_>]) -> bool {
    let values = || all.iter().filter(|part| is_part(part, object)).flat_map(|part| &part.values);
    values().next().is_some()
        && (values().all(|value| value.before == NONE) || values().all(|value| value.after == NONE))
}

/// The run that alone has an object of several values or parts; `None` where both have it.
fn only(object: &Object<'_>) -> Option<&'static str> {
    let is_whole = object.values.len() > 1 || object.is_with_parts;
    let all = |is_none: fn(&Value<'_>) -> bool| is_whole && object.values.iter().all(is_none);
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
    let is_said = |object: &Object<'_>| {
        let mut within = objects.iter().filter(|whole| only(whole).is_some() && is_part(object, whole));
        let is_absent = |value: &Value<'_>| value.before == NONE || value.after == NONE;
        object.values.iter().all(is_absent) && within.next().is_some()
    };
    objects.iter().filter(|object| !is_said(object)).cloned().collect()
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

fn line(object: &Object<'_>, machines: Option<&Environment>, hidden: &mut usize, t: &Texts) -> String {
    let names: Vec<String> = object.names.iter().map(|path| in_words(path, machines, t)).collect();
    let names = names.join(&t.get("list-comma"));
    if let Some(only) = only(object) {
        return t.with(only, &[("what", &names)]);
    }
    let change = |value: &Value<'_>| {
        let [before, after] = [value.before, value.after].map(|side| shown(value.name, side, t));
        format!("{before} → {after}")
    };
    let value = |value: &Value<'_>| format!("{} {}", name(value.name, t), change(value));
    match object.values.as_slice() {
        [value] => format!("{names} {}: {}", name(value.name, t), change(value)).trim_start().to_owned(),
        values => {
            *hidden += values.len().saturating_sub(MOST) * object.names.len();
            let shown = values.iter().take(MOST).map(value).collect::<Vec<_>>().join(&t.get("list-comma"));
            let more = if values.len() > MOST { " …" } else { "" };
            format!("{names}: {shown}{more}")
        }
    }
}

/// Path of an object in words.
fn in_words(path: &str, machines: Option<&Environment>, t: &Texts) -> String {
    let mut keys = path.split(' ').peekable();
    let mut endpoint: Option<&EndpointFacts> = None;
    let mut words = Vec::new();
    while let Some(key) = keys.next() {
        let index = keys.peek().and_then(|next| next.parse::<usize>().ok()?.checked_sub(1));
        let (text, name) = match (key, index) {
            ("endpoints", Some(index)) => {
                endpoint = machines.and_then(|it| it.endpoints.get(index));
                ("changed-endpoint", endpoint.map(|it| &it.endpoint))
            }
            ("interfaces", Some(index)) => {
                ("changed-interface", endpoint.and_then(|it| it.interfaces.get(index)).map(|it| &it.name))
            }
            ("hosts", Some(index)) => {
                ("changed-host", machines.and_then(|it| it.hosts.get(index)).map(|it| &it.hostname))
            }
            _ => {
                words.push(self::key(key, t));
                continue;
            }
        };
        let number = keys.next().unwrap_or_default();
        words.push(t.with(text, &[("name", &name.map_or(number, String::as_str))]));
    }
    words.join(" ")
}

/// Name of a value in words, behind its number where it is one of a list.
fn name(name: &str, t: &Texts) -> String {
    if let Some(number) = driver_number(name) {
        return number.to_owned();
    }
    match name.split_once(' ') {
        Some((number, rest)) if number.parse::<usize>().is_ok() => format!("{number} {}", key(rest, t)),
        _ => key(name, t),
    }
}

/// The fifth number of the structure `rings`, written `rings 5`, as tuning calls it.
fn driver_number(name: &str) -> Option<&'static str> {
    let (structure, place) = name.split_once(' ')?;
    let index = place.parse::<usize>().ok()?.checked_sub(1)?;
    let is_meant = |word: &&str| {
        let number = word.parse::<DriverNumber>().map(DriverNumber::place);
        number.is_ok_and(|(of, at, _)| (of, at) == (structure, index))
    };
    DriverNumber::WORDS.iter().copied().find(is_meant)
}

/// A key of the JSON in words. Settings, offloads and mitigations have the kernel's names.
fn key(key: &str, t: &Texts) -> String {
    t.find(&text_of(key)).unwrap_or_else(|| key.to_owned())
}

fn text_of(key: &str) -> String {
    format!("changed-key-{}", key.replace('_', "-"))
}

/// Texts of all keys that a difference between two runs may have.
#[cfg(test)]
pub(crate) fn texts_of_keys() -> Vec<String> {
    use std::collections::BTreeSet;

    use model::{Bed, Plan};
    use schemars::schema_for;
    use serde_json::Value;

    /// Keys that are never compared, and those of a reading that failed.
    const LEFT_OUT: [&str; 11] = [
        "boot_id",
        "interrupts",
        "layout",
        "namespace",
        "numbers",
        "read_at",
        "readings",
        "services",
        "since_start",
        "unreadable",
        "why",
    ];
    /// Lists whose items have names.
    const NAMED: [&str; 3] = ["endpoints", "hosts", "interfaces"];

    fn add(schema: &Value, root: &Value, keys: &mut BTreeSet<String>) {
        let properties = schema["properties"].as_object().into_iter().flatten();
        for (key, value) in properties.filter(|(key, _)| !LEFT_OUT.contains(&key.as_str())) {
            keys.insert(key.clone());
            add(value, root, keys);
        }
        let referred = schema["$ref"].as_str().and_then(|place| root.pointer(place.strip_prefix('#')?));
        let choices = ["anyOf", "oneOf"].iter().filter_map(|of| schema[of].as_array()).flatten();
        let items = ["items", "additionalProperties"].iter().filter_map(|of| schema.get(of));
        referred.into_iter().chain(choices).chain(items).for_each(|part| add(part, root, keys));
    }

    let mut keys = BTreeSet::from(["bed", "plan", "program"].map(str::to_owned));
    for schema in [schema_for!(Environment), schema_for!(Bed)].map(schemars::Schema::to_value) {
        add(&schema, &schema, &mut keys);
    }
    // Measurements and limits of a plan are compared otherwise.
    let plan = schema_for!(Plan).to_value();
    let of_plan = plan["properties"].as_object().into_iter().flatten();
    keys.extend(of_plan.filter(|(_, value)| value["type"] != "array").map(|(key, _)| key.clone()));
    keys.iter().filter(|key| !NAMED.contains(&key.as_str())).map(|key| text_of(key)).collect()
}

/// A value as the report shows it where it has words for it, else as in JSON.
fn shown(key: &str, value: &str, t: &Texts) -> String {
    let text = value.trim_matches('"');
    let words = match key {
        "state" if value != NONE => Some(show::link_state(text, t)),
        "cpus_why" => show::why_these_cores(text, t),
        _ => None,
    };
    words.map_or_else(|| value.to_owned(), |words| format!("\"{words}\""))
}

#[cfg(test)]
mod tests {
    use model::environment::InterfaceFacts;

    use super::*;
    use crate::lang::Lang;

    fn lines(changed: &[&str]) -> Vec<String> {
        let changed: Vec<String> = changed.iter().map(|change| (*change).to_owned()).collect();
        grouped(&changed, None, Texts::of(Lang::En))
    }

    #[test]
    fn an_object_is_said_once_with_what_differs() {
        assert_eq!(lines(&["plan name: \"a\" → \"b\""]), ["plan name: \"a\" → \"b\""]);
        let sysctl = ["endpoints 1 sysctls net.ipv4.tcp_sack: \"1\" → \"0\""];
        assert_eq!(lines(&sysctl), ["endpoint 1 sysctl net.ipv4.tcp_sack: \"1\" → \"0\""]);
        let peer = ["endpoints 1 interfaces 1 settings other_end: 1 → 2"];
        assert_eq!(lines(&peer), ["endpoint 1 interface 1 settings peer interface: 1 → 2"]);
        assert_eq!(lines(&["simulated: true → false"]), ["simulated: true → false"]);
        let port = |port: u8, what: &str| format!("endpoints {port} interfaces 1 {what}");
        let changed = [1, 2].map(|it| [port(it, "name: \"lab\" → \"eth\""), port(it, "mtu: 1500 → 9000")]).concat();
        let both = "endpoint 1 interface 1, endpoint 2 interface 1: name \"lab\" → \"eth\", MTU 1500 → 9000";
        assert_eq!(lines(&changed.iter().map(String::as_str).collect::<Vec<_>>()), [both]);
        let driver = ["rings 5: 512 → 256", "rings 9: 1 → 2", "coalescing 1: 3 → 0"];
        let driver = driver.map(|number| format!("endpoints 1 interfaces 1 settings numbers {number}"));
        let told = "endpoint 1 interface 1 settings: ring-rx 512 → 256, rings 9 1 → 2, rx-usecs 3 → 0";
        assert_eq!(lines(&driver.each_ref().map(String::as_str)), [told]);
        let gateway = |number: u8, change: &str| format!("dut gateways {number} {change}");
        let moved = [1, 2].map(|it| [gateway(it, "address: \"x\" → \"y\""), gateway(it, "prefix: 24 → 16")]).concat();
        let told = lines(&moved.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(told.len(), 2, "{told:?}");
        let said =
            "device under test gateways: 1 address \"x\" → \"y\", 1 prefix length 24 → 16, 2 address \"x\" → \"y\" …";
        assert_eq!(told[0], said);
        let new = [1, 2].map(|it| gateway(it, "address: – → \"y\""));
        let new: Vec<&str> =
            ["dut machine: – → \"router\""].into_iter().chain(new.iter().map(String::as_str)).collect();
        assert_eq!(lines(&new), ["in this run only: device under test"]);
        let many = ["a", "b", "c", "d", "e"].map(|name| format!("hosts 1 {name}: 1 → 2"));
        let shown = lines(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(shown[0], "host 1: a 1 → 2, b 1 → 2, c 1 → 2 …");
        assert!(shown[1].contains("2 more") && shown[1].contains("--json"), "{}", shown[1]);
    }

    #[test]
    fn values_that_are_words_stand_in_the_readers_language() {
        let changed = [
            "bed endpoints 2 cpus_why: \"core of NUMA node 0, shared by 2 senders\" → \"as asked for\"",
            "endpoints 1 interfaces 1 state: \"up\" → –",
        ]
        .map(str::to_owned);
        let [cores, state]: [String; 2] = grouped(&changed, None, Texts::of(Lang::Ja)).try_into().unwrap();
        assert_eq!(
            cores,
            "試験環境 エンドポイント 2 コアの選択理由: \"NUMAノード 0 のコア。2つの送信側で共用\" → \"指定どおり\""
        );
        assert_eq!(state, "エンドポイント 1 インターフェース 1 リンクの状態: \"アップ\" → –");
        let english = grouped(&changed, None, Texts::of(Lang::En));
        assert_eq!(english[1], "endpoint 1 interface 1 link state: \"up\" → –");
        let interface = InterfaceFacts { name: "eth0".into(), ..InterfaceFacts::default() };
        let end = EndpointFacts { endpoint: "a".into(), interfaces: vec![interface], ..EndpointFacts::default() };
        let machines = Environment { endpoints: vec![end], ..Environment::default() };
        let named = grouped(&changed, Some(&machines), Texts::of(Lang::En));
        assert_eq!(named[1], "endpoint a interface eth0 link state: \"up\" → –");
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
        assert!(shown[0].contains("endpoint 1 interface 2") && shown[1].contains("host 2, host 3"), "{shown:?}");
    }
}
