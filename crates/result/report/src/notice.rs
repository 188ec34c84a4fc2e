//! Progress messages and notes of the program in the user's language.

use std::fmt::Display;

use model::{DirectionSecond, GoodputSecond, IpVersion, ProbeSpec};
use serde::Serialize;

use crate::{lang::Lang, probes, show, texts::Texts};

/// A line of progress or a note.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Notice<'a> {
    /// The test bed is being set up.
    Preparing,
    /// A trial is running.
    Measuring {
        /// The probe.
        what: &'a ProbeSpec,
        /// Step of the plan, from 1.
        step: usize,
        /// Steps in all.
        steps: usize,
    },
    /// A whole second of a transfer has passed.
    Second {
        /// The second.
        second: &'a GoodputSecond,
    },
    /// The test bed is being taken down.
    Undoing,
    /// The report is there.
    ReportWritten {
        /// Its path.
        path: &'a str,
    },
    /// A folder held a signed report, and now holds another one.
    SignatureRemoved {
        /// The folder.
        folder: &'a str,
    },
    /// A document is dated before the measurement that it is about.
    IssuedBefore {
        /// The date of issue.
        date: &'a str,
        /// The day on which the measurement ended.
        measured: &'a str,
    },
    /// Somebody signed a document with a date before the measurement that it is about.
    SignedBefore {
        /// The name and the date.
        who: &'a str,
        /// The day on which the measurement ended.
        measured: &'a str,
    },
    /// The environment names a time zone that there is not.
    UnknownZone {
        /// The name.
        value: &'a str,
    },
    /// Several ends work on one core.
    CoreShared {
        /// The core.
        cpu: usize,
    },
    /// The user interrupted.
    Interrupted,
    /// How long the rest will take.
    TimeLeft {
        /// In seconds.
        seconds: u64,
    },
    /// Packets are sent from one side alone.
    Sending {
        /// The interface.
        interface: &'a str,
        /// Address of the receiver.
        to: &'a str,
    },
    /// Packets are waited for.
    Listening {
        /// The interface.
        interface: &'a str,
    },
    /// Frames are written to a file.
    Capturing {
        /// Where they are seen.
        interface: &'a str,
        /// The file.
        file: &'a str,
    },
    /// Captured packets.
    Captured {
        /// Frames in the file.
        frames: u64,
        /// Frames that were seen.
        seen: u64,
        /// Frames that there was no room for.
        dropped: u64,
    },
    /// `throughput` was typed, goodput is measured.
    ThroughputAlias,
    /// There is no root; says what root would add.
    Unprivileged,
    /// How the device under test has to be configured: commands follow.
    ConfigureDut,
    /// An IP version does not get through the device under test, and is left out.
    DutUnreachable {
        /// The IP version.
        ip: IpVersion,
        /// The observation, in English.
        why: &'a str,
    },
    /// A run that did not come to its end can be continued.
    Resumable {
        /// The command line that continues it.
        command: &'a str,
    },
    /// A run of a series begins.
    SeriesRun {
        /// Cores of the device under test.
        cores: usize,
        /// Its place, from 1.
        run: usize,
        /// Runs of the series.
        runs: usize,
    },
    /// Several runs of a plan were stopped, and these of them are stored.
    RunsStored {
        /// Each with what sets it apart from the others.
        runs: &'a str,
        /// The command line that shows them together.
        command: &'a str,
    },
    /// A series was stopped, and this measures the rest of it.
    SeriesRest {
        /// The command line.
        command: &'a str,
    },
    /// The plan has tests of RFC 2544, which are for isolated beds.
    IsolatedOnly,
    /// The plan tests a device, and none is known between the ends.
    NoDevice,
    /// The user is to reset the device under test.
    ResetNow {
        /// Seconds that the trial still takes.
        seconds: u64,
    },
    /// The command that resets the device under test runs.
    ResetBy {
        /// The command.
        command: &'a str,
    },
    /// That command failed.
    ResetFailed {
        /// The command.
        command: &'a str,
        /// The cause, in English.
        why: &'a str,
    },
    /// The plan is measured again with changes to the machine.
    MeasuringTuned {
        /// The step, or the profile of all of them.
        what: &'a str,
    },
    /// The plan is measured once more without them.
    MeasuringUndone,
    /// The plan has too few repeats to decide as many figures as it compares at once.
    FewRepeats {
        /// Its repeats.
        repeats: u32,
        /// Repeats that suffice.
        needed: u32,
    },
    /// A record of changes by another version stays.
    UnknownRecord {
        /// The record and what to do, in English.
        why: &'a str,
    },
    /// There is no root on a machine of a bed; says what root would add.
    NoRoot {
        /// Name of the machine.
        machine: &'a str,
    },
}

