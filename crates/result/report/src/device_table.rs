//! Throughputs of devices under test in one table: as plain text, Markdown and CSV.

use std::iter;

use csv::{Terminator, WriterBuilder};
use model::{
    Verdict,
    alike::distinct,
    device_table::{DeviceRow, DeviceTable},
    rfc2544::PortRates,
    stream::Sizes,
};
use unicode_width::UnicodeWidthStr;

use crate::{
    cells::without_formula,
    forms::markdown_table,
    lang::Lang,
    show::{self, NO_FIGURE, or_none, percent},
    texts::Texts,
};

/// Columns of words; figures follow, and then words again.
const WORDS: usize = 3;
const FIGURES: usize = 5;

/// Names of the ports; numbers, as in the CSV, where those of two rows differ.
fn ports(table: &DeviceTable) -> Vec<String> {
    let named = |place: usize| distinct(table.rows.iter().filter_map(|row| Some(&row.ports.get(place)?.port)));
    let names: Vec<_> = (0..most_ports(table)).map(named).collect();
    let is_one_bed = names.iter().all(|names| names.len() == 1);
    let name = |(place, names): (usize, &Vec<&String>)| match names.as_slice() {
        [name] if is_one_bed => (*name).clone(),
        _ => format!("port{}", place + 1),
    };
    names.iter().enumerate().map(name).collect()
}

/// Ports that rows have at the most.
fn most_ports(table: &DeviceTable) -> usize {
    table.rows.iter().map(|row| row.ports.len()).max().unwrap_or_default()
}

