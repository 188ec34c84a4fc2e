//! A store, or a far agent, may say anything of a trial. It is refused, or all that follows from it is within bounds.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use model::{Json, Plan, Range, Run, Trial, fixture};
use proptest::{prelude::*, sample::Index};
use report::{Lang, Material};
use serde_json::{Value, json};
use verdict::Chosen;

const PLAN: &str = r#"
name = "any"
[[path]]
[[limits]]
metric = "rtt_p99"
at_most = "1 ms"
[[limits]]
metric = "goodput_mean"
at_least = "1 Gbit/s"
[[limits]]
metric = "forwarding_rate"
at_least = "1 Mpps"
[[limits]]
metric = "response_p99"
at_most = "1 ms"
[[limits]]
metric = "path_mtu"
at_least = "1500"
[[limits]]
metric = "loss"
at_most = "1 %"
"#;

/// Above every bound of a figure, also of sums.
const MOST: f64 = 1e23;

/// Values of a trial that was made longer.
const MANY: usize = 5_000;

/// Change of one value, wherever it stands.
#[derive(Clone, Debug)]
enum Change {
    /// Another value in its place.
    To(Value),
    /// A list repeated until it is as long as this.
    Longer(usize),
}

/// A trial of each probe, as version 3 stored them.
fn stored() -> Vec<Value> {
    serde_json::from_str(include_str!("version_3/trials.json")).unwrap()
}

fn changes() -> impl Strategy<Value = Vec<(Index, Change)>> {
    let text = ["", "0 pps", "0 s", "2500 h", "0 B", "8 Tbit/s", "a", "x\u{1b}[2J"];
    let change = prop_oneof![
        any::<u64>().prop_map(|number| Change::To(json!(number))),
        (0u32..64).prop_map(|bits| Change::To(json!(1u64 << bits))),
        prop::sample::select(vec![u64::MAX, u64::from(u32::MAX), 0, 1]).prop_map(|number| Change::To(json!(number))),
        (-320i32..=308).prop_map(|power| Change::To(json!(10f64.powi(power)))),
        any::<i64>().prop_map(|number| Change::To(json!(number))),
        prop::sample::select(text.to_vec()).prop_map(|text| Change::To(json!(text))),
        prop::sample::select(vec![json!(null), json!([]), json!({}), json!(true)]).prop_map(Change::To),
        prop::sample::select(vec![2, 70, 9_000]).prop_map(Change::Longer),
    ];
    prop::collection::vec((any::<Index>(), change), 1..4)
}

fn count(value: &Value) -> usize {
    let below: usize = match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(values) => values.values().map(count).sum(),
        _ => 0,
    };
    1 + below
}

/// Changes the value that this many others stand before; whether it was found.
fn apply(value: &mut Value, before: &mut usize, change: &Change) -> bool {
    if *before > 0 {
        *before -= 1;
        return match value {
            Value::Array(values) => values.iter_mut().any(|value| apply(value, before, change)),
            Value::Object(values) => values.values_mut().any(|value| apply(value, before, change)),
            _ => false,
        };
    }
    match (change, value) {
        (Change::To(new), value) => *value = new.clone(),
        (Change::Longer(length), Value::Array(values)) => {
            *values = values.iter().cycle().take(*length).cloned().collect();
        }
        (Change::Longer(_), _) => {}
    }
    true
}

/// All that is concluded from a trial that was not refused, and a report of it.
fn holds(trial: &Trial) {
    for figure in trial.figures() {
        let Range { low, high } = figure.value;
        let is_bounded = (0.0..=MOST).contains(&low) && (low..=MOST).contains(&high) || high.is_infinite();
        assert!(is_bounded, "{figure:?}");
    }
    let run = Run { trials: vec![trial.clone(); 7], ..fixture::run(Plan::parse(PLAN, &[]).unwrap()) };
    verdict::figures(&run);
    let assessment = verdict::assess(&run, &[], &Chosen::None);
    let material = Material::of(&run, &assessment);
    report::html(&material, Lang::En);
    report::csv(&material).unwrap();
}

#[test]
fn trials_as_they_were_stored_are_possible() {
    for value in stored() {
        let trial = Trial::from_json(&value.to_string()).unwrap();
        assert_eq!(stats::check(&trial), Ok(()));
        holds(&trial);
    }
}

/// Counters of both ends, each as large as a number can be.
fn flooded(mut trial: Value) -> Value {
    let link = ["rx_packets", "tx_packets", "rx_dropped", "tx_dropped", "rx_otherhost_dropped", "rx_missed_errors"];
    let of_link = ["lab-a", "lab-b"].into_iter().flat_map(|of| link.map(|name| ("link", of, name)));
    let ip = ["InReceives", "InDelivers", "ReasmReqds", "InDiscards", "InAddrErrors", "InHdrErrors"];
    let udp = ["InDatagrams", "NoPorts", "RcvbufErrors", "MemErrors", "InErrors", "InCsumErrors"];
    let snmp = ip.map(|name| ("snmp", "Ip", name)).into_iter().chain(udp.map(|name| ("snmp", "Udp", name)));
    let deltas = of_link.chain(snmp).chain([("ethtool", "lab-b", "rx_xdp_drop"), ("softnet", "cpu0", "dropped")]);
    let delta =
        |(source, of, name): (&str, &str, &str)| json!({ "source": source, "of": of, "name": name, "delta": u64::MAX });
    let deltas = Value::Array(deltas.map(delta).collect());
    for end in [0usize, 1] {
        trial["counters"][end]["deltas"] = deltas.clone();
    }
    trial
}

#[test]
fn the_largest_counters_there_are_harm_nothing() {
    for value in stored() {
        let trial = Trial::from_json(&flooded(value).to_string()).unwrap();
        assert_eq!(stats::check(&trial), Ok(()));
        holds(&trial);
    }
}

proptest! {
    #[test]
    fn whatever_a_trial_says_is_refused_or_within_bounds(changes in changes()) {
        for mut value in stored() {
            for (place, change) in &changes {
                let values = count(&value);
                // A long list of long lists fills the memory.
                if values < MANY {
                    apply(&mut value, &mut place.index(values), change);
                }
            }
            let trial = Trial::from_json(&value.to_string()).ok().filter(|trial| stats::check(trial).is_ok());
            trial.iter().for_each(holds);
        }
    }
}
