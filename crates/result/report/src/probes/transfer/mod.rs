//! Transfers of a file.

mod cost;
mod document;
mod tables;

use model::{
    TransferResult, TransferSpec, Verdict,
    probe::{SMALL_FILE, SMALL_FILES},
    trial::Disks,
};

pub use self::document::TransferFigures;
use super::{MainFigure, Probe, Spec};
use crate::{
    groups::{Group, Spread, groups},
    material::Material,
    method,
    page::Block,
    show::{self, or_none},
    terminal::{self, Row},
    texts::Texts,
};

/// The probe.
pub(super) struct Transfer;

type TransferGroup<'a> = Group<'a, TransferSpec>;

impl TransferGroup<'_> {
    fn name(&self, t: &Texts) -> String {
        show::with_way(self.spec.configuration(t), self.way, t)
    }

    /// Programs that the ends lack, with the commands that install it; nothing where they have all.
    fn lacks(&self, t: &Texts) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for lack in self.trials.iter().flat_map(|(_, result)| &result.lacks) {
            let values: [(&str, &dyn std::fmt::Display); 3] =
                [("program", &lack.program.name), ("endpoint", &lack.endpoint), ("command", &lack.remedy())];
            let line = t.with("transfer-lacks", &values);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// Limits of the rate, or that the transfer was too short to tell them, what encrypted, and programs that the ends lack.
    fn remarks(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let least = self.assessed.iter().find_map(|assessed| cost::too_short(assessed));
        let too_short = least.map(|least| t.with("transfer-too-short", &[("least", &least)]));
        let limits = material.limits(&self.spec.clone().into(), self.way, t);
        let kernel_tls = self.trials.iter().find_map(|(_, result)| result.kernel_tls);
        let kernel_tls = kernel_tls.map(|it| t.of_value("transfer-kernel-tls", &it));
        limits.into_iter().chain(too_short).chain(kernel_tls).chain(self.lacks(t)).collect()
    }

    /// Transfers whose contents are other ones at the receiving end.
    fn damaged(&self) -> u64 {
        self.sum(|result| u64::from(result.is_damaged()))
    }

    /// Small files per second; nothing where one file is moved.
    fn files_per_s(&self) -> Option<Spread> {
        self.over(|result| result.files_per_s(self.spec))
    }

    /// Median of a rate of the disks alone.
    fn over_disks(&self, of: impl Fn(&Disks) -> f64) -> Option<f64> {
        let rates: Vec<f64> = self.trials.iter().filter_map(|(_, result)| result.disks.as_ref().map(&of)).collect();
        Spread::of(&rates).map(|spread| spread.median)
    }

    fn is_run(&self) -> bool {
        self.trials.iter().all(|(_, result)| result.is_run())
    }

    /// The rate, or why there is none.
    fn rate(&self, show: impl Fn(&Spread) -> String, t: &Texts) -> String {
        match self.over(TransferResult::bps) {
            Some(rate) => show(&rate),
            None if !self.is_run() => t.of_value("verdict", &Verdict::NotRun),
            None if self.damaged() > 0 => t.get("transfer-damaged"),
            None => show::NO_FIGURE.to_owned(),
        }
    }
}

impl Probe for Transfer {
    fn method(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let asked = super::asked::<TransferSpec>(material.run);
        let item = |spec: &TransferSpec| {
            let (name, words) = (spec.configuration(t), t.of_value("transfer-method", &spec.method));
            t.with("method-transfer-item", &[("name", &name), ("words", &words)])
        };
        let mut blocks =
            method::paragraphs(&["method-transfer", "method-transfer-programs", "method-transfer-hash"], t);
        if asked.iter().any(|spec| spec.is_many()) {
            blocks.extend(method::paragraphs(&["method-transfer-small"], t));
        }
        if asked.iter().any(|spec| spec.file.is_some()) {
            blocks.extend(method::paragraphs(&["method-transfer-disk"], t));
        }
        blocks.push(method::list(asked.iter().map(item)));
        (!asked.is_empty()).then(|| Block::section(t.get("transfer-heading"), blocks))
    }

    fn results(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let groups = groups::<TransferSpec>(material);
        (!groups.is_empty()).then(|| tables::section(&groups, material, t))
    }

    fn headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let line = |group: &TransferGroup<'_>| {
            let mib = group.over(TransferResult::mib_per_s)?;
            let rate = group.over(TransferResult::bps)?;
            let (mib, rate) = (format!("{:.1}", mib.median), show::rate(rate.median));
            if let Some(files) = group.files_per_s() {
                let values: [(&str, &dyn std::fmt::Display); 3] =
                    [("name", &group.name(t)), ("files", &format!("{:.0}", files.median)), ("mib", &mib)];
                return Some(t.with("headline-transfer-small", &values));
            }
            Some(t.with("headline-transfer", &[("name", &group.name(t)), ("mib", &mib), ("rate", &rate)]))
        };
        groups::<TransferSpec>(material).iter().filter_map(line).collect()
    }

    fn failures(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let damaged = |group: &TransferGroup<'_>| {
            let (name, damaged, of) = (group.name(t), group.damaged(), group.trials.len());
            let values: [(&str, &dyn std::fmt::Display); 3] = [("name", &name), ("damaged", &damaged), ("of", &of)];
            (damaged > 0).then(|| t.with("transfer-damaged-of", &values))
        };
        groups::<TransferSpec>(material).iter().filter_map(damaged).collect()
    }

    fn main_figures(&self, material: &Material<'_>, t: &Texts) -> Vec<MainFigure> {
        let figure = |group: &TransferGroup<'_>| MainFigure {
            spec: group.spec.clone().into(),
            name: group.name(t),
            value: match group.files_per_s() {
                Some(files) => format!("{:.0} files/s", files.median),
                None => group.rate(|rate| format!("{} MiB/s", tables::mib(rate.median)), t),
            },
        };
        groups::<TransferSpec>(material).iter().map(figure).collect()
    }

    fn terminal_table(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let head = [t.get("transfer-heading"), t.get("col-trials"), "MiB/s".to_owned(), "Gbit/s".to_owned()];
        let row = |group: &TransferGroup<'_>| {
            let gbit = or_none(group.over(TransferResult::bps), |rate| tables::gbit(rate.median));
            let mib = group.rate(|rate| tables::mib(rate.median), t);
            let files = group.files_per_s().map(|rate| format!("{:.0} files/s", rate.median));
            let remarks = files.into_iter().chain(group.remarks(material, t)).collect();
            Row([group.name(t), group.trials.len().to_string(), mib, gbit], remarks)
        };
        terminal::table(head, groups::<TransferSpec>(material).iter().map(row).collect())
    }

    fn terms(&self, _: &Material<'_>) -> Vec<&'static str> {
        Vec::new()
    }
}

impl Spec for TransferSpec {
    fn configuration(&self, t: &Texts) -> String {
        let mtu = self.mtu.map(|mtu| format!("MTU {}", mtu.0));
        let small = || format!("{} × {SMALL_FILE}", show::grouped(SMALL_FILES));
        let size = self.size.map(|size| size.to_string()).or_else(|| self.is_many().then(small));
        let method = format!("{} {}", self.method, self.ip);
        super::told_apart(
            self,
            show::joined([method].into_iter().chain(size).chain(self.file.clone()).chain(mtu), t),
            t,
        )
    }

    fn rate(&self, per_second: f64) -> String {
        show::rate(per_second)
    }

    fn load_unit(&self, per_second: f64) -> (f64, &'static str) {
        show::rate_unit(per_second)
    }
}
