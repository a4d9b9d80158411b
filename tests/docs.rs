//! The pages under docs/ against the program: their commands run and print what stands beneath them, their links lead
//! somewhere, their tables are what the program knows, and what is generated is not behind it.

mod cli;
mod json;
mod plots;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use aizo::capture::hook::{Call, Caller, Moment};
use aizo::check::Detector;
use aizo::commands::Cli;
use aizo::model::{Band, Score};
use clap::CommandFactory;
use regex_lite::Regex;

use crate::common::Home;
use crate::common::pages::{
    all_blocks, blocks, codes, in_repository, numbers, prose, table, tables, text_of,
};

/// What a page is made anew by, where it is generated.
const BLESS: &str = "AIZO_BLESS";
/// The pages that are only looked up in, or tell of other versions.
const WITHOUT_COMMANDS: [&str; 2] = ["docs/cli.md", "docs/CHANGELOG.md"];

/// Every page under docs/.
fn pages() -> Vec<String> {
    let folder = fs::read_dir(in_repository("docs")).expect("there is a folder");
    let names = folder.map(|entry| entry.expect("it can be listed").file_name());
    let mut pages: Vec<String> = names
        .filter_map(|name| Some(format!("docs/{}", name.to_str()?)))
        .filter(|name| name.ends_with(".md"))
        .collect();
    pages.sort();
    pages
}

/// Compares a generated file with what is to be in it, or writes it where that is asked for.
fn is_up_to_date(file: &str, generated: &str, is_same: impl Fn(&str, &str) -> bool) {
    if std::env::var_os(BLESS).is_some() {
        fs::write(in_repository(file), generated).expect("the file can be written");
        return;
    }
    let path = in_repository(file);
    let known = if path.exists() {
        text_of(file)
    } else {
        String::new()
    };
    assert!(
        is_same(&known, generated),
        "{file} is not what the program makes of it; {BLESS}=1 cargo test --test all docs:: writes it anew"
    );
}

#[cfg(unix)]
mod session {
    use super::*;
    use crate::common::NOW;
    use crate::common::pages::session::{run, shows};

    /// Runs a page, and checks what it shows.
    fn goes_as_it_says(page: &str) -> usize {
        let session = run(&Home::new(), page, &text_of(page), Some(NOW));
        let last = session.printed.last().map(|one| one.text.clone());
        assert_eq!(
            session.run.code,
            0,
            "{page}: {}{}",
            session.run.stderr,
            last.unwrap_or_default()
        );
        assert!(session.run.stderr.ends_with("every block ran\n"), "{page}");
        for one in &session.printed {
            if let Some(shown) = &one.shown {
                assert!(
                    shows(&shown.text, &one.text),
                    "{page}, line {}: shown is\n{}\nprinted was\n{}",
                    one.line,
                    shown.text,
                    one.text
                );
            }
        }
        session.printed.len()
    }

