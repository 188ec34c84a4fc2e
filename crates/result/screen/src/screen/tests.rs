use model::Nanos;
use ratatui::{Terminal, backend::TestBackend};
use rates::{DirectionCounts, DriverReading, Incarnation, LinkReading, LinkState};
use report::Lang;

use super::*;
use crate::lines::{lines, summary};

/// Two ends of a bed at 9.4 Gbit/s one way, and a card that is down.
fn watch(seconds: u64) -> Watch {
    let mut watch = Watch::new([], Nanos(0), readings(0));
    (1..=seconds).for_each(|second| watch.take(Nanos::from_secs(second), readings(second)));
    watch
}

fn readings(second: u64) -> Vec<LinkReading> {
    let busy =
        DirectionCounts { bytes: second * 1_176_500_000, packets: second * 777_000, ..DirectionCounts::default() };
    let acks = DirectionCounts {
        bytes: second * 1_500_000,
        packets: second * 22_700,
        dropped: 3 * second,
        ..DirectionCounts::default()
    };
    vec![
        reading(second, "", "eth0", "", [DirectionCounts::default(); 2]),
        reading(second, "wpdemo-a", "lab-a", "veth", [acks, busy]),
        reading(second, "wpdemo-b", "lab-b", "veth", [busy, acks]),
    ]
}

fn reading(second: u64, namespace: &str, name: &str, kind: &str, ways: [DirectionCounts; 2]) -> LinkReading {
    let queues = (0..2).flat_map(|queue| {
        [
            format!("rx_queue_{queue}_packets"),
            format!("rx_queue_{queue}_bytes"),
            format!("rx_queue_{queue}_xdp_redirect"),
        ]
    });
    let values = [ways[0].packets, ways[0].bytes, ways[0].packets / 2].repeat(2);
    LinkReading {
        at: Nanos::from_secs(second),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        incarnation: Incarnation::default(),
        state: LinkState {
            kind: kind.to_owned(),
            up: kind == "veth",
            operstate: if kind == "veth" { "up" } else { "down" }.to_owned(),
            mtu: 1500,
            line_bps: (kind != "veth").then_some(10_000_000_000),
            ..LinkState::default()
        },
        ways,
        driver: DriverReading { names: queues.collect(), values },
    }
}

fn drawn(watch: &Watch, screen: &mut Screen, columns: u16, rows: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| screen.draw(frame, watch, &[])).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let cells = usize::from(columns);
    buffer.content().chunks(cells).map(|row| row_text(row).trim_end().to_owned()).collect()
}

/// A wide character's second cell is no character of its own.
fn row_text(row: &[ratatui::buffer::Cell]) -> String {
    let mut text = String::new();
    for (at, cell) in row.iter().enumerate() {
        if width(&text) <= at {
            text += cell.symbol();
        }
    }
    text
}

fn screen(lang: Lang) -> Screen {
    Screen::new(WatchWords::of(lang), false, "1 s")
}

#[test]
fn eighty_by_twenty_four_shows_interfaces_and_one_in_full() {
    let watch = watch(70);
    let mut screen = screen(Lang::En);
    screen.press(KeyPress::Last, &watch);
    let text = drawn(&watch, &mut screen, 80, 24).join("\n");
    for said in [
        " wireproof watch  3 interfaces · every 1 s",
        "0:01:10\n",
        "▸lab-b       9.412 Gbit/s  777.0 kpps   0.012 Gbit/s   22.7 kpps     210       0",
        " wpdemo-b\n",
        "peak",
        "76.70 GiB",
        "54,390,000",
        "last 60 s, top 9.412 Gbit/s",
        "Received ████",
        "Queue",
    ] {
        assert!(text.contains(said), "{said:?} is not in\n{text}");
    }
}

#[test]
fn every_size_and_language_is_drawn_without_leaving_the_screen() {
    let watch = watch(65);
    for lang in [Lang::En, Lang::Ja] {
        let mut screen = screen(lang);
        for (columns, rows) in [(1, 1), (20, 4), (36, 5), (40, 24), (80, 24), (81, 11), (100, 60), (200, 50), (300, 8)]
        {
            let text = drawn(&watch, &mut screen, columns, rows);
            assert!(!text.join("").is_empty(), "{columns}×{rows}");
            assert!(text.iter().all(|line| width(line) <= usize::from(columns)), "{columns}×{rows}: {text:#?}");
            if columns >= 36 && rows >= 5 {
                assert!(text[0].contains("wireproof watch") && text[usize::from(rows) - 1].contains('q'), "{text:#?}");
            }
        }
    }
}

