//! The reference of the command line, made from the command tree.

use std::fmt::Write;

use aizo::commands::Cli;
use clap::{Arg, Command, CommandFactory};

use super::is_up_to_date;

const PAGE: &str = "docs/cli.md";

const HEAD: &str = "# Command line reference

Made from the program itself: what `aizo COMMAND --help` prints, on one page. `aizo man` prints it as a manual page, `aizo completions SHELL`
completes it. What programs may rely on is in [Formats](formats.md).
";

#[test]
fn the_reference_is_what_the_program_knows() {
    let mut tree = Cli::command();
    tree.build();
    is_up_to_date(PAGE, &reference(&tree), |known, generated| {
        known == generated
    });
}

#[test]
fn every_command_is_in_the_reference_with_its_options() {
    let mut tree = Cli::command();
    tree.build();
    let text = crate::common::pages::text_of(PAGE);
    for command in tree.get_subcommands().filter(|command| is_shown(command)) {
        let name = command.get_name();
        assert!(text.contains(&format!("\n## aizo {name}\n")), "{name}");
        for beneath in command
            .get_subcommands()
            .filter(|command| is_shown(command))
        {
            let heading = format!("\n### aizo {name} {}\n", beneath.get_name());
            assert!(text.contains(&heading), "{heading}");
        }
    }
}

fn is_shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn reference(tree: &Command) -> String {
    let mut page = String::from(HEAD);
    page.push('\n');
    usage(&mut page, tree);
    let global: Vec<&Arg> = tree
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .collect();
    arguments(&mut page, &global);
    page.push_str("| command | does |\n|---|---|\n");
    for command in tree.get_subcommands().filter(|command| is_shown(command)) {
        let name = command.get_name();
        writeln!(page, "| [`{name}`](#aizo-{name}) | {} |", about(command))
            .expect("a text takes all");
    }
    for command in tree.get_subcommands().filter(|command| is_shown(command)) {
        section(&mut page, "##", command);
        for beneath in command
            .get_subcommands()
            .filter(|command| is_shown(command))
        {
            section(&mut page, "###", beneath);
        }
    }
    page
}

fn section(page: &mut String, level: &str, command: &Command) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    write!(page, "\n{level} {name}\n\n{}\n\n", about(command)).expect("a text takes all");
    usage(page, command);
    let aliases: Vec<String> = command
        .get_all_aliases()
        .map(|alias| format!("`{alias}`"))
        .collect();
    if !aliases.is_empty() {
        write!(page, "Also: {}\n\n", aliases.join(", ")).expect("a text takes all");
    }
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_global_set() && !arg.is_hide_set())
        .filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()))
        .collect();
    arguments(page, &own);
    if let Some(more) = command.get_after_long_help().or(command.get_after_help()) {
        write!(page, "```text\n{}\n```\n", more.to_string().trim()).expect("a text takes all");
    } else if page.ends_with("\n\n") {
        page.pop();
    }
}

fn usage(page: &mut String, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:");
    let lines: Vec<&str> = usage.lines().map(str::trim).collect();
    write!(page, "```text\n{}\n```\n\n", lines.join("\n")).expect("a text takes all");
}

fn arguments(page: &mut String, all: &[&Arg]) {
    if all.is_empty() {
        return;
    }
    page.push_str("| argument | means |\n|---|---|\n");
    for arg in all {
        let short = arg
            .get_short()
            .map(|c| format!("`-{c}`, "))
            .unwrap_or_default();
        writeln!(
            page,
            "| {short}`{}` | {} |",
            cell(&arg.to_string()),
            help(arg)
        )
        .expect("a text takes all");
    }
    page.push('\n');
}

fn help(arg: &Arg) -> String {
    let text = arg.get_long_help().or(arg.get_help());
    let mut help = text
        .map(|text| prose(&text.to_string()))
        .unwrap_or_default();
    if !arg.is_hide_default_value_set() {
        let usual: Vec<String> = arg
            .get_default_values()
            .iter()
            .map(|value| format!("`{}`", value.to_string_lossy()))
            .collect();
        if arg.get_action().takes_values() && !usual.is_empty() {
            write!(help, " (usually {})", usual.join(", ")).expect("a text takes all");
        }
    }
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if arg.get_action().takes_values() && !values.is_empty() {
        write!(help, ": {}", values.join(", ")).expect("a text takes all");
    }
    help
}

fn about(command: &Command) -> String {
    let about = command.get_about().or(command.get_long_about());
    about
        .map(|text| prose(&text.to_string()))
        .unwrap_or_default()
}

/// A text in which nothing is markup but what stands in backticks.
fn prose(text: &str) -> String {
    let lines: Vec<&str> = text.split_whitespace().collect();
    cell(&lines.join(" "))
        .replace('<', "\\<")
        .replace('*', "\\*")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