/// The table as plain text for the terminal.
pub fn device_table(table: &DeviceTable, lang: Lang) -> String {
    let t = Texts::of(lang);
    let (head, rows) = cells(table, t);
    let width = |column: usize| iter::once(&head).chain(&rows).map(|row| row[column].width()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let figures = WORDS..WORDS + FIGURES + 2 * most_ports(table);
    let line = |row: &Vec<String>| {
        let padded = |(column, cell): (usize, &String)| {
            let pad = " ".repeat(widths[column] - cell.width());
            if figures.contains(&column) { format!("{pad}{cell}") } else { format!("{cell}{pad}") }
        };
        row.iter().enumerate().map(padded).collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let lines = iter::once(&head).chain(&rows).map(line);
    lines.chain(notes(table, t)).map(|line| line + "\n").collect()
}

/// The table as Markdown.
pub fn device_table_markdown(table: &DeviceTable, lang: Lang) -> String {
    let t = Texts::of(lang);
    let (head, rows) = cells(table, t);
    let figures = WORDS..WORDS + FIGURES + 2 * most_ports(table);
    let notes = notes(table, t).collect::<Vec<_>>().join("\n\n");
    format!("{}\n\n{notes}\n", markdown_table(&head, |column| figures.contains(&column), &rows))
}

/// The head, and the cells of each row.
fn cells(table: &DeviceTable, t: &Texts) -> (Vec<String>, Vec<Vec<String>>) {
    let ports = ports(table);
    let of_ports =
        ports.iter().flat_map(|port| ["col-port-tx", "col-port-rx"].map(|key| t.with(key, &[("port", port)])));
    let key = |key: &str| t.get(key);
    let head = [key("device-table-device"), key("device-table-setting"), key("col-frame")].into_iter();
    let head = head.chain([key("device-table-cores"), key("rfc2544-throughput")]).chain(of_ports);
    let head = head.chain([key("device-table-sum"), key("device-table-forwarded"), key("rfc2544-col-share")]);
    let head: Vec<String> =
        head.chain([key("rfc2544-col-remark"), key("device-table-run"), key("device-table-machine")]).collect();
    let rows = table.rows.iter().map(|row| row_cells(row, ports.len(), t)).collect();
    (head, rows)
}

fn row_cells(row: &DeviceRow, ports: usize, t: &Texts) -> Vec<String> {
    let frame = row.frame_size.map(|size| size.0.to_string());
    let mix = row.mix.as_ref().map(|mix| if *mix == Sizes::Imix { mix.words() } else { mix.to_string() });
    let throughput = row.throughput_pps.map(|pps| match row.is_bounded {
        Some(false) => t.with("rfc2544-or-more", &[("value", &mpps(pps))]),
        _ => mpps(pps),
    });
    let rate =
        |place: usize, of: fn(&PortRates) -> f64| or_none(row.ports.get(place).map(of).filter(|pps| *pps > 0.0), mpps);
    let of_ports = (0..ports).flat_map(|place| [rate(place, |port| port.tx_pps), rate(place, |port| port.rx_pps)]);
    let share = row.throughput_pps.zip(row.line_pps).map(|(pps, line)| percent(pps / line));
    let words = [row.device.clone(), settings(row), frame.or(mix).unwrap_or_default()].into_iter();
    let figures = [or_none(row.cores, |cores| cores.to_string()), or_none(throughput, |it| it)].into_iter();
    let sums = [or_none(row.sum_pps, mpps), or_none(row.forwarded_pps, mpps), or_none(share, |it| it)];
    let last = [remarks(row, t), row.run.to_string(), row.machine.clone()];
    words.chain(figures).chain(of_ports).chain(sums).chain(last).collect()
}

/// Settings in which rows differ, by their keys.
fn settings(row: &DeviceRow) -> String {
    let all: Vec<String> = row.settings.iter().map(|(key, value)| format!("{key} {value}")).collect();
    if all.is_empty() { NO_FIGURE.to_owned() } else { all.join(", ") }
}

/// A result that the tester does not vouch for, and a run that is not whole.
fn remarks(row: &DeviceRow, t: &Texts) -> String {
    let beyond = (row.is_vouched == Some(false)).then(|| show::verdict(Verdict::Inconclusive, t));
    let partial = row.is_partial.then(|| t.get("device-table-partial"));
    let all: Vec<String> = beyond.into_iter().chain(partial).collect();
    if all.is_empty() { NO_FIGURE.to_owned() } else { all.join(", ") }
}

/// Millions of frames a second.
fn mpps(pps: f64) -> String {
    format!("{:.4}", pps / 1e6)
}

/// Meaning of the columns, of INCONCLUSIVE where a row has it, and of several machines.
fn notes(table: &DeviceTable, t: &Texts) -> impl Iterator<Item = String> {
    let is_beyond = table.rows.iter().any(|row| row.is_vouched == Some(false));
    let verdict = show::verdict(Verdict::Inconclusive, t);
    let beyond = is_beyond.then(|| t.with("search-beyond-tester", &[("verdict", &verdict)]));
    let machines = table.has_several_machines.then(|| t.get("device-table-machines"));
    [Some(t.get("device-table-meaning")), beyond, machines].into_iter().flatten()
}

/// The table as CSV (RFC 4180), with units in the names of the columns. English always, as the JSON is.
pub fn device_table_csv(table: &DeviceTable) -> Result<String, csv::Error> {
    let mut bytes = Vec::new();
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(&mut bytes);
    let ports = most_ports(table);
    let of_ports = (1..=ports).flat_map(|port| ["tx_pps", "rx_pps"].map(|rate| format!("port{port}_{rate}")));
    let head = "run device machine settings frame_size_bytes sizes cores throughput_pps is_bounded is_vouched";
    let sums = "sum_pps forwarded_pps forwarded_l1_bps line_pps is_partial";
    let words = |names: &'static str| names.split(' ').map(str::to_owned);
    writer.write_record(words(head).chain(of_ports).chain(words(sums)))?;
    for row in &table.rows {
        writer.write_record(csv_cells(row, ports).iter().map(|cell| without_formula(cell)))?;
    }
    writer.flush()?;
    drop(writer);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn csv_cells(row: &DeviceRow, ports: usize) -> Vec<String> {
    fn text(value: Option<impl ToString>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    let rates = (0..ports).map(|place| row.ports.get(place));
    let of_ports = rates.flat_map(|port| [text(port.map(|it| it.tx_pps)), text(port.map(|it| it.rx_pps))]);
    let settings: Vec<String> = row.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let first = [row.run.to_string(), row.device.clone(), row.machine.clone(), settings.join(" ")].into_iter();
    let first = first.chain([text(row.frame_size.map(|size| size.0)), text(row.mix.as_ref()), text(row.cores)]);
    let first = first.chain([text(row.throughput_pps), text(row.is_bounded), text(row.is_vouched)]);
    let sums = [text(row.sum_pps), text(row.forwarded_pps), text(row.forwarded_l1_bps), text(row.line_pps)];
    first.chain(of_ports).chain(sums).chain([row.is_partial.to_string()]).collect()
}

#[cfg(test)]
mod tests {
    use model::{FrameSize, RunId};

    use super::*;

    fn table() -> DeviceTable {
        let port = |port: &str, tx_pps, rx_pps| PortRates {
            port: port.to_owned(),
            tx_pps,
            rx_pps,
            tx_l1_bps: 0.0,
            rx_l1_bps: 0.0,
        };
        let row = |cores, is_bounded| DeviceRow {
            run: RunId("r1".to_owned()),
            device: "lab:router".to_owned(),
            machine: "rack".to_owned(),
            cores: Some(cores),
            frame_size: Some(FrameSize(64)),
            mix: None,
            settings: [("ip".to_owned(), "6".to_owned())].into(),
            throughput_pps: Some(1e6),
            is_bounded: Some(is_bounded),
            is_vouched: Some(is_bounded),
            ports: vec![port("a", 1e6, 0.0), port("b", 0.0, 1e6)],
            sum_pps: Some(2e6),
            forwarded_pps: Some(1e6),
            forwarded_l1_bps: Some(672e6),
            line_pps: Some(14.88e6),
            is_partial: !is_bounded,
        };
        DeviceTable { rows: vec![row(1, true), row(2, false)], has_several_machines: true }
    }

    #[test]
    fn a_table_keeps_what_a_result_is_worth() {
        let text = device_table(&table(), Lang::En);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].contains("lab:router  ip 6") && lines[1].contains("1      1.0000  1.0000     –     –  1.0000"),
            "{text}"
        );
        assert!(lines[2].contains("≥ 1.0000") && lines[2].contains("INCONCLUSIVE, "), "{text}");
        assert!(text.contains("several machines"), "{text}");
        assert!(device_table(&table(), Lang::Ja).contains("1.0000 以上"));
    }

    #[test]
    fn ports_of_different_beds_are_numbered() {
        let mut table = table();
        let head = |table: &DeviceTable| device_table(table, Lang::En).lines().next().map(str::to_owned).unwrap();
        assert!(head(&table).contains("a Tx  "), "{}", head(&table));
        table.rows[1].ports[0].port = "eth1".to_owned();
        assert!(head(&table).contains("port1 Tx") && head(&table).contains("port2 Rx"), "{}", head(&table));
        assert!(!head(&table).contains("a Tx"), "{}", head(&table));
    }

    #[test]
    fn markdown_and_csv_have_the_same_rows() {
        let markdown = device_table_markdown(&table(), Lang::En);
        assert!(markdown.contains("| lab:router | ip 6 | 64 | 2 | ≥ 1.0000 |"), "{markdown}");
        assert!(markdown.lines().nth(1).unwrap().starts_with("| :-- | :-- | :-- | --: |"), "{markdown}");
        let csv = device_table_csv(&table()).unwrap();
        let lines: Vec<&str> = csv.split("\r\n").collect();
        assert_eq!(lines[0].split(',').count(), lines[1].split(',').count());
        assert!(
            lines[2].starts_with("r1,lab:router,rack,ip=6,64,,2,1000000,false,false,1000000,0,0,1000000,2000000,"),
            "{csv}"
        );
    }
}
