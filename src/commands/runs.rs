//! Stored runs: lists, and reports written again.

use std::array;

use console::Term;
use jiff::tz::TimeZone;
use model::{ReadEntry, Run, RunId, plain::one_line};
use store::{RunSummary, Store, StoreError};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{concluded, print};
use crate::{cli::Common, exit::Exit, paths, references, zone};

/// `wireproof runs`, for people.
pub(super) fn list(common: &Common) -> anyhow::Result<Exit> {
    let runs = concluded::all(&mut open(common)?, &references::read(common)?)?;
    let zone = zone::of_caller();
    let rows: Vec<_> = runs.iter().map(|(run, read)| row(run, verdict_text(read), &zone)).collect();
    let terminal = Term::stdout();
    let width = terminal.is_term().then(|| terminal.size().1.into());
    print(&listed(&rows, width))?;
    Ok(Exit::Done)
}

/// The verdict in words, or the answer that stands in its place. A run that cannot be read has none, and its name is enough to find out why.
fn verdict_text(read: &Result<ReadEntry, StoreError>) -> String {
    let Ok(read) = read else { return "unreadable".to_owned() };
    let verdict = read.verdict.map(|verdict| verdict.to_string());
    let health = || read.health.map(|health| health.to_string());
    let grade = || read.grade.map(|grade| format!("grade {grade}"));
    verdict.or_else(health).or_else(grade).unwrap_or_else(|| "–".to_owned())
}

const HEAD: [&str; 6] = ["run", "started", "plan", "bed", "trials", "verdict"];
const STARTED: usize = 1;
const PLAN: usize = 2;
const BED: usize = 3;
const TRIALS: usize = 4;

/// Between two columns.
const GAP: usize = 2;

/// A column is not made narrower than this.
const NARROWEST: usize = 8;

fn row(run: &RunSummary, verdict: String, zone: &TimeZone) -> [String; 6] {
    let verdict = if run.partial { format!("{verdict} (partial)") } else { verdict };
    let RunSummary { id, started, plan, bed, trials, .. } = run;
    // To the minute; seconds stand in the name.
    let started = zone::minute(started, zone);
    [id.0.clone(), started, one_line(plan), one_line(bed), trials.to_string(), verdict]
}

/// A table no wider than this: names of beds are shortened first, then those of plans; at last the times are left out, which the
/// names of the runs tell too.
fn listed(rows: &[[String; 6]], width: Option<usize>) -> String {
    if rows.is_empty() {
        return "Nothing has been measured yet; start with \"wireproof verify\".\n".to_owned();
    }
    let head = HEAD.map(str::to_owned);
    let all = || [&head].into_iter().chain(rows);
    let widest = |column: usize| all().map(|row| row[column].width()).max().unwrap_or_default();
    let mut widths: [usize; 6] = array::from_fn(widest);
    let over = |widths: &[usize; 6]| {
        let whole = widths.iter().sum::<usize>() + GAP * (HEAD.len() - 1);
        width.map_or(0, |width| whole.saturating_sub(width))
    };
    for column in [BED, PLAN] {
        widths[column] = widths[column].saturating_sub(over(&widths)).max(NARROWEST.min(widths[column]));
    }
    let columns: Vec<usize> = (0..HEAD.len()).filter(|column| *column != STARTED || over(&widths) == 0).collect();
    all().map(|row| line(row, &columns, &widths)).collect()
}

fn line(row: &[String; 6], columns: &[usize], widths: &[usize; 6]) -> String {
    let cell = |column: usize| {
        let text = shortened(&row[column], widths[column]);
        let pad = " ".repeat(widths[column].saturating_sub(text.width()));
        if column == TRIALS { format!("{pad}{text}") } else { format!("{text}{pad}") }
    };
    let cells: Vec<String> = columns.iter().map(|column| cell(*column)).collect();
    cells.join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
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
    use model::{Verdict, bufferbloat::Grade, card_health::Health};

    use super::*;

    fn of(plan: &str, bed: &str, trials: u32, verdict: &str) -> [String; 6] {
        let run = RunSummary {
            id: RunId("20261123-001432-0441".to_owned()),
            started: "2026-11-23T00:14:32Z".to_owned(),
            finished: None,
            plan: plan.to_owned(),
            bed: bed.to_owned(),
            trials,
            partial: verdict == "–",
        };
        row(&run, verdict.to_owned(), &TimeZone::UTC)
    }

    #[test]
    fn an_answer_to_the_plans_question_stands_in_place_of_a_verdict() {
        let read = |verdict, health, grade| {
            let (simulated, wireproof, configurations) = (true, String::new(), vec![]);
            verdict_text(&Ok(ReadEntry { simulated, verdict, health, grade, wireproof, configurations }))
        };
        assert_eq!(read(None, None, None), "–");
        assert_eq!(read(None, None, Some(Grade::B)), "grade B");
        assert_eq!(read(None, Some(Health::NotFine), Some(Grade::B)), "not-fine");
        assert_eq!(read(Some(Verdict::Pass), Some(Health::Fine), None), "PASS");
    }

    #[test]
    fn a_list_shows_verdicts_and_fits_the_terminal() {
        let far = "hosts:ssh://root@198.18.100.2?dev=wire-f&addr=198.18.101.2/24";
        let rows = [of("quick", "lab", 4, "PASS"), of("certify", far, 1200, "FAIL"), of("受入試験", "lab", 1, "–")];
        let wide = listed(&rows, None);
        assert!(wide.contains(&format!("certify   {far}    1200  FAIL\n")), "{wide}");
        assert!(wide.contains("2026-11-23 00:14Z  受入試験  lab ") && wide.contains("– (partial)\n"), "{wide}");
        let narrow = listed(&rows, Some(80));
        assert!(narrow.lines().all(|line| line.width() <= 80), "{narrow}");
        assert!(narrow.contains("  hosts:s…    1200  FAIL\n"), "{narrow}");
        let narrower = listed(&rows, Some(62));
        assert!(narrower.contains("0441  certify   hosts:s…    1200  FAIL\n"), "{narrower}");
        assert!(listed(&[], None).contains("wireproof verify"));
    }
}