#[test]
fn columns_line_up_whatever_the_rates() {
    for lang in [Lang::En, Lang::Ja] {
        let (early, late) = (watch(2), watch(65));
        let at = |watch: &Watch, what: &str| {
            let lines = drawn(watch, &mut screen(lang), 100, 30);
            let line = lines.iter().find(|line| line.contains("lab-a")).unwrap();
            width(&line[..line.find(what).unwrap_or_else(|| panic!("{what}: {line}"))])
        };
        assert_eq!(at(&early, "Gbit/s"), at(&late, "Gbit/s"));
        assert_eq!(at(&early, "kpps"), at(&late, "kpps"));
    }
}

#[test]
fn two_hundred_interfaces_scroll_and_the_chosen_one_stays_in_sight() {
    let many = |second: u64| -> Vec<LinkReading> {
        (0..200)
            .map(|number| reading(second, "", &format!("veth{number}"), "veth", [DirectionCounts::default(); 2]))
            .collect()
    };
    let mut watch = Watch::new([], Nanos(0), many(0));
    watch.take(Nanos::from_secs(1), many(1));
    let mut screen = screen(Lang::En);
    assert!(drawn(&watch, &mut screen, 80, 24)[0].contains("1–8 of 200"));
    screen.press(KeyPress::By(10), &watch);
    let text = drawn(&watch, &mut screen, 80, 24).join("\n");
    assert!(text.contains("▸veth10 ") && !text.contains("veth2 "), "{text}");
    screen.press(KeyPress::Last, &watch);
    screen.press(KeyPress::Details, &watch);
    let text = drawn(&watch, &mut screen, 80, 24).join("\n");
    assert!(text.contains("180–200 of 200") && text.contains("▸veth199"), "{text}");
    screen.press(KeyPress::First, &watch);
    assert!(drawn(&watch, &mut screen, 80, 24).join("\n").contains("▸veth0 "));
}

#[test]
fn one_that_is_gone_is_said_and_stays_where_it_was() {
    let mut watch = Watch::new(["lab-a".to_owned()], Nanos(0), readings(0));
    watch.take(Nanos::from_secs(1), readings(1));
    watch.take(Nanos::from_secs(2), Vec::new());
    let text = drawn(&watch, &mut screen(Lang::En), 80, 24).join("\n");
    assert!(text.contains("▸lab-a      gone"), "{text}");
    let text = lines(&watch, &WatchWords::of(Lang::En), "12:00:00");
    assert_eq!(text, "12:00:00  wpdemo-a/lab-a  gone\n");
}

#[test]
fn what_cannot_be_read_is_said_at_the_foot() {
    let watch = watch(2);
    let mut terminal = Terminal::new(TestBackend::new(60, 12)).unwrap();
    let notes = ["wpdemo-c cannot be read: it is another user's".to_owned()];
    terminal.draw(|frame| screen(Lang::En).draw(frame, &watch, &notes)).unwrap();
    let last = row_text(&terminal.backend().buffer().content()[60 * 11..]);
    assert!(last.contains("wpdemo-c cannot be read"), "{last}");
}

#[test]
fn lines_and_summary_say_the_same() {
    let watch = watch(10);
    let words = WatchWords::of(Lang::En);
    let text = lines(&watch, &words, "12:00:00");
    let line = text.lines().find(|line| line.contains("lab-b")).unwrap();
    assert!(line.starts_with("12:00:00  wpdemo-b/lab-b  rx  9.412 Gbit/s  777.0 kpps  tx  0.012 Gbit/s"), "{line}");
    assert!(line.ends_with("Dropped 30  Errors 0"), "{line}");
    let text = summary(&watch, &words);
    for said in
        ["wpdemo-b/lab-b\n", "10.96 GiB", "7,770,000", "9.412 Gbit/s, 777.0 kpps", "without traffic: eth0", "0:00:10"]
    {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
}
