//! Runs side by side, and the baselines that later runs are held against.

use std::path::Path;

use model::{Comparison, Run, RunId, json::pretty};
use report::{BaselineEntry, BaselinesDocument, ComparisonDocument, Lang, Material, Notice};
use store::{Baseline, Store};
use verdict::Chosen;

use super::{
    answer, language,
    report::{check_pdf, set_pdf},
    runs::{load, open},
    table::table,
    tell,
};
use crate::{
    cli::{BaselineAction, Common, Compared, ComparedFormat},
    exit::{Exit, Words},
    paths, zone,
};

/// `wireproof compare RUN…`
pub(super) fn compare(compared: &Compared, common: &Common) -> anyhow::Result<Exit> {
    check_pdf(compared.formats.contains(&ComparedFormat::Pdf))?;
    let runs = find(&open(common)?, &compared.runs)?;
    let [reference, others @ ..] = runs.as_slice() else { return Err(nothing_to_compare().into()) };
    let comparison = verdict::compare(reference, others, compared.tolerance.0 / 100.0);
    answer(&ComparisonDocument::of(&comparison), || report::comparison(&comparison, language(common)), common)?;
    if let Some(folder) = &compared.out {
        write(&comparison, &runs, folder, &compared.formats, common)?;
    }
    Ok(comparison.conclusion.into())
}

/// Writes a file for each form.
fn write(
    comparison: &Comparison,
    runs: &[Run],
    folder: &Path,
    formats: &[ComparedFormat],
    common: &Common,
) -> anyhow::Result<()> {
    let lang = language(common);
    let assessed: Vec<_> = runs.iter().map(|run| verdict::assess(run, &[], &Chosen::None)).collect();
    let zone = zone::of_caller();
    let material = |(run, assessment)| Material { zone: &zone, ..Material::of(run, assessment) };
    let runs: Vec<_> = runs.iter().zip(&assessed).map(material).collect();
    paths::make_folder(folder)?;
    for format in formats {
        paths::write(&folder.join(format.file_name()), form(*format, comparison, &runs, lang)?)?;
    }
    let first = formats.first().map_or_else(|| folder.to_owned(), |format| folder.join(format.file_name()));
    tell(Notice::ReportWritten { path: &first.display().to_string() }, common);
    Ok(())
}

fn form(format: ComparedFormat, comparison: &Comparison, runs: &[Material<'_>], lang: Lang) -> anyhow::Result<Vec<u8>> {
    let text = match format {
        ComparedFormat::Html => report::comparison_html(comparison, runs, lang),
        ComparedFormat::Pdf => return set_pdf(&report::comparison_typst(comparison, runs, lang)),
        ComparedFormat::Md => report::comparison_markdown(comparison, runs, lang),
        ComparedFormat::Json => pretty(&serde_json::to_string(&ComparisonDocument::of(comparison))?),
    };
    Ok(text.into_bytes())
}

/// The runs meant, the reference first: a single one is compared with its baseline. Captures go by their name and content, wherever they were.
fn find(store: &Store, ids: &[RunId]) -> anyhow::Result<Vec<Run>> {
    // A baseline is that of a plan on a bed: those of the first run that is named.
    let named = ids.iter().find(|id| baseline_name(id).is_none()).ok_or_else(nothing_to_compare)?;
    let named = load(store, named)?;
    let find_one = |id: &RunId| -> anyhow::Result<Run> {
        match baseline_name(id) {
            Some(name) => Ok(store.baseline_for(&named, name)?),
            None => load(store, id),
        }
    };
    let runs = match ids {
        [_] => vec![store.baseline_for(&named, "")?, named],
        ids => ids.iter().map(find_one).collect::<anyhow::Result<_>>()?,
    };
    Ok(runs.iter().map(Run::with_captures_beside).collect())
}

/// `baseline` is the one without a name, `baseline:NAME` another.
fn baseline_name(id: &RunId) -> Option<&str> {
    match id.0.strip_prefix("baseline")? {
        "" => Some(""),
        rest => rest.strip_prefix(':'),
    }
}

fn nothing_to_compare() -> Words {
    Words("name a run to compare, like \"last\"; \"wireproof runs\" lists them".to_owned())
}

/// `wireproof baseline …`
pub(super) fn baseline(action: &BaselineAction, common: &Common) -> anyhow::Result<Exit> {
    let baselines = match action {
        BaselineAction::Set { run, name } => {
            let mut store = Store::open_existing(&paths::store(common.store.as_deref())?)?;
            let run = load(&store, run)?;
            vec![store.set_baseline(&run, name)?]
        }
        BaselineAction::Show => open(common)?.baselines()?,
    };
    let document = BaselinesDocument::of(baselines.iter().cloned().map(entry).collect());
    answer(&document, || listed(&baselines, language(common)), common)?;
    Ok(Exit::Done)
}

fn entry(Baseline { bed, plan, name, run, started }: Baseline) -> BaselineEntry {
    BaselineEntry { bed, plan, name, run, started }
}

fn listed(baselines: &[Baseline], lang: Lang) -> String {
    if baselines.is_empty() {
        return report::baselines_none(lang) + "\n";
    }
    let zone = zone::of_caller();
    let row = |Baseline { bed, plan, name, run, started }: &Baseline| {
        [plan.clone(), bed.clone(), name.clone(), run.0.clone(), zone::minute(started, &zone)]
    };
    table(&report::baselines_head(lang), &baselines.iter().map(row).collect::<Vec<_>>(), None)
}

#[cfg(test)]
mod tests {
    use model::{Measured, Mtu, PacketsResult, Plan, ProbeSpec, fixture};
    use run::Archive;

    use super::*;

    #[test]
    fn a_capture_is_the_same_in_another_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("runs.db")).unwrap();
        let ids = ["/home/x/a.pcap", "/tmp/a.pcap", "/tmp/b.pcap"].map(|capture| {
            let stream = format!("stream = [{{ name = \"r\", replay = \"{capture}\" }}]");
            let plan = Plan::parse(&format!("name = \"p\"\n[[packets]]\nduration = \"1 s\"\n{stream}"), &[]).unwrap();
            let ProbeSpec::Packets(spec) = plan.specs().remove(0) else { panic!("planned") };
            let result = PacketsResult { mtu: Mtu(1500), streams: vec![fixture::packet_stream(1, 1)] };
            let id = RunId(format!("r{}", capture.replace(['/', '.'], "-")));
            let run = Run { id: id.clone(), ..fixture::run(plan) };
            store.begin(&run).unwrap();
            store.keep_trial(&run.id, &fixture::trial(Measured::Packets { spec, result })).unwrap();
            id
        });
        let common = |ids: &[RunId]| {
            let runs = find(&store, ids).unwrap();
            verdict::compare(&runs[0], &runs[1..], 0.0).runs[0].configurations.len()
        };
        assert_eq!(common(&ids[..2]), 1);
        assert_eq!(common(&ids[1..]), 0, "another one");
    }

    #[test]
    fn a_baseline_is_told_from_a_run() {
        let name = |id: &str| baseline_name(&RunId(id.to_owned())).map(str::to_owned);
        assert_eq!(name("baseline"), Some(String::new()));
        assert_eq!(name("baseline:release 1"), Some("release 1".to_owned()));
        assert_eq!((name("last"), name("baselines"), name("20261121")), (None, None, None));
    }
}
