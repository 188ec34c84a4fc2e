//! GitHub-flavoured Markdown, for wikis, issues and mail. A figure is its description here, since no drawing survives there.

use model::{Comparison, plain::plain, tuning::TuningEffect};

use super::numbers;
use crate::{
    content,
    lang::Lang,
    material::Material,
    page::{Block, ColumnKind, Figure, Issuer, Item, Number, Page, Section, Span, Table, Text},
    texts::Texts,
};

/// The report as Markdown.
pub fn markdown(material: &Material<'_>, lang: Lang) -> String {
    let t = &material.texts(lang);
    plain(&document(&content::page(material, t), t))
}

/// Runs side by side as Markdown. `runs` are those compared, the reference first.
pub fn comparison_markdown(comparison: &Comparison, runs: &[Material<'_>], lang: Lang) -> String {
    let t = &Material::texts_of(runs, lang);
    plain(&document(&content::comparison(comparison, runs, t), t))
}

/// A table of plain words, without a caption.
pub(crate) fn table(head: &[String], is_figures: impl Fn(usize) -> bool, rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| row(&cells.iter().map(|cell| escaped(cell)).collect::<Vec<_>>());
    let rule = |column| if is_figures(column) { "--:" } else { ":--" }.to_owned();
    let rules: Vec<String> = (0..head.len()).map(rule).collect();
    [line(head), row(&rules)].into_iter().chain(rows.iter().map(|cells| line(cells))).collect::<Vec<_>>().join("\n")
}

/// The effect of a tuning as Markdown. `runs` are the first measurement, that with all steps, and that after the undoing.
pub fn effect_markdown(effect: &TuningEffect, runs: &[Material<'_>], lang: Lang) -> String {
    let t = &Material::texts_of(runs, lang);
    plain(&document(&content::effect(effect, runs, t), t))
}

fn document(page: &Page, t: &Texts) -> String {
    let identity = page.identity.iter().chain(&page.approvals).map(|(label, value)| {
        let value = if value.is_empty() { "\\_\\_\\_\\_\\_\\_\\_\\_".to_owned() } else { escaped(value) };
        format!("- **{}**: {value}", escaped(label))
    });
    let mut out = Markdown { t, depth: 1, parts: vec![] };
    if let Some(Issuer { name, address, .. }) = &page.issuer {
        let lines: Vec<String> =
            [name].into_iter().chain(address).filter(|line| !line.is_empty()).map(|it| escaped(it)).collect();
        out.add(lines.join("\\\n"));
    }
    out.add(format!("# {}", escaped(&page.title)));
    out.all(&page.cover);
    out.add(identity.collect::<Vec<_>>().join("\n"));
    out.all(&page.front);
    out.all(&page.body);
    out.add("---".to_owned());
    out.add(format!("{}\n{}", escaped(&page.statement), code(&page.reference)));
    out.parts.join("\n\n") + "\n"
}

/// Parts of a document as far as it has got, each to stand between empty lines.
struct Markdown<'t> {
    t: &'t Texts,
    /// Level of the last heading.
    depth: usize,
    parts: Vec<String>,
}

impl Markdown<'_> {
    fn add(&mut self, part: String) {
        self.parts.push(part);
    }

    fn all(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Section(section) => self.section(section),
            Block::Verdict { word, meaning, .. } => {
                let meaning: String = meaning.iter().map(|words| format!("\n>\n> {}", text(words))).collect();
                self.add(format!("> **{}**{meaning}", escaped(word)));
            }
            Block::Notice { word, text: words } => self.add(format!("> **{}** {}", escaped(word), text(words))),
            Block::Paragraph(words) | Block::Note(words) => self.add(paragraph(words)),
            Block::List(items) => self.add(items.iter().map(item).collect::<Vec<_>>().join("\n")),
            Block::Terms(terms) => {
                let term = |(term, meaning): &(String, Text)| format!("- **{}**: {}", escaped(term), text(meaning));
                self.add(terms.iter().map(term).collect::<Vec<_>>().join("\n"));
            }
            Block::Table(table) => self.table(table),
            Block::Facts { number, caption, rows } => self.facts(*number, caption, rows),
            Block::Figure(figure) => self.figure(figure),
            Block::Command(command) => self.add(fenced(command)),
            Block::Folded { summary, blocks } => {
                self.add(format!("<details><summary>{}</summary>", html_escaped(summary)));
                self.all(blocks);
                self.add("</details>".to_owned());
            }
        }
    }

    fn section(&mut self, section: &Section) {
        self.depth += 1;
        self.add(format!("{} {}", "#".repeat(self.depth), escaped(&section.title)));
        self.all(&section.blocks);
        self.depth -= 1;
    }

    fn table(&mut self, table: &Table) {
        let number = numbers::table(table.number, self.t);
        self.add(format!("**{number}** {}", escaped(&table.caption)));
        let head: Vec<String> = table.columns.iter().map(|column| escaped(&column.head)).collect();
        let rule = table.columns.iter().map(|column| if column.kind == ColumnKind::Figures { "--:" } else { ":--" });
        let rule: Vec<String> = rule.map(str::to_owned).collect();
        let rows = table.rows.iter().map(|cells| row(&cells.iter().map(cell).collect::<Vec<_>>()));
        self.add([row(&head), row(&rule)].into_iter().chain(rows).collect::<Vec<_>>().join("\n"));
    }

    fn facts(&mut self, number: Number, caption: &str, rows: &[(String, Text)]) {
        let number = numbers::table(number, self.t);
        self.add(format!("**{number}** {}", escaped(caption)));
        let kept = rows.iter().filter(|(_, value)| !value.is_empty());
        let rows = kept.map(|(label, value)| format!("| {} | {} |", escaped(label), cell(value)));
        // There is no table without a head.
        self.add(["| | |", "|:--|:--|"].map(str::to_owned).into_iter().chain(rows).collect::<Vec<_>>().join("\n"));
    }

    fn figure(&mut self, figure: &Figure) {
        let number = numbers::figure(figure.number, self.t);
        self.add(format!("**{number}** **{}** {}", escaped(&figure.caption), escaped(&figure.note)));
        self.add(format!("> {}", escaped(&figure.description)));
        if !figure.legend.is_empty() {
            self.add(
                figure.legend.iter().map(|entry| format!("- {}", escaped(&entry.name))).collect::<Vec<_>>().join("\n"),
            );
        }
    }
}

fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

fn item(item: &Item) -> String {
    let note = item.note.as_ref().map_or(String::new(), |note| format!("\\\n  {}", text(note)));
    format!("- {}{note}", text(&item.text))
}

/// A table ends a cell at each bar, also within code.
fn cell(words: &Text) -> String {
    let piece = |piece: &Span| match piece {
        Span::Code(words) => code(words).replace('|', "\\|"),
        other => span(other),
    };
    words.0.iter().map(piece).collect()
}

/// The beginning of a line must not make it a heading or an item of a list.
fn paragraph(words: &Text) -> String {
    let text = text(words);
    if text.starts_with(['+', '-', '=']) { format!("\\{text}") } else { text }
}

fn text(words: &Text) -> String {
    words.0.iter().map(span).collect()
}

fn span(piece: &Span) -> String {
    match piece {
        Span::Plain(words) | Span::Quiet(words) => escaped(words),
        Span::Strong(words) | Span::Verdict(_, words) => strong(words),
        Span::Code(words) => code(words),
        Span::Link { to, words } => format!("[{}](<{to}>)", escaped(words)),
    }
}

/// Nothing is not bold: four asterisks would be a line.
fn strong(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("**{}**", escaped(words)) }
}

/// Every character that means something in Markdown, as itself.
fn escaped(words: &str) -> String {
    let mut text = String::new();
    for c in words.chars() {
        if "\\`*_[]<>|~&#".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    on_one_line(&text)
}

/// Two ends of a line, of which CR is one (CommonMark 2.1), would end a paragraph and admit HTML.
fn on_one_line(words: &str) -> String {
    words.replace(['\n', '\r'], " ")
}

/// Code between more backticks than any in a row within it.
fn code(words: &str) -> String {
    let fence = "`".repeat(longest_row_of_backticks(words) + 1);
    let room = if words.starts_with('`') || words.ends_with('`') { " " } else { "" };
    format!("{fence}{room}{}{room}{fence}", on_one_line(words))
}

fn fenced(command: &str) -> String {
    let fence = "`".repeat(longest_row_of_backticks(command).max(2) + 1);
    format!("{fence}\n{command}\n{fence}")
}

fn longest_row_of_backticks(words: &str) -> usize {
    words.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn html_escaped(words: &str) -> String {
    on_one_line(words).replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_markup_is_shown_as_it_is() {
        assert_eq!(escaped("a_b *c* <d> |e|\nf"), r"a\_b \*c\* \<d\> \|e\| f");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(cell(&Text::code("a|b")), r"`a\|b`");
        for (end, shown) in [("\r", "  "), ("\r\n", "    "), ("\n", "  ")] {
            let words = format!("a{end}{end}b");
            assert_eq!(escaped(&words), format!("a{shown}b"));
            assert_eq!(code(&words), format!("`a{shown}b`"));
            assert_eq!(html_escaped(&words), format!("a{shown}b"));
        }
        assert_eq!(fenced("echo '```'"), "````\necho '```'\n````");
        assert_eq!(paragraph(&Text::from("- 3")), r"\- 3");
        assert_eq!(text(&Text::strong("")), "");
    }
}