    #[test]
    fn every_command_of_every_page_runs_and_prints_what_is_shown() {
        let pages = pages();
        let with_commands = pages
            .iter()
            .filter(|page| !WITHOUT_COMMANDS.contains(&page.as_str()));
        let running: Vec<_> = with_commands
            .map(|page| {
                let page = page.clone();
                std::thread::spawn(move || goes_as_it_says(&page))
            })
            .collect();
        let blocks: usize = running
            .into_iter()
            .map(|page| {
                page.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .sum();
        assert!(blocks > 50, "{blocks} blocks are few");
    }

    #[test]
    fn what_a_page_shows_is_compared_line_by_line() {
        let printed = "one\ntwo (7)\nthree\nfour\n";
        for shown in [
            "one\ntwo (7)\nthree\nfour\n",
            "one\n…\nfour\n",
            "one\ntwo …\n…\n",
            "…\n",
        ] {
            assert!(shows(shown, printed), "{shown}");
        }
        for shown in [
            "one\n",
            "one\ntwo (8)\n…\n",
            "…\nfive\n",
            "one\n…\nthree\n",
            "",
        ] {
            assert!(!shows(shown, printed), "{shown}");
        }
    }

    #[test]
    fn a_page_that_shows_something_else_is_named() {
        let text = "```sh\naizo add a b >/dev/null\n```\n\n```sh\naizo top\n```\n\n```text\nnothing\n```\n";
        let session = run(&Home::new(), "X.md", text, None);
        assert!(session.printed[0].shown.is_none());
        let shown = session.printed[1]
            .shown
            .as_ref()
            .expect("it stands beneath");
        assert!(!shows(&shown.text, &session.printed[1].text));
    }
}

/// A heading as the end of an address.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|&c| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_')
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    prose(text)
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

/// The addresses that a page leads to.
fn links(text: &str) -> Vec<String> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("it is one");
    let prose = prose(text);
    link.captures_iter(&prose)
        .map(|found| found[1].to_owned())
        .collect()
}

#[test]
fn every_link_of_every_page_leads_somewhere() {
    let more = [
        "README.md",
        "README.zh.md",
        ".github/CONTRIBUTING.md",
        ".github/SECURITY.md",
    ];
    for page in pages().into_iter().chain(more.map(str::to_owned)) {
        let text = text_of(&page);
        let folder = Path::new(&page).parent().expect("a page is a file");
        for link in links(&text) {
            if link.contains("://") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => in_repository(&page),
                file => in_repository("").join(folder).join(file),
            };
            assert!(target.exists(), "{page}: {link} leads nowhere");
            if !place.is_empty() {
                let there = fs::read_to_string(&target).expect("a page is text");
                assert!(
                    anchors(&there).contains(place),
                    "{page}: {link} leads to no heading"
                );
            }
        }
    }
}

#[test]
fn every_page_is_in_the_index_and_in_both_readmes() {
    for (file, before) in [
        ("docs/README.md", ""),
        ("README.md", "docs/"),
        ("README.zh.md", "docs/"),
    ] {
        let links = links(&text_of(file));
        for page in pages() {
            let name = page.trim_start_matches("docs/");
            let wanted = format!("{before}{name}");
            let is_there = links
                .iter()
                .any(|link| link.split('#').next() == Some(&wanted));
            assert!(is_there || page == file, "{file} does not lead to {page}");
        }
    }
}

/// The long options of a command and of those beneath it.
fn options(command: &clap::Command, all: &mut BTreeSet<String>) {
    let own = command.get_arguments().filter_map(clap::Arg::get_long);
    all.extend(own.map(|name| format!("--{name}")));
    for beneath in command.get_subcommands() {
        options(beneath, all);
    }
}

#[test]
fn commands_in_running_text_exist_with_their_options() {
    let mut tree = Cli::command();
    tree.build();
    for page in pages() {
        let text = prose(&text_of(&page));
        let indented = text.lines().filter_map(|line| line.strip_prefix("    "));
        let spoken = codes(&text).into_iter().chain(indented.map(str::to_owned));
        for code in spoken.filter(|code| code.starts_with("aizo ")) {
            let words: Vec<&str> = code
                .split_whitespace()
                .take_while(|word| *word != "#")
                .collect();
            let name = words.iter().skip(1).find(|word| !word.starts_with('-'));
            let name = name.copied().unwrap_or_default();
            // What stands in capitals stands for something else.
            if name.chars().all(|c| c.is_uppercase()) || name == "FILE" || name == "[--db" {
                continue;
            }
            let command = tree
                .find_subcommand(name)
                .unwrap_or_else(|| panic!("{page}: there is no command in `{code}`"));
            let mut known = BTreeSet::new();
            options(command, &mut known);
            for word in words
                .iter()
                .filter(|word| word.starts_with("--") && word.len() > 2)
            {
                let option = word.split('=').next().unwrap_or_default();
                assert!(known.contains(option), "{page}: `{code}` has no {option}");
            }
        }
    }
}

