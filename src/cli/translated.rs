//! The help in the language of the user: its English texts stand at the commands and options, the Japanese ones in `report/texts/ja/help.toml`.

use std::{collections::BTreeMap, env, ffi::OsString};

use ::report::Lang;
use clap::{Arg, ArgAction, Command, builder::StyledStr};
use unicode_linebreak::{BreakOpportunity, linebreaks};
use unicode_width::UnicodeWidthStr;

/// Japanese texts by English ones.
type Texts = BTreeMap<String, String>;

/// Headings of groups of options; clap takes none that it is given at run time.
const HEADINGS: &[(&str, &str)] = &[("Identity of the document", "文書の情報")];

/// The language to speak: as asked for, or as the environment says.
pub(crate) fn language(asked: Option<Lang>) -> Lang {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let from_environment = || set("LC_ALL").or_else(|| set("LC_MESSAGES")).or_else(|| set("LANG"));
    asked.unwrap_or_else(|| Lang::from_env_value(&from_environment().unwrap_or_default()))
}

/// The language that is asked for among these words of a command line, which may be wrong or incomplete.
pub(super) fn asked(words: &[OsString]) -> Option<Lang> {
    let mut words = words.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str());
    words.find_map(|word| word.strip_prefix("--lang")).map(|rest| (rest, words.next())).and_then(|(rest, next)| {
        let value = rest.strip_prefix('=').or(next)?;
        value.parse().ok()
    })
}

/// Help whose lines fit so many columns: clap breaks lines at spaces alone, and Japanese has none.
pub(super) fn folded(help: &str, columns: usize) -> String {
    help.lines().map(|line| folded_line(line, columns) + "\n").collect()
}

/// Words that do not fit go on below the description, which stands behind two spaces or more.
fn folded_line(line: &str, columns: usize) -> String {
    let words = line.len() - line.trim_start().len();
    let column = line[words..]
        .find("  ")
        .map_or(0, |gap| words + gap + (line[words + gap..].len() - line[words + gap..].trim_start().len()));
    let (head, mut rest) = line.split_at(if column == 0 { words } else { column });
    let (mut folded, indent, mut at) = (head.to_owned(), head.width(), head.width());
    while !rest.is_empty() {
        let (end, _) = linebreaks(rest).next().unwrap_or((rest.len(), BreakOpportunity::Mandatory));
        let (piece, after) = rest.split_at(end);
        if at > indent && at + piece.trim_end().width() > columns {
            folded.truncate(folded.trim_end().len());
            folded = folded + "\n" + &" ".repeat(indent);
            at = indent;
        }
        folded += piece;
        at += piece.width();
        rest = after;
    }
    folded
}

/// The same command line, explained in this language.
pub(super) fn explained(command: Command, lang: Lang) -> Command {
    if lang == Lang::En {
        return command;
    }
    let texts: Texts = toml::from_str(::report::HELP_JA).unwrap_or_default();
    // In place of those of clap, which are English.
    let flag = |name: &'static str, short, action| {
        let english = StyledStr::from(format!("Print {name}"));
        Arg::new(name).long(name).short(short).action(action).help(english).global(true)
    };
    let command = command.max_term_width(0).term_width(usize::MAX).disable_help_flag(true).disable_version_flag(true);
    let command = command.arg(flag("help", 'h', ArgAction::Help)).arg(flag("version", 'V', ArgAction::Version));
    translated(command, &texts)
}

fn translated(command: Command, texts: &Texts) -> Command {
    let said = |text: &StyledStr| texts.get(&text.to_string()).cloned();
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let mut command = names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |sub| translated(sub, texts)))
        .mut_args(|arg| translated_arg(arg, texts))
        .subcommand_help_heading("コマンド")
        .help_template("{about-with-newline}\n使い方: {usage}\n\n{all-args}{after-help}");
    if let Some(about) = command.get_about().and_then(said) {
        command = command.about(about);
    }
    if let Some(about) = command.get_long_about().and_then(said) {
        command = command.long_about(about);
    }
    if let Some(after) = command.get_after_help().and_then(said) {
        command = command.after_help(after);
    }
    command
}