impl Notice<'_> {
    /// The notice in words.
    pub fn text(&self, lang: Lang) -> String {
        self.in_words(Texts::of(lang))
    }

    /// The same among configurations, which have names that tell them apart.
    pub fn text_among(&self, specs: &[ProbeSpec], lang: Lang) -> String {
        self.in_words(&Texts::naming(lang, specs.iter().cloned()))
    }

    fn in_words(&self, t: &Texts) -> String {
        let with = |values: &[(&str, &dyn Display)]| t.of_value_with("notice", self, values);
        match self {
            Self::Measuring { what, .. } => with(&[("what", &probes::measurement(what, t))]),
            Self::Second { second } => {
                with(&[("number", &format!("{:>3}", second.number)), ("ways", &ways(second, t))])
            }
            Self::TimeLeft { seconds } => with(&[("time", &show::time_left(*seconds))]),
            Self::Captured { frames, seen, dropped } => {
                let [frames, seen, lost] = [frames, seen, dropped].map(|count| show::grouped(*count));
                with(&[("frames", &frames), ("seen", &seen), ("dropped", &lost)])
            }
            Self::DutUnreachable { ip, .. } => with(&[("ip", ip)]),
            _ => with(&[]),
        }
    }
}

/// Rates of each way; the direction is named where there are two.
fn ways(second: &GoodputSecond, t: &Texts) -> String {
    match second.ways {
        [Some(forward), Some(back)] => {
            let named = |direction: &str, way| format!("{} {}", t.get(direction), shown(way, t));
            format!("{}   {}", named("direction-forward", forward), named("direction-reverse", back))
        }
        [one, other] => one.or(other).map_or_else(String::new, |way| shown(way, t)),
    }
}

fn shown(way: DirectionSecond, t: &Texts) -> String {
    let rate = format!("{:>13}", show::rate(way.bps));
    match way.retransmits {
        Some(count) => format!("{rate} {}", t.with("second-retransmits", &[("count", &show::grouped(count))])),
        None => rate,
    }
}

#[cfg(test)]
mod tests {
    use model::Plan;

    use super::*;

    #[test]
    fn a_second_is_told_as_people_who_know_iperf3_expect_it() {
        let way = |bps, retransmits| Some(DirectionSecond { bps, retransmits });
        let said = |number, ways, lang| Notice::Second { second: &GoodputSecond { number, ways } }.text(lang);
        let tcp = [way(24.1e9, Some(1203)), None];
        assert_eq!(said(3, tcp, Lang::En), "[  3 s]  24.10 Gbit/s resent 1,203");
        assert_eq!(said(3, tcp, Lang::Ja), "[  3 秒]  24.10 Gbit/s 再送 1,203");
        let both = said(3600, [way(24.1e9, Some(9999)); 2], Lang::En);
        assert!(both.len() <= 80, "{both}");
        let udp = [way(940.1e6, None), way(0.0, None)];
        assert_eq!(said(120, udp, Lang::En), "[120 s] forward 940.10 Mbit/s   reverse    0.00 bit/s");
        assert_eq!(said(1, [None, way(2e9, None)], Lang::En), "[  1 s]   2.00 Gbit/s");
    }

    #[test]
    fn notices_speak_both_languages() {
        let plan = "name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]";
        let what = &Plan::parse(plan, &[]).unwrap().specs()[0];
        let notice = Notice::Measuring { what, step: 3, steps: 12 };
        assert_eq!(notice.text(Lang::En), "3 of 12: measuring latency, UDP IPv4, spin, 64 B");
        assert_eq!(notice.text(Lang::Ja), "3/12: RTT(UDP IPv4・スピン待ち・64 B)を測定しています");
        let lengths = "name = \"t\"\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"10 s\"\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"60 s\"";
        let specs = Plan::parse(lengths, &[]).unwrap().specs();
        let said = Notice::Measuring { what: &specs[1], step: 2, steps: 2 }.text_among(&specs, Lang::En);
        assert!(said.contains("60 s"), "{said}");
        for notice in [
            Notice::Preparing,
            Notice::Undoing,
            Notice::ReportWritten { path: "r.html" },
            Notice::SignatureRemoved { folder: "out" },
            Notice::IssuedBefore { date: "2026-11-20", measured: "2026-11-21" },
            Notice::SignedBefore { who: "H. Sato, 2026-11-20", measured: "2026-11-21" },
            Notice::UnknownZone { value: "Asia/Tokio" },
            Notice::CoreShared { cpu: 0 },
            Notice::Interrupted,
            Notice::Resumable { command: "wireproof resume" },
            Notice::RunsStored { runs: "r1, r2", command: "wireproof compare" },
            Notice::TimeLeft { seconds: 30 },
            Notice::Sending { interface: "eth1", to: "198.18.0.2" },
            Notice::Listening { interface: "eth1" },
            Notice::Capturing { interface: "eth1", file: "a.pcapng" },
            Notice::Captured { frames: 1, seen: 2, dropped: 3 },
            Notice::ThroughputAlias,
            Notice::Unprivileged,
            Notice::IsolatedOnly,
            Notice::NoDevice,
            Notice::NoRoot { machine: "far" },
            Notice::UnknownRecord { why: "cannot read line 1 of it" },
            Notice::ResetNow { seconds: 9 },
            Notice::ResetBy { command: "reboot" },
            Notice::ResetFailed { command: "reboot", why: "exit status 1" },
        ] {
            assert_ne!(notice.text(Lang::En), notice.text(Lang::Ja));
            assert!(!notice.text(Lang::Ja).contains('⟦') && !notice.text(Lang::En).contains('⟦'));
        }
    }
}