/// The variables that the program reads, as they stand in its source.
fn variables_that_are_read() -> BTreeSet<String> {
    fn sources(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a folder of the source") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() && !path.ends_with("pack") {
                sources(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && path.file_name().is_some_and(|name| name != "tests.rs")
            {
                let text = fs::read_to_string(&path).expect("source is text");
                // Tests beside the code have variables of their own.
                let own = text
                    .split("#[cfg(test)]\nmod tests")
                    .next()
                    .unwrap_or_default();
                found.push(own.to_owned());
            }
        }
    }
    let mut texts = Vec::new();
    sources(&in_repository("src"), &mut texts);
    let read = [
        r#"(?:environment|value|variable|is_set|var|var_os)\)?\(\s*"([A-Z][A-Z0-9_]+)""#,
        r#"(?:\.folder|on\.folder)\(\s*"([A-Z][A-Z0-9_]+)""#,
        r#"pub const [A-Z_]+: &str = "([A-Z][A-Z0-9_]+)";"#,
    ]
    .map(|form| Regex::new(form).expect("it is one"));
    let mut all: BTreeSet<String> = BTreeSet::new();
    for text in &texts {
        for form in &read {
            all.extend(form.captures_iter(text).map(|found| found[1].to_owned()));
        }
    }
    let git = text_of("src/sync/git.rs");
    let kept = git
        .split("const KEPT: &[&str] = &[")
        .nth(1)
        .expect("what is handed on to git");
    let kept = kept.split("];").next().unwrap_or_default();
    all.extend(kept.split('"').skip(1).step_by(2).map(str::to_owned));
    all
}

#[test]
fn the_environment_variables_are_those_that_are_read() {
    /// What is read by others for us: colours, proxies, the installer.
    const BY_OTHERS: [&str; 7] = [
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "AIZO_DOWNLOAD_BASE",
    ];
    /// What every program is given.
    const EVERYWHERE: [&str; 2] = ["HOME", "PATH"];
    let rows = table(&text_of("docs/formats.md"), "variable");
    let told: BTreeSet<String> = rows.iter().flat_map(|row| codes(&row[0])).collect();
    let read = variables_that_are_read();
    for name in &read {
        assert!(
            told.contains(name) || EVERYWHERE.contains(&name.as_str()),
            "docs/formats.md does not tell of {name}"
        );
    }
    for name in &told {
        assert!(
            read.contains(name) || BY_OTHERS.contains(&name.as_str()),
            "docs/formats.md tells of {name}, which nobody reads"
        );
    }
    assert!(
        read.contains("CODEX_HOME") && read.contains("EDITOR"),
        "{read:?}"
    );
    let installer = text_of("install.sh");
    assert!(installer.contains("AIZO_DOWNLOAD_BASE"));
    let form = Regex::new(r"\b[A-Z]+_[A-Z_]+\b").expect("it is one");
    for page in pages() {
        let text = text_of(&page);
        for found in form.find_iter(&text) {
            let name = found.as_str();
            let is_one =
                name.starts_with("AIZO_") || name.ends_with("_HOME") || name.ends_with("_KEY");
            // How long the tests of the sync go on.
            let is_for_tests = name.starts_with("AIZO_SYNC_");
            assert!(
                !is_one || is_for_tests || told.contains(name),
                "{page} speaks of {name}"
            );
        }
    }
}

#[test]
fn the_tables_of_the_store_name_the_columns_that_exist() {
    let home = Home::new();
    home.ok(&["add", "tabs", "because"]);
    let stored = rusqlite::Connection::open(home.db()).expect("there is a store");
    let text = text_of("docs/formats.md");
    for row in table(&text, "table") {
        let name = codes(&row[0]).remove(0);
        let mut statement = stored
            .prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")
            .expect("the columns can be listed");
        let columns: Vec<String> = statement
            .query_map([&name], |row| row.get(0))
            .and_then(Iterator::collect)
            .expect("the columns can be listed");
        assert_eq!(codes(&row[1]), columns, "{name}");
    }
    for query in blocks(&text, "sql") {
        let mut statement = stored.prepare(&query.text).expect("the query is one");
        let mut found = statement.query([]).expect("the query starts");
        assert!(found.next().expect("the query runs").is_some());
    }
}