fn translated_arg(arg: Arg, texts: &Texts) -> Arg {
    let said = |text: &StyledStr| texts.get(&text.to_string()).cloned();
    let more = values(&arg);
    let usual = if arg.is_positional() { "引数" } else { "オプション" };
    let own = arg.get_help_heading().and_then(|english| HEADINGS.iter().find(|heading| heading.0 == english));
    let mut arg = arg.help_heading(own.map_or(usual, |heading| heading.1));
    if arg.get_action().takes_values() {
        arg = arg.hide_default_value(true).hide_possible_values(true);
    }
    if let Some(help) = arg.get_help().and_then(said) {
        arg = arg.help(help + &more);
    }
    if let Some(help) = arg.get_long_help().and_then(said) {
        arg = arg.long_help(help + &more);
    }
    arg
}

/// The values that an argument has by default and can have, in Japanese, as clap adds them in English.
fn values(arg: &Arg) -> String {
    let mut more = String::new();
    if !arg.get_action().takes_values() {
        return more;
    }
    let possible: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| value.get_name().to_owned())
        .collect();
    if !possible.is_empty() && !arg.is_hide_possible_values_set() {
        more += &format!(" [{} のいずれか]", possible.join("、"));
    }
    let default: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !default.is_empty() && !arg.is_hide_default_value_set() {
        more += &format!(" [既定値: {}]", default.join(" "));
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each English text of the help.
    fn english(command: &Command, found: &mut Vec<String>) {
        let mut add = |text: Option<&StyledStr>| found.extend(text.map(StyledStr::to_string));
        add(command.get_about());
        add(command.get_long_about());
        add(command.get_after_help());
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            add(arg.get_help());
            add(arg.get_long_help());
            assert!(arg.get_help_heading().is_none_or(|english| HEADINGS.iter().any(|heading| heading.0 == english)));
        }
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            english(sub, found);
        }
    }

    #[test]
    fn each_text_of_the_help_has_its_japanese_and_none_is_left_over() {
        let mut wanted = vec!["Print help".to_owned(), "Print version".to_owned()];
        english(&super::super::definition(Lang::En), &mut wanted);
        let mut texts: Texts = toml::from_str(::report::HELP_JA).unwrap();
        wanted.sort();
        wanted.dedup();
        let missing: Vec<&String> = wanted.iter().filter(|text| texts.remove(*text).is_none()).collect();
        assert!(missing.is_empty(), "without a Japanese text: {missing:#?}");
        assert!(texts.is_empty(), "of no command and no option any more: {texts:#?}");
    }

    #[test]
    fn long_lines_go_on_below_their_description() {
        let line = "  -q, --quiet  進捗を表示しない(bypass では、カーネルを通るものも表示しない)";
        let wanted = "  -q, --quiet  進捗を表示しない(bypass で\n               は、カーネルを通るものも表示\n               しない)\n";
        assert_eq!(folded(line, 44), wanted);
        assert_eq!(folded("短い行", 44), "短い行\n");
        // Nothing is lost where there is no room at all.
        assert_eq!(folded(line, 1).replace(['\n', ' '], ""), line.replace(' ', ""));
    }

    #[test]
    fn the_language_is_found_among_the_words() {
        let asked = |line: &str| asked(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(asked("wireproof latency --lang ja -h"), Some(Lang::Ja));
        assert_eq!(asked("wireproof --lang=en -h"), Some(Lang::En));
        assert_eq!(asked("wireproof bed exec x a -- ls --lang ja"), None);
        assert_eq!(asked("wireproof -h --lang"), None);
    }

    #[test]
    fn the_help_in_japanese_is_japanese() {
        let mut command = super::super::definition(Lang::Ja);
        for words in
            [vec!["wireproof", "-h"], vec!["wireproof", "latency", "--help"], vec!["wireproof", "report", "-h"]]
        {
            let help = command.try_get_matches_from_mut(words).unwrap_err().to_string();
            assert!(help.contains("使い方: wireproof") && help.contains("オプション:"), "{help}");
            for english in ["Usage", "Options:", "Arguments:", "Commands:", "Print", "[default", "[possible"] {
                assert!(!help.contains(english), "{english} in {help}");
            }
        }
        assert_eq!(
            command.try_get_matches_from_mut(["wireproof", "-V"]).unwrap_err().kind(),
            clap::error::ErrorKind::DisplayVersion
        );
    }
}
