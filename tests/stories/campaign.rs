//! `./x campaign`: faults at random moments, on all beds and often. The figures stand in docs/reliability.md.

mod hostile;
mod limits;
mod scenes;
mod soak;

use std::{fmt::Write as _, time::Instant};

use self::scenes::{Cuts, Hosts, Past, Ports};
use crate::{
    kills::{Moments, Own, Told, kill},
    program::Desk,
    tune,
};

/// The seed, if `WIREPROOF_SEED` gives none.
const SEED: u64 = 0x5eed_0198_0018_0000;

#[test]
#[ignore = "takes an hour: sudo ./x campaign kills"]
fn kills_on_all_beds_leave_nothing_and_lose_nothing() {
    let each = times(1_000).div_ceil(10);
    // The bed's words, and the time in ms within which the kill comes.
    let labs: [(&str, &[&str], u64); 7] = [
        ("lab", &[], 2_000),
        ("lab through a router", &["--bed", "lab:router"], 3_000),
        ("lab of two senders", &["--bed", "lab:senders=2"], 3_000),
        ("lab through a bridge", &["--bed", "lab:bridge"], 3_000),
        ("lab behind a virtual switch", &["--bed", "lab:vswitch"], 3_000),
        ("lab through our router", &["--bed", "lab:xdp-router"], 3_000),
        ("lab through Open vSwitch", &["--bed", "lab:ovs"], 6_000),
    ];
    let labs = labs.map(|(name, words, lasts)| {
        let play = move |moments: &mut Moments, times: u32| kill(&Own::new(words, lasts), moments, times);
        (name, play)
    });
    let mut rows: Vec<Row<'_>> = labs.iter().map(|(name, play)| -> Row<'_> { (name, each, play) }).collect();
    rows.extend::<[Row<'_>; 4]>([
        ("ports", each, &|moments, times| kill(&Ports::new(&Desk::new()), moments, times)),
        ("hosts", each, &|moments, times| kill(&Hosts::new(), moments, times)),
        ("bypass", each, &|moments, times| kill(&Past::new(&Desk::new()), moments, times)),
        ("tune", each, &|moments, times| tune::kill(&Desk::new(), moments, times)),
    ]);
    tell(rows);
}

#[test]
#[ignore = "takes an hour: sudo ./x campaign cuts"]
fn cuts_of_connections_leave_nothing_and_lose_nothing() {
    tell(vec![("ssh to the second host", times(1_000), &|moments, times| kill(&Cuts(Hosts::new()), moments, times))]);
}

/// A scene with its number of kills.
type Row<'a> = (&'a str, u32, &'a dyn Fn(&mut Moments, u32) -> Result<Told, String>);

/// Plays all scenes, or those whose name holds `WIREPROOF_SCENE`, and prints a table; fails if one of them left or lost something.
fn tell(rows: Vec<Row<'_>>) {
    let chosen = std::env::var("WIREPROOF_SCENE").unwrap_or_default();
    let seed = number("WIREPROOF_SEED").unwrap_or(SEED);
    let mut table =
        format!("seed {seed:#x}\n\n| scene | killed | trials kept | time | left or lost |\n|---|---|---|---|---|\n");
    let mut wrong = 0;
    for (place, (name, times, play)) in (0..).zip(rows).filter(|(_, (name, ..))| name.contains(&chosen)) {
        let begun = Instant::now();
        // Each scene has its own moments, whichever others are played.
        let outcome = play(&mut Moments(seed + place), times);
        wrong += usize::from(outcome.is_err());
        let (killed, finished, said) = match outcome {
            Ok(told) => {
                let killed: Vec<String> = told.killed.iter().map(|(what, times)| format!("{times} {what}")).collect();
                (killed.join(", "), told.finished.to_string(), "nothing".to_owned())
            }
            Err(said) => (String::new(), String::new(), said),
        };
        let minutes = begun.elapsed().as_secs_f64() / 60.0;
        writeln!(table, "| {name} | {killed} | {finished} | {minutes:.0} min | {said} |").unwrap();
        eprintln!("{}", table.lines().last().unwrap_or_default());
    }
    println!("{table}");
    assert_eq!(wrong, 0, "scenes that left or lost something");
}

fn times(otherwise: u32) -> u32 {
    number("WIREPROOF_TIMES").map_or(otherwise, |times| times as u32)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
