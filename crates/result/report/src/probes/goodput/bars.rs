//! Goodput of several runs side by side: bit rates, packet rates, and cost.

use model::{GoodputSpec, Run, identity::Price};

use super::{
    datagrams::packets_per_second,
    group::{FlowGroup, flow_groups},
};
use crate::{
    figure::{self, Bars, Sides},
    groups::groups,
    material::Material,
    page::Figure,
    show,
    texts::Texts,
};

/// Goodput, packets a second, and goodput for the price, of each configuration that at least two of the runs have measured.
pub(super) fn figures(runs: &[Material<'_>], t: &Texts) -> Vec<Figure> {
    let goodput = measured(runs, |_, group| group.mean().map(|mean| mean.median), t);
    let (size, unit) = show::rate_unit(highest(&goodput));
    let axis = t.with("axis-goodput", &[("unit", &unit)]);
    let goodput = drawn(runs, t.get("figure-sides-goodput"), axis, in_unit(goodput, size), t);

    let packets = measured(runs, |_, group| group.over(packets_per_second).map(|it| it.median), t);
    let (size, unit) = show::packet_rate_unit(highest(&packets));
    let axis = t.with("axis-packets", &[("unit", &unit)]);
    let packets = drawn(runs, t.get("figure-sides-packets"), axis, in_unit(packets, size), t);
    [goodput, packets, for_the_price(runs, t)].concat()
}

/// Nothing unless at least two runs have a price, all in one currency.
fn for_the_price(runs: &[Material<'_>], t: &Texts) -> Vec<Figure> {
    let prices: Vec<Option<&Price>> = runs.iter().map(|one| price(one.run, runs)).collect();
    let mut known = prices.iter().flatten();
    let Some(Price { currency, .. }) = known.next() else { return vec![] };
    if !known.all(|price| price.currency == *currency) {
        return vec![];
    }
    let per_price = |index: usize, group: &FlowGroup<'_>| {
        let price = prices[index].filter(|price| price.amount > 0.0)?;
        Some(group.mean()?.median / price.amount)
    };
    let rates = measured(runs, per_price, t);
    let (size, unit) = show::rate_unit(highest(&rates));
    let axis = t.with("axis-per-price", &[("unit", &unit), ("currency", currency)]);
    drawn(runs, t.get("figure-sides-price"), axis, in_unit(rates, size), t)
}

/// Price of the run's equipment: the one under the run's name in any identity, or else the only one in its own.
fn price<'a>(run: &'a Run, runs: &[Material<'a>]) -> Option<&'a Price> {
    let prices = |run: &'a Run| run.identity.iter().flat_map(|identity| &identity.prices);
    let named = runs.iter().flat_map(|other| prices(other.run)).find(|price| price.of == run.id.0);
    named.or_else(|| prices(run).next().filter(|_| prices(run).count() == 1))
}

fn drawn(runs: &[Material<'_>], title: String, axis: String, bars: Vec<Bars>, t: &Texts) -> Vec<Figure> {
    let runs = runs.iter().map(|run| run_name(run, t)).collect();
    figure::side_by_side(Sides { title, note: t.get("figure-sides-note"), axis, runs }, &bars, t)
}

/// A run by its name and its device.
fn run_name(material: &Material<'_>, t: &Texts) -> String {
    let run = material.run;
    let mut drivers: Vec<&str> =
        run.bed.endpoints.iter().filter_map(|end| end.driver.known()).map(String::as_str).collect();
    drivers.dedup();
    let n: Vec<usize> = flow_groups(&groups::<GoodputSpec>(material)).iter().map(|group| group.flows.len()).collect();
    let n = match (n.iter().min(), n.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{least}–{most}"),
        (least, _) => least.map_or_else(|| show::NO_FIGURE.to_owned(), usize::to_string),
    };
    t.with("figure-sides-run", &[("run", &run.id), ("bed", &run.bed.name), ("drivers", &drivers.join(", ")), ("n", &n)])
}

/// A figure of each configuration and direction in each run, which it is given by its place.
fn measured(runs: &[Material<'_>], figure: impl Fn(usize, &FlowGroup<'_>) -> Option<f64>, t: &Texts) -> Vec<Bars> {
    let mut found: Vec<((GoodputSpec, String, String), Bars)> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        for group in flow_groups(&groups::<GoodputSpec>(run)) {
            let Some(value) = figure(index, &group) else { continue };
            let key = (group.spec.clone(), group.from.to_owned(), group.to.to_owned());
            let at = found.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                let name = group.name(t);
                found.push((key, Bars { name, values: vec![None; runs.len()] }));
                found.len() - 1
            });
            found[at].1.values[index] = Some(value);
        }
    }
    let bars = found.into_iter().map(|(_, bars)| bars);
    bars.filter(|bars| bars.values.iter().flatten().count() > 1).collect()
}

fn highest(bars: &[Bars]) -> f64 {
    bars.iter().flat_map(|one| one.values.iter().flatten().copied()).fold(0.0, f64::max)
}

fn in_unit(bars: Vec<Bars>, size: f64) -> Vec<Bars> {
    let scaled = |one: Bars| Bars { values: one.values.into_iter().map(|it| it.map(|it| it / size)).collect(), ..one };
    bars.into_iter().map(scaled).collect()
}
