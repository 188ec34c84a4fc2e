//! The first page: verdict, key figures, and reasons for care. The main figures in words follow it.

use model::{FreeFigure, KeyFigure, LimitOutcome, Place, Run};

use super::{failed::failed, rfc2544, searches::lines as search_lines};
use crate::{
    columns::Columns,
    doubts::gather,
    lang::Lang,
    limited::place_at,
    material::Material,
    outcome,
    page::{Block, Item, Span, Text},
    probes, show,
    texts::Texts,
};

/// Nothing for real hardware.
pub(super) fn simulated(run: &Run, t: &Texts) -> Vec<Block> {
    let notice = || Block::Notice { word: t.get("simulated"), text: t.get("simulated-meaning").into() };
    run.bed.simulated.then(notice).into_iter().collect()
}

/// The verdict, how many criteria have which, and why some have none. Where another answer stands in its place, only whether the run is
/// partial.
pub(super) fn verdict(material: &Material<'_>, t: &Texts) -> Option<Block> {
    let Material { run, assessment, .. } = material;
    let partial = run.partial.then(|| Text::strong(show::partial(run, t)));
    let Some((word, meaning)) = show::overall(assessment, t) else { return partial.map(Block::Paragraph) };
    let tally = assessment.verdict.map(|_| Text::strong(show::tally(&assessment.page_one, t)));
    let meaning = tally.into_iter().chain([Text::from(meaning)]).chain(partial).collect();
    Some(Block::Verdict { verdict: assessment.verdict, word, meaning })
}

/// One of the figures that say most, in words.
struct Key<'k> {
    name: String,
    value: String,
    range: String,
    outcome: Option<&'k LimitOutcome>,
    /// Share of the intended load, where the sender missed it.
    load_reached: Option<f64>,
}

/// A few figures against their criteria; nothing where nothing was measured.
pub(super) fn key_figures(material: &Material<'_>, t: &Texts) -> Option<Block> {
    let Material { run, assessment, .. } = *material;
    let of_outcome = |outcome: &'_ LimitOutcome| (outcome::name(run, outcome, t), outcome.limit.metric);
    let key = |figure: &KeyFigure| {
        let (name, metric, median, interval, load_reached, outcome) = match figure {
            KeyFigure::Judged(index) => {
                let outcome = assessment.outcomes.get(*index)?;
                let (name, metric) = of_outcome(outcome);
                (name, metric, outcome.median, outcome.interval, outcome.load_reached, Some(outcome))
            }
            KeyFigure::Free(FreeFigure { spec, from, metric, median, interval, load_reached }) => {
                let way = from.clone().zip(run.bed.receiver().map(|end| end.name.clone()));
                let name = show::of_senders(run, (spec, *metric), probes::way(spec, way.as_ref(), t), t);
                (name, *metric, Some(*median), *interval, *load_reached, None)
            }
        };
        Some(Key {
            name: show::figure_of(&name, ": ", metric, t),
            value: show::or_none(median, |value| show::metric_value(metric, value)),
            range: show::or_none(interval, |it| show::metric_range(metric, it.low, it.high)),
            outcome,
            load_reached,
        })
    };
    let missed = |share: f64| t.with("key-load-missed", &[("percent", &format!("{:.1}", 100.0 * share))]);
    let named = |key: &Key<'_>| {
        let name = Text::from(key.name.as_str());
        // Markdown begins strong words behind a space alone.
        let with = |share| name.clone().and(Span::Plain(" ".to_owned())).and(Span::Strong(missed(share)));
        key.load_reached.map_or_else(|| name.clone(), with)
    };
    let keys: Vec<Key<'_>> = assessment.page_one.key_figures.iter().filter_map(key).collect();
    let is_judged = keys.iter().any(|key| key.outcome.is_some());
    let mark = |outcome: &LimitOutcome| Span::Verdict(outcome.verdict, show::verdict(outcome.verdict, t)).into();
    let none = || Text::from(show::NO_FIGURE);
    let table = Columns::new()
        .long(t.get("col-figure"), named)
        .figures(t.get("col-result"), |it| Text::strong(it.value.clone()))
        .words(t.get("col-verdict"), |it| it.outcome.map_or_else(none, mark))
        .only_if(is_judged)
        .long(t.get("col-criterion"), |it| it.outcome.map_or_else(none, |outcome| show::criterion(outcome, t).into()))
        .only_if(is_judged)
        .figures(t.get("col-interval"), |it| it.range.clone())
        .only_if(keys.iter().any(|key| key.range != show::NO_FIGURE))
        .table(t.get("key-figures-caption"), &keys);
    (!keys.is_empty()).then_some(table)
}

/// Failures and remedies, the gravest doubt, and what limited the figures, in a sentence each.
pub(super) fn caveats(material: &Material<'_>, t: &Texts) -> Option<Block> {
    let doubt = || (t.get("page-doubt"), gravest_doubt(material, t).into());
    let mut terms = failed(material, t);
    let has_doubt = material.assessment.page_one.worst_doubt.is_some();
    terms.extend((has_doubt || !material.run.trials.is_empty()).then(doubt));
    terms.extend(limited(material, t).map(|words| (t.get("col-limited"), words.into())));
    (!terms.is_empty()).then_some(Block::Terms(terms))
}

