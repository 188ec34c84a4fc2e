//! Goals of RFC 9971 and what recorded trials say of them, as plain text.

use std::fmt::Display;

use model::search::{AssessedGoal, ClassifiedLoad, GoalResult};

use crate::{
    lang::Lang,
    show::{grouped, or_none, percent},
    terminal::{Row, table},
    texts::Texts,
};

/// A table of loads and the result, for each goal.
pub fn classified(goals: &[AssessedGoal], lang: Lang) -> String {
    let t = Texts::of(lang);
    let of_goal = |assessed: &AssessedGoal| {
        let goal = &assessed.goal;
        let heading = t.with(
            "classified-goal",
            &[
                ("goal", &goal.name),
                ("loss", &percent(goal.loss_ratio.0)),
                ("final", &goal.final_trial_duration),
                ("sum", &goal.duration_sum),
                ("exceed", &percent(goal.exceed_ratio.0)),
                ("width", &percent(goal.width.0)),
            ],
        );
        let rows = assessed.loads.iter().map(|load| row(load, t)).collect();
        let of = assessed.configuration.clone();
        let lines = [
            of.into_iter().chain([heading]).collect(),
            table(head(t), rows),
            vec![String::new()],
            result(&assessed.result, t),
        ];
        lines.concat().join("\n") + "\n"
    };
    goals.iter().map(of_goal).collect::<Vec<_>>().join("\n")
}

fn head(t: &Texts) -> [String; 4] {
    [
        t.get("classified-col-load"),
        t.get("classified-col-trials"),
        t.get("classified-col-exceed"),
        t.get("classified-col-classification"),
    ]
}

fn row(load: &ClassifiedLoad, t: &Texts) -> Row<4> {
    let [least, most] = [load.optimistic_exceed_ratio, load.pessimistic_exceed_ratio].map(percent);
    let cells = [
        number(load.load),
        grouped(load.trials as u64),
        if least == most { least } else { format!("{least} – {most}") },
        t.of_value("classification", &load.classification),
    ];
    Row(cells, vec![])
}

fn result(result: &GoalResult, t: &Texts) -> Vec<String> {
    let bounds: [(&str, &dyn Display); 3] = [
        ("lower", &or_none(result.relevant_lower_bound, number)),
        ("upper", &or_none(result.relevant_upper_bound, number)),
        ("width", &or_none(result.width, percent)),
    ];
    let throughput = or_none(result.conditional_throughput, number);
    let found = [t.with("classified-bounds", &bounds), t.with("classified-throughput", &[("throughput", &throughput)])];
    // First, since it is about the figures that follow.
    let why = result.irregular.map(|why| t.of_value("irregular", &why));
    why.into_iter().chain(found).collect()
}

/// A load, to three digits after the point; its unit is that of the file.
fn number(load: f64) -> String {
    let rounded = (load * 1e3).round() / 1e3;
    if rounded.fract() == 0.0 && (1.0..1e15).contains(&rounded) { grouped(rounded as u64) } else { load.to_string() }
}

#[cfg(test)]
mod tests {
    use model::{
        Nanos,
        search::{Classification, Goal, Irregular, Ratio},
    };

    use super::*;

    fn assessed() -> AssessedGoal {
        let load = |load, classification, [least, most]: [f64; 2]| ClassifiedLoad {
            load,
            classification,
            trials: 122,
            optimistic_exceed_ratio: least,
            pessimistic_exceed_ratio: most,
        };
        AssessedGoal {
            configuration: Some("packets IPv4 64 B".to_owned()),
            goal: Goal {
                name: "TST009".to_owned(),
                initial_trial_duration: None,
                final_trial_duration: Nanos::from_secs(60),
                duration_sum: Nanos::from_secs(120),
                loss_ratio: Ratio(0.0),
                exceed_ratio: Ratio(0.5),
                width: Ratio(0.005),
            },
            loads: vec![
                load(1e6, Classification::Lower, [0.5, 0.5]),
                load(1.004e6, Classification::Undecided, [0.0, 1.0]),
            ],
            result: GoalResult {
                irregular: Some(Irregular::NoUpperBound),
                relevant_lower_bound: Some(1e6),
                relevant_upper_bound: None,
                conditional_throughput: Some(999_000.000_1),
                width: None,
            },
        }
    }

    #[test]
    fn each_load_has_its_line_and_an_irregular_result_its_reason() {
        let text = classified(&[assessed(), assessed()], Lang::En);
        for line in [
            "TST009: final duration 60 s, sum 120 s, loss 0 %, exceed ratio 50.00 %, width 0.50 %\n",
            "  Load       Trials  With too much loss  Classification\n",
            "  1,000,000     122             50.00 %     lower bound\n",
            "  1,004,000     122      0 % – 100.00 %       undecided\n",
            "\n\nIrregular result: no load is an upper bound. Measure higher loads.\nRelevant lower bound 1,000,000, relevant upper bound – (difference –)\n",
            "\nConditional throughput 999,000\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert_eq!(text.matches("packets IPv4 64 B\nTST009: ").count(), 2);
        assert!(classified(&[assessed()], Lang::Ja).contains("下限"));
    }

    #[test]
    fn loads_keep_what_they_are() {
        assert_eq!([1e6, 0.5, 12.25, 14_880_952.0].map(number), ["1,000,000", "0.5", "12.25", "14,880,952"]);
    }
}
