//! Comparisons of runs, and the baseline.

use serde_json::Value;

use crate::{
    planted::Bad,
    program::{Desk, Done, text},
};

/// The fewest trials with a conclusive result.
const PLAN: &str = r#"
name = "watched"
repeats = 4
[[latency]]
protocol = "udp"
frame_sizes = [64]
count = 1000
warmup = 50
[[goodput]]
protocol = "tcp"
duration = "1 s"
warmup = "100 ms"
"#;

const BED: &str = "watched";

#[test]
fn a_run_is_held_against_its_baseline_and_the_exit_status_says_what_came_of_it() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let absent = desk.run(&["baseline", "set", "last"]);
    absent.fails(1, &["no store"]);

    measure(&desk, &[]);
    desk.run(&["compare", "last"]).fails(1, &["no baseline is set for plan \"watched\" on bed \"watched\""]);
    desk.run(&["compare", "baseline"]).fails(2, &["name a run to compare"]);
    let set = desk.run(&["baseline", "set", "last", "--json"]);
    assert_eq!((set.status, &set.json()["baselines"][0]["bed"]), (0, &"watched".into()), "{}", set.err);
    let same = compared(&desk, &["last"]);
    assert_eq!(
        (same.status, conclusion(&same)),
        (4, "nothing-new".into()),
        "a run says nothing of itself: {}",
        same.out
    );
    assert!(desk.run(&["compare", "last"]).out.contains("nothing new was measured since"));

    Bad::new(&desk, BED).at("a", "tc qdisc add dev lab-a root tbf rate 200mbit burst 64kb limit 1mb");
    measure(&desk, &[]);
    let slow = compared(&desk, &["last", "--tolerance", "50%"]);
    assert_eq!((slow.status, conclusion(&slow)), (3, "worse".into()), "{}", slow.out);
    let goodput = &slow.json()["runs"][0]["configurations"][1]["figures"][0];
    assert_eq!((&goodput["figure"], &goodput["finding"]), (&"goodput_mean".into(), &"worse".into()));
    let shown = desk.run(&["compare", "baseline", "last"]);
    assert!(shown.status == 3 && shown.out.contains("worse") && shown.out.contains("Gbit/s"), "{}", shown.out);
    let out = desk.path("side-by-side");
    desk.run(&["compare", "last", "--lang", "ja", "--out", text(&out)]);
    let page = std::fs::read_to_string(out.join("compare.html")).unwrap();
    assert!(page.contains("測定の比較") && page.contains("<svg") && out.join("compare.json").exists());
    let forms = desk.path("forms");
    desk.run(&["compare", "last", "--out", text(&forms), "--format", "md,pdf"]);
    let markdown = std::fs::read_to_string(forms.join("compare.md")).unwrap();
    assert!(markdown.contains("**Table 1** ") && markdown.contains("> **Worse**"), "{markdown}");
    assert!(std::fs::read(forms.join("compare.pdf")).unwrap().starts_with(b"%PDF-"));
    assert!(!forms.join("compare.html").exists());
    desk.run(&["compare", "last", "--format", "md"]).fails(2, &["--out"]);
    let back = compared(&desk, &["last", "baseline", "--tolerance", "50%"]);
    assert_eq!(back.json()["runs"][0]["configurations"][1]["figures"][0]["finding"], "better");

    measure(&desk, &["--repeats", "1"]);
    let few = compared(&desk, &["last"]);
    assert_eq!((few.status, conclusion(&few)), (4, "not-decidable".into()), "{}", few.out);
    measure(&desk, &["--repeats", "1", "--set", "goodput.streams=2", "--set", "latency.count=500"]);
    assert_eq!(
        (compared(&desk, &["last"]).status, conclusion(&compared(&desk, &["last"]))),
        (4, "nothing-in-common".into())
    );
    assert_eq!(desk.run(&["baseline", "show", "--json"]).json()["baselines"].as_array().unwrap().len(), 1);
}

fn measure(desk: &Desk, more: &[&str]) {
    let plan = desk.plan(PLAN);
    let done = desk.run(&[&["verify", text(&plan), "--bed", BED, "--quiet"], more].concat());
    assert_eq!(done.status, 0, "{}", done.err);
}

fn compared(desk: &Desk, words: &[&str]) -> Done {
    let done = desk.run(&[&["compare", "--json"], words].concat());
    let schema = jsonschema::validator_for(&desk.run(&["schema", "compare"]).json()).unwrap();
    assert!(schema.is_valid(&done.json()), "{}", done.out);
    done
}

fn conclusion(done: &Done) -> Value {
    done.json()["conclusion"].clone()
}
