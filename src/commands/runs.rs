//! Stored runs: lists, and reports written again.

use std::iter;

use console::Term;
use jiff::tz::TimeZone;
use model::{ReadEntry, Run, RunId, plain::one_line};
use report::Lang;
use store::{RunSummary, Store};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{concluded, language, print, table};
use crate::{cli::Common, exit::Exit, paths, references, zone};

/// `wireproof runs`, for people.
pub(super) fn list(common: &Common) -> anyhow::Result<Exit> {
    let runs = concluded::all(&mut open(common)?, &references::read(common)?)?;
    let zone = zone::of_caller();
    let lang = language(common);
    let verdict = |run: &RunSummary, read: Option<&ReadEntry>| report::run_verdict(read, run.partial, lang);
    let rows: Vec<_> = runs.iter().map(|(run, read)| row(run, verdict(run, read.as_ref().ok()), &zone)).collect();
    let terminal = Term::stdout();
    let width = terminal.is_term().then(|| terminal.size().1.into());
    print(&listed(&rows, width, lang))?;
    Ok(Exit::Done)
}

const STARTED: usize = 1;
const PLAN: usize = 2;
const BED: usize = 3;
const TRIALS: usize = 4;

/// A column is not made narrower than this.
const NARROWEST: usize = 8;

fn row(run: &RunSummary, verdict: String, zone: &TimeZone) -> [String; 6] {
    let RunSummary { id, started, plan, bed, trials, .. } = run;
    // To the minute; seconds stand in the name.
    let started = zone::minute(started, zone);
    [id.0.clone(), started, one_line(plan), one_line(bed), trials.to_string(), verdict]
}

/// A table no wider than this: names of beds are shortened first, then those of plans; at last the times are left out, which the
/// names of the runs tell too.
fn listed(rows: &[[String; 6]], width: Option<usize>, lang: Lang) -> String {
    if rows.is_empty() {
        return report::runs_none(lang) + "\n";
    }
    let head = report::runs_head(lang);
    let mut widths = table::widest(&head, rows);
    let over = |widths: &[usize; 6]| {
        let whole = widths.iter().sum::<usize>() + table::GAP * (widths.len() - 1);
        width.map_or(0, |width| whole.saturating_sub(width))
    };
    for column in [BED, PLAN] {
        widths[column] = widths[column].saturating_sub(over(&widths)).max(NARROWEST.min(widths[column]));
    }
    let columns: Vec<usize> = (0..widths.len()).filter(|column| *column != STARTED || over(&widths) == 0).collect();
    let figures = columns.iter().position(|column| *column == TRIALS);
    let line = |row: &[String; 6]| {
        let cells: Vec<_> = columns.iter().map(|column| shortened(&row[*column], widths[*column])).collect();
        let widths = columns.iter().map(|column| widths[*column]);
        table::line(&cells.iter().map(String::as_str).zip(widths).collect::<Vec<_>>(), figures)
    };
    iter::once(&head).chain(rows).map(line).collect()
}

/// The beginning of a text, no wider than this.
fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if short.width() + letter.width().unwrap_or_default() + 1 > width {
            break;
        }
        short.push(letter);
    }
    short + "…"
}

/// A run by its name, the beginning of it, or "last".
pub(super) fn load(store: &Store, run: &RunId) -> anyhow::Result<Run> {
    Ok(if run.0 == "last" { store.last()? } else { store.load(run)? })
}

/// The store, which exists.
pub(super) fn open(common: &Common) -> anyhow::Result<Store> {
    Ok(Store::open_to_read(&paths::store(common.store.as_deref())?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(plan: &str, bed: &str, trials: u32, verdict: &str) -> [String; 6] {
        let run = RunSummary {
            id: RunId("20261123-001432-0441".to_owned()),
            started: "2026-11-23T00:14:32Z".to_owned(),
            finished: None,
            plan: plan.to_owned(),
            bed: bed.to_owned(),
            trials,
            partial: true,
        };
        row(&run, verdict.to_owned(), &TimeZone::UTC)
    }

    #[test]
    fn a_list_shows_verdicts_and_fits_the_terminal() {
        let far = "hosts:ssh://root@198.18.100.2?dev=wire-f&addr=198.18.101.2/24";
        let rows =
            [of("quick", "lab", 4, "PASS"), of("certify", far, 1200, "FAIL"), of("受入試験", "lab", 1, "– (partial)")];
        let wide = listed(&rows, None, Lang::En);
        assert!(wide.contains(&format!("certify   {far}    1200  FAIL\n")), "{wide}");
        assert!(wide.contains("2026-11-23 00:14Z  受入試験  lab ") && wide.contains("– (partial)\n"), "{wide}");
        let narrow = listed(&rows, Some(80), Lang::En);
        assert!(narrow.lines().all(|line| line.width() <= 80), "{narrow}");
        assert!(narrow.contains("  hosts:s…    1200  FAIL\n"), "{narrow}");
        let narrower = listed(&rows, Some(62), Lang::En);
        assert!(narrower.contains("0441  certify   hosts:s…    1200  FAIL\n"), "{narrower}");
        let japanese = listed(&rows, Some(80), Lang::Ja);
        assert!(japanese.starts_with("測定番号 ") && japanese.lines().all(|line| line.width() <= 80), "{japanese}");
        assert!(listed(&[], None, Lang::Ja).contains("wireproof verify"));
    }
}