fn gravest_doubt(material: &Material<'_>, t: &Texts) -> String {
    let Some(worst) = &material.assessment.page_one.worst_doubt else { return t.get("page-no-doubt") };
    let all = gather(material.run);
    let is_kind = |it: &model::Doubt| std::mem::discriminant(it) == std::mem::discriminant(worst);
    let Some(worst) = all.iter().find(|it| is_kind(&it.doubt)) else { return t.get("page-no-doubt") };
    let words = in_short(&worst.advice(material.run, t.lang), t);
    let first = match worst.some_trials(material.run) {
        Some(count) => {
            t.with("page-doubt-in", &[("count", &count), ("of", &material.run.trials.len()), ("words", &words)])
        }
        None => words,
    };
    match all.len() {
        0 | 1 => first,
        several => {
            let more = t.with("page-doubts-more", &[("count", &(several - 1)), ("heading", &t.get("doubts-heading"))]);
            t.with("sentences", &[("a", &first), ("b", &more)])
        }
    }
}

/// The first sentence and the last one, which is the remedy; the whole advice stands under its heading.
fn in_short(advice: &str, t: &Texts) -> String {
    match sentences(advice, t.lang).as_slice() {
        [first, .., remedy] => t.with("sentences", &[("a", first), ("b", remedy)]),
        _ => advice.to_owned(),
    }
}

/// Words between full stops, those of words quoted in Japanese left out.
fn sentences(words: &str, lang: Lang) -> Vec<&str> {
    match lang {
        Lang::En => {
            let ends = words.match_indices(". ").map(|(at, _)| at + 1).chain([words.len()]);
            ends.scan(0, |start, end| Some(words[std::mem::replace(start, end)..end].trim())).collect()
        }
        Lang::Ja => {
            let mut quoted = 0_usize;
            let is_end = |c: char| {
                match c {
                    '「' => quoted += 1,
                    '」' => quoted = quoted.saturating_sub(1),
                    _ => {}
                }
                c == '。' && quoted == 0
            };
            words.split_inclusive(is_end).collect()
        }
    }
}

fn limited(material: &Material<'_>, t: &Texts) -> Option<String> {
    let limit = material.assessment.page_one.main_limit.as_ref()?;
    let others = limit.also.iter().map(|(place, end)| (*place, end.as_deref()));
    let places = [(limit.place, limit.endpoint.as_deref())].into_iter().chain(others);
    let places: Vec<String> = places.map(|(place, end)| place_at(place, end, t)).collect();
    let place = places.join(&t.get("list-comma"));
    let key = match limit.place {
        Place::NotKnown => "page-limited-unknown",
        Place::IntendedLoad => "page-limited-load",
        _ if limit.also.is_empty() => "page-limited",
        _ => "page-limited-each",
    };
    let values: [(&str, &dyn std::fmt::Display); 3] = [("place", &place), ("count", &limit.count), ("of", &limit.of)];
    Some(t.with(key, &values))
}

/// The main figures in words.
pub(super) fn summary(material: &Material<'_>, t: &Texts) -> Block {
    let of_tests = rfc2544::headlines(material.assessment, t).into_iter();
    let headlines = of_tests.chain(probes::ALL.iter().flat_map(|probe| probe.headlines(material, t)));
    let stacks = probes::ALL.iter().flat_map(|probe| probe.stack_headlines(material, t));
    let searches = search_lines(material.assessment, t);
    let lines: Vec<Item> = searches.into_iter().chain(headlines).chain(stacks).map(Item::from).collect();
    let block = match lines.is_empty() {
        true => Block::Paragraph(t.get("headline-none").into()),
        false => Block::List(lines),
    };
    Block::section(t.get("summary-heading"), vec![block])
}

#[cfg(test)]
mod tests {
    use super::{in_short, sentences};
    use crate::{lang::Lang, texts::Texts};

    #[test]
    fn sentences_are_told_apart_in_either_language() {
        let english = "It was 3.5 % (RFC 1812, 5.3). Repeat.";
        assert_eq!(sentences(english, Lang::En), ["It was 3.5 % (RFC 1812, 5.3).", "Repeat."]);
        assert_eq!(sentences("Alone.", Lang::En), ["Alone."]);
        let japanese = "応答の欠落があります(3.5 %)。再測定してください。";
        assert_eq!(sentences(japanese, Lang::Ja), ["応答の欠落があります(3.5 %)。", "再測定してください。"]);
        let quoting = "失敗しました(原文: 「gone. 「再起動。」 Log in」)。再測定してください。";
        assert_eq!(sentences(quoting, Lang::Ja)[0], "失敗しました(原文: 「gone. 「再起動。」 Log in」)。");
        assert_eq!(sentences("のみ", Lang::Ja), ["のみ"]);
    }

    #[test]
    fn a_doubt_is_said_in_short_with_its_remedy() {
        let [en, ja] = [Lang::En, Lang::Ja].map(Texts::of);
        assert_eq!(in_short("It was slow. It counts. Repeat.", en), "It was slow. Repeat.");
        assert_eq!(in_short("遅れました。含まれます。再測定してください。", ja), "遅れました。再測定してください。");
        assert_eq!([in_short("Repeat.", en), in_short("", en)], ["Repeat.", ""]);
    }
}