#[test]
fn the_table_of_hosts_says_what_each_lets_aizo_do() {
    let rows = table(&text_of("docs/agents.md"), "host");
    assert_eq!(rows.len(), Caller::ALL.len());
    for (row, (caller, name)) in rows.iter().zip(Caller::ALL) {
        let call = |moment, event: &str| Call {
            caller,
            event: event.to_owned(),
            session: None,
            transcript: None,
            moment,
        };
        // The event before an action at which `aizo install` lets each host call.
        let before = if caller == Caller::Cursor {
            "preToolUse"
        } else {
            "PreToolUse"
        };
        let told = [
            call(Moment::Start, "").takes_context(),
            call(Moment::Prompt(String::new()), "").takes_context(),
            true,
            call(Moment::Tool(Vec::new()), before).can_ask(),
            true,
        ];
        let words = told.map(|is| if is { "yes" } else { "no" });
        assert_eq!(row[1..], words, "{name}: {}", row[0]);
    }
}

#[test]
fn the_detectors_are_all_told() {
    let rows = table(&text_of("docs/limits.md"), "detector");
    let told: BTreeSet<String> = rows.iter().flat_map(|row| codes(&row[0])).collect();
    let exist = Detector::ALL
        .iter()
        .map(|detector| format!("@{}", detector.name()));
    assert_eq!(told, exist.collect());
}

#[test]
fn the_bands_on_the_page_about_scoring_are_the_bands() {
    let rows = table(&text_of("docs/scoring.md"), "band");
    assert_eq!(rows.len(), Band::ALL.len());
    for (row, band) in rows.iter().zip(Band::ALL) {
        assert!(row[0].starts_with(&band.to_string()), "{row:?}");
        let holds: [&dyn Fn(Score) -> bool; 2] =
            [&|score| score.band() == band, &|score| band.contains(score)];
        for (interval, holds) in row[1..].iter().zip(holds) {
            let ends = numbers(interval);
            let score = |value| Score::new(value).expect("the ends are scores");
            assert_eq!(holds(score(ends[0])), interval.starts_with('['), "{row:?}");
            assert_eq!(holds(score(ends[1])), interval.ends_with(']'), "{row:?}");
            assert!(holds(score(f64::midpoint(ends[0], ends[1]))), "{row:?}");
        }
    }
}

#[test]
fn the_pages_show_no_more_than_they_check() {
    // What stands in a block is either run, or printed by what was run, or in a form of its own.
    let others: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("docs/agents.md", &["jsonc"][..]),
        ("docs/formats.md", &["sql"][..]),
        ("docs/scoring.md", &["text"][..]),
    ]);
    for page in pages() {
        if WITHOUT_COMMANDS.contains(&page.as_str()) {
            continue;
        }
        let mut follows_shell = false;
        for block in all_blocks(&text_of(&page)) {
            let is_shell = block.language == "sh";
            let is_output = follows_shell && block.is_beneath;
            let is_known = others
                .get(page.as_str())
                .is_some_and(|known| known.contains(&block.language.as_str()));
            assert!(
                is_shell || is_output || is_known,
                "{page}, line {}: nothing checks this",
                block.line
            );
            follows_shell = is_shell;
        }
    }
}

#[test]
fn the_sections_on_json_have_a_table_of_fields() {
    let text = text_of("docs/formats.md");
    let fields = tables(&text)
        .into_iter()
        .filter(|table| table[0][0] == "field");
    assert!(fields.count() > 20);
}
