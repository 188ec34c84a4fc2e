//! A dry run: the steps of a plan.

use model::ProbeSpec;

use crate::{lang::Lang, probes, show, texts::Texts};

/// The steps of a plan.
#[derive(Clone, Debug)]
pub struct Preview<'a> {
    /// Name of the plan.
    pub plan: &'a str,
    /// Name of the bed.
    pub bed: &'a str,
    /// Changes to the machine for the bed, in the ledger's words; empty for a standing bed.
    pub set_up: &'a [String],
    /// Changes for single trials, in the ledger's words.
    pub for_trials: &'a [String],
    /// Each configuration once, in the order of the plan.
    pub items: &'a [PreviewItem],
}

/// One configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewItem {
    /// The measurement.
    pub spec: ProbeSpec,
    /// How often.
    pub times: usize,
    /// About how long each time takes, in seconds.
    pub seconds: f64,
}

impl PreviewItem {
    /// About how long all its trials take, in seconds.
    pub fn total(&self) -> f64 {
        self.times as f64 * self.seconds
    }
}

/// The preview as text for a terminal.
pub fn preview(preview: &Preview<'_>, lang: Lang) -> String {
    let t = Texts::of(lang);
    let lines = |lines: &[String]| lines.iter().map(|line| format!("  {line}\n")).collect::<String>();
    let set_up = match preview.set_up {
        [] => format!("{}\n", t.with("preview-stands", &[("bed", &preview.bed)])),
        changes => format!("{}\n{}", t.get("preview-set-up"), lines(changes)),
    };
    let for_trials = match preview.for_trials {
        [] => String::new(),
        changes => format!("{}\n{}", t.get("preview-for-trials"), lines(changes)),
    };
    let steps: Vec<String> = preview.items.iter().map(|item| step(item, t)).collect();
    let total: f64 = preview.items.iter().map(PreviewItem::total).sum();
    let total = t.with("preview-total", &[("time", &time(total))]);
    let heading = t.with("preview-steps", &[("plan", &preview.plan)]);
    format!("{set_up}{for_trials}{heading}\n{}{total}\n", lines(&steps))
}

fn step(item: &PreviewItem, t: &Texts) -> String {
    let what = probes::measurement(&item.spec, t);
    let values: [(&str, &dyn std::fmt::Display); 3] =
        [("times", &item.times), ("what", &what), ("time", &time(item.total()))];
    t.with("preview-step", &values)
}

fn time(seconds: f64) -> String {
    show::time_left(seconds.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use model::Plan;

    use super::*;

    #[test]
    fn a_preview_says_what_is_done_how_often_and_for_how_long() {
        let plan = "name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]";
        let spec = Plan::parse(plan, &[]).unwrap().specs().remove(0);
        let items = [PreviewItem { spec, times: 6, seconds: 30.4 }];
        let set_up = ["namespace wp1-a".to_owned()];
        let of = |set_up, for_trials, lang| {
            preview(&Preview { plan: "t", bed: "rack", set_up, for_trials, items: &items }, lang)
        };
        let english = of(&set_up, &[], Lang::En);
        assert_eq!(
            english,
            "Set up on this machine, and undone at the end:\n  namespace wp1-a\nSteps of plan \u{201c}t\u{201d}:\n  \
             6 × latency, UDP IPv4, spin, 64 B: about 4 min\nIn total about 4 min, plus a few seconds for the bed.\n"
        );
        let standing = of(&[], &set_up, Lang::Ja);
        assert!(
            standing.contains("rack")
                && standing.contains("namespace wp1-a")
                && standing.contains("スピン待ち")
                && !standing.contains('⟦'),
            "{standing}"
        );
    }
}
