//! An acceptance test between two ports, printed in Japanese: the first page alone says what a reader needs.

use std::{fs, path::Path, process::Command};

use crate::{
    ports::{BED, Machine},
    program::{Desk, text},
};

/// The sections of the plan `certify`, shorter, with bounds that two virtual ports keep, and one that no machine does.
const PLAN: &str = r#"
name = "acceptance"
repeats = 6
[[path]]
ip = 4
[[latency]]
protocol = "tcp"
mode = "spin"
frame_sizes = [72, 1518]
count = 200
warmup = 20
[[latency]]
protocol = "udp"
mode = "spin"
frame_sizes = [64, 1518]
count = 200
warmup = 20
[[goodput]]
protocol = "tcp"
window = "1 MiB"
duration = "1 s"
warmup = "100 ms"
[[limits]]
metric = "path_mtu"
at_least = "1500"
[[limits]]
metric = "rtt_p50"
at_most = "1 s"
[[limits]]
metric = "goodput_mean"
at_least = "900 Gbit/s"
"#;

const META: &str =
    "title = \"受入試験\"\n[[item]]\nwhat = \"ケーブル両端の表示\"\nresult = \"片側のみ\"\nverdict = \"fail\"\n";

/// The first page as one line without spaces.
fn first_page(pdf: &Path) -> String {
    let read = Command::new("pdftotext").args(["-l", "1", "-layout", text(pdf), "-"]).output().unwrap();
    assert!(read.status.success(), "{read:?}");
    String::from_utf8(read.stdout).unwrap().split_whitespace().collect()
}

#[test]
fn the_first_page_of_a_japanese_pdf_says_the_verdict_why_the_key_figures_and_what_to_do() {
    let desk = Desk::new();
    let machine = Machine::new(&desk);
    let (plan, meta, out) = (desk.plan(PLAN), desk.path("meta.toml"), desk.path("out"));
    fs::write(&meta, META).unwrap();
    let to = ["--lang", "ja", "--format", "pdf", "--out", text(&out)];
    let verify = machine.run(&[&["verify", text(&plan), "--bed", BED, "--meta", text(&meta)], &to[..]].concat());
    assert_eq!(verify.status, 3, "a limit and an item fail: {}", verify.err);

    let page = first_page(&out.join("report.pdf"));
    for said in [
        "受入試験",
        // The verdict, and how many criteria it is of.
        "不合格合格5、不合格2、判定できず0。7項目のうち2項目が不合格です。",
        // A key figure that failed and one that passed, with their limits.
        "900.00Gbit/s以上",
        "1500B合格1500B以上",
        // The reason.
        "不合格の内容測定値1件(上の表で「不合格」)、ケーブル両端の表示–片側のみ(人による確認)",
        // Remedies.
        "「再測定」に示すコマンドで測定し直してください。",
        "人による確認で不合格とした点を是正し、",
        // A doubt and the limit.
        "最も重要な注意",
        "制限要因",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}
