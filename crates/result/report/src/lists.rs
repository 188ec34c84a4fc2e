//! Lists on a terminal: words of runs, baselines and references; beds that stay, and what was undone.

use std::fmt::Display;

use model::{Bed, Endpoint, ReadEntry, Reference};

use crate::{
    lang::Lang,
    show::{self, NO_FIGURE},
    texts::Texts,
};

/// Heads of the columns of `runs`.
pub fn runs_head(lang: Lang) -> [String; 6] {
    let t = Texts::of(lang);
    ["list-col-run", "list-col-started", "list-col-plan", "list-col-bed", "list-col-trials", "list-col-verdict"]
        .map(|key| t.get(key))
}

/// Sentence in place of a list without runs.
pub fn runs_none(lang: Lang) -> String {
    Texts::of(lang).get("list-runs-none")
}

/// The verdict, or the answer that stands in its place. A run that cannot be read has none, and its name is enough to find out why.
pub fn run_verdict(read: Option<&ReadEntry>, partial: bool, lang: Lang) -> String {
    let t = Texts::of(lang);
    let verdict = match read {
        None => t.get("list-unreadable"),
        Some(ReadEntry { verdict: Some(verdict), .. }) => show::verdict(*verdict, t),
        Some(ReadEntry { health: Some(health), .. }) => t.of_value("card-check-word", health),
        Some(ReadEntry { grade: Some(grade), .. }) => t.with("list-grade", &[("grade", grade)]),
        Some(_) => NO_FIGURE.to_owned(),
    };
    if partial { t.with("list-partial", &[("verdict", &verdict)]) } else { verdict }
}

/// Heads of the columns of `baseline show`.
pub fn baselines_head(lang: Lang) -> [String; 5] {
    let t = Texts::of(lang);
    ["list-col-plan", "list-col-bed", "list-col-baseline", "list-col-run", "list-col-started"].map(|key| t.get(key))
}

/// Sentence in place of a list without baselines.
pub fn baselines_none(lang: Lang) -> String {
    Texts::of(lang).get("list-baselines-none")
}

/// Heads of the columns of `references`.
pub fn references_head(lang: Lang) -> [String; 5] {
    let t = Texts::of(lang);
    ["list-col-reference", "list-col-figures", "list-col-measured", "list-col-by", "list-col-what"]
        .map(|key| t.get(key))
}

/// Cells of one reference.
pub fn reference_row(reference: &Reference, lang: Lang) -> [String; 5] {
    let or_unknown = |words: &Option<String>| words.clone().unwrap_or_else(|| "?".to_owned());
    [
        reference.id.clone(),
        reference.figures.len().to_string(),
        or_unknown(&reference.date),
        or_unknown(&reference.measured_by),
        show::words(&reference.title, Texts::of(lang)).to_owned(),
    ]
}

/// Folder of the user's own references.
pub fn references_folder(folder: &str, lang: Lang) -> String {
    Texts::of(lang).with("list-references-folder", &[("folder", &folder)])
}

/// A bed that stays, with a line for each end; `dut` is the namespace of the device between them.
pub fn bed_lines(bed: &Bed, dut: Option<&str>, lang: Lang) -> String {
    let t = Texts::of(lang);
    let end = |it: &Endpoint| {
        let addresses = it.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let values: [(&str, &dyn Display); 5] = [
            ("name", &it.name),
            ("namespace", &it.namespace),
            ("interface", &it.interface),
            ("mtu", &it.mtu.0),
            ("addresses", &addresses),
        ];
        t.with("list-bed-end", &values)
    };
    let dut =
        bed.dut.iter().zip(dut).map(|(device, namespace)| {
            t.with("list-bed-device", &[("name", &device.machine), ("namespace", &namespace)])
        });
    let key = if bed.simulated { "list-bed-simulated" } else { "list-bed" };
    let head = t.with(key, &[("name", &bed.name), ("what", &show::bed(bed, t))]);
    let ends = bed.endpoints.iter().map(end).chain(dut).map(|line| format!("  {line}\n"));
    format!("{head}\n{}", ends.collect::<String>())
}

/// How a new bed is used and taken down.
pub fn bed_hint(name: &str, lang: Lang) -> String {
    Texts::of(lang).with("list-bed-hint", &[("name", &name)])
}

/// Sentence in place of a list without beds.
pub fn beds_none(lang: Lang) -> String {
    Texts::of(lang).get("list-beds-none")
}

/// A line for each change that was undone, or that there was none.
pub fn undone_lines(changes: &[String], lang: Lang) -> String {
    let t = Texts::of(lang);
    let line = |change: &String| t.with("list-undone", &[("change", change)]) + "\n";
    if changes.is_empty() { t.get("list-undone-none") + "\n" } else { changes.iter().map(line).collect() }
}

#[cfg(test)]
mod tests {
    use model::{Verdict, bufferbloat::Grade, card_health::Health};

    use super::*;

    #[test]
    fn an_answer_to_the_plans_question_stands_in_place_of_a_verdict() {
        let read = |verdict, health, grade| {
            let (simulated, wireproof, configurations) = (true, String::new(), vec![]);
            let read = ReadEntry { simulated, verdict, health, grade, wireproof, configurations };
            [Lang::En, Lang::Ja].map(|lang| run_verdict(Some(&read), false, lang))
        };
        assert_eq!(read(None, None, None), ["–", "–"]);
        assert_eq!(read(None, None, Some(Grade::B)), ["grade B", "評価 B"]);
        assert_eq!(read(None, Some(Health::NotFine), Some(Grade::B)), ["not fine", "異常"]);
        assert_eq!(read(Some(Verdict::Pass), Some(Health::Fine), None), ["PASS", "合格"]);
        let unreadable = [Lang::En, Lang::Ja].map(|lang| run_verdict(None, true, lang));
        assert_eq!(unreadable, ["unreadable (partial)", "読み取り不可(一部のみ)"]);
    }

    #[test]
    fn what_was_undone_is_said_in_both_languages() {
        let changes = ["namespace wpdemo-a".to_owned()];
        let said = [Lang::En, Lang::Ja].map(|lang| undone_lines(&changes, lang));
        assert_eq!(said, ["undone: namespace wpdemo-a\n", "元に戻しました: namespace wpdemo-a\n"]);
        assert_eq!(undone_lines(&[], Lang::Ja), "元に戻すものはありません。\n");
    }
}
