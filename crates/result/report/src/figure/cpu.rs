//! How cores spent their time.

use model::CoreUse;

use super::{
    axis::{Axis, Scale},
    rows::{Row, Rows, Shape},
};
use crate::{
    page::{Figure, LegendEntry},
    texts::Texts,
};

/// A core with the configuration that it was busy with, and its name there.
pub(crate) struct NamedCore {
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) core: CoreUse,
}

/// Each core as a bar of its CPU time by kind. Nothing if the kinds were not stored.
pub(crate) fn cores(cores: &[NamedCore], t: &Texts) -> Vec<Figure> {
    let kinds = [
        t.get("cpu-user"),
        t.get("cpu-system"),
        t.get("cpu-softirq"),
        t.get("cpu-irq"),
        t.get("cpu-steal"),
        t.get("cpu-idle"),
    ];
    let row = |index: usize, NamedCore { group, name, core }: &NamedCore| {
        let parts = parts(core)?;
        let shares = kinds.iter().zip(parts).map(|(kind, share)| format!("{kind} {share:.0} %"));
        let description = format!("{group}, {name}: {}", shares.collect::<Vec<_>>().join(", "));
        let is_first = index == 0 || cores[index - 1].group != *group;
        let heading = if is_first { group.clone() } else { String::new() };
        Some(Row { heading, name: name.clone(), description, shapes: stacked(&parts) })
    };
    let all: Option<Vec<Row>> = cores.iter().enumerate().map(|(index, core)| row(index, core)).collect();
    let percent = |value: u32| (f64::from(value), value.to_string());
    let rows = Rows {
        title: t.get("figure-cores"),
        note: t.get("figure-cores-note"),
        x: Axis {
            name: t.get("axis-core-time"),
            scale: Scale::Linear,
            low: 0.0,
            high: 100.0,
            ticks: (0..=100).step_by(20).map(percent).collect(),
        },
        rows: all.unwrap_or_default(),
        legend: kinds.into_iter().enumerate().map(|(style, name)| LegendEntry::solid(style, name)).collect(),
    };
    rows.figures()
}

/// User, system, soft interrupts, interrupts, steal, idle. Medians of several trials do not add up to all of the time; what is
/// left is idle.
fn parts(core: &CoreUse) -> Option<[f64; 6]> {
    let kinds = core.kinds?;
    let busy = [kinds.user, kinds.system, core.softirq, kinds.irq, core.steal];
    let [user, system, softirq, irq, steal] = busy;
    Some([user, system, softirq, irq, steal, (100.0 - busy.iter().sum::<f64>()).max(0.0)])
}

/// Parts side by side, each with the mark of its kind if there is room; parts too narrow to see are left out.
fn stacked(parts: &[f64; 6]) -> Vec<Shape> {
    const VISIBLE: f64 = 0.1;
    const ROOM: f64 = 3.0;
    let mut from = 0.0;
    let mut shapes = Vec::new();
    for (style, share) in parts.iter().enumerate().filter(|(_, share)| **share >= VISIBLE) {
        let to = (from + share).min(100.0);
        shapes.push(Shape::Fill { style, from, to });
        shapes.extend((to - from >= ROOM).then_some(Shape::Dot { style, at: f64::midpoint(from, to) }));
        from = to;
    }
    shapes
}

#[cfg(test)]
mod tests {
    use model::CoreKinds;

    use super::*;

    #[test]
    fn a_core_has_no_more_than_all_of_its_time() {
        let kinds = CoreKinds { user: 20.0, system: 50.0, irq: 1.0, idle: 9.0 };
        let core = CoreUse { softirq: 20.0, kinds: Some(kinds), ..CoreUse::default() };
        assert_eq!(parts(&core), Some([20.0, 50.0, 20.0, 1.0, 0.0, 9.0]));
        let over = parts(&CoreUse { steal: 30.0, ..core }).unwrap();
        assert_eq!(over[5], 0.0);
        assert!(!stacked(&over).iter().any(|shape| matches!(shape, Shape::Fill { to, .. } if *to > 100.0)));
        assert_eq!(parts(&CoreUse::default()), None);
    }
}
