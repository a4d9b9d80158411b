//! What a person sees on a terminal, a real one of several sizes: tables, colour, the pager, bars.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rstest::rstest;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::common::{Chat, Home};

/// A terminal of this size, with somebody at it who presses `q` until what runs there has ended.
#[derive(Clone, Copy)]
struct Terminal {
    columns: u16,
    rows: u16,
}

/// Which ends of a program are on the terminal; the others are pipes.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    All,
    NotStdin,
    NotStdout,
}

/// How a run on a terminal ended.
#[derive(Debug)]
struct Shown {
    code: i32,
    /// What went to the terminal, with its line ends as programs write them.
    screen: String,
    /// What went to a pipe in the place of standard output.
    piped: String,
}

const WIDE: Terminal = Terminal {
    columns: 100,
    rows: 50,
};

impl Terminal {
    fn of(columns: u16) -> Self {
        Terminal {
            columns,
            rows: 2000,
        }
    }

    fn run(self, command: Command) -> Shown {
        self.run_with(command, Ends::All)
    }

    fn run_with(self, mut command: Command, ends: Ends) -> Shown {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it is ours");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let slave = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
        let slave = File::from(slave.expect("its other end"));
        let size = Winsize {
            ws_row: self.rows,
            ws_col: self.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&slave, size).expect("it has a size");
        let mut modes = tcgetattr(&slave).expect("it has modes");
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&slave, OptionalActions::Now, &modes).expect("they can be set");
        let end = || Stdio::from(slave.try_clone().expect("a handle"));
        command.stderr(end()).stdin(match ends {
            Ends::NotStdin => Stdio::null(),
            _ => end(),
        });
        command.stdout(match ends {
            Ends::NotStdout => Stdio::piped(),
            _ => end(),
        });
        let mut child = command.spawn().expect("the binary starts");
        // The reader below waits until nobody has the terminal any more.
        drop((command, slave));
        let master = File::from(master);
        let mut keys = master.try_clone().expect("a handle");
        let has_ended = AtomicBool::new(false);
        let mut screen = Vec::new();
        let (code, piped) = std::thread::scope(|scope| {
            scope.spawn(|| {
                // An error is how Linux says that nobody is there any more.
                let _all_is_read = (&master).read_to_end(&mut screen);
            });
            scope.spawn(|| {
                while !has_ended.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(200));
                    let _nobody_may_listen = keys.write_all(b"q");
                }
            });
            let mut piped = String::new();
            if let Some(mut out) = child.stdout.take() {
                out.read_to_string(&mut piped).expect("it is UTF-8");
            }
            let status = child.wait().expect("it ends");
            has_ended.store(true, Ordering::Relaxed);
            (status.code().unwrap_or(-1), piped)
        });
        let screen = String::from_utf8(screen).expect("it is UTF-8");
        Shown {
            code,
            screen: screen.replace("\r\n", "\n"),
            piped,
        }
    }
}

/// A command for a terminal with colours.
fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = home.command(arguments);
    command.env("TERM", "xterm-256color");
    command
}

/// A text without what colours it; anything else that a terminal obeys stays in.
fn uncoloured(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.map(|end| after.split_at(end)) {
            Some((_, after)) if after.starts_with('m') => rest = &after[1..],
            _ => {
                plain.push_str("\u{1b}[");
                rest = after;
            }
        }
    }
    plain + rest
}

/// The columns that a terminal gives a text.
fn columns(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

const MIXED: [(&str, &str, &str); 9] = [
    (
        "简洁的回答和简短的代码注释",
        "说话简洁一点，不要长篇大论；代码里也不要写太多注释。",
        "9",
    ),
    (
        "短い答えとコメント",
        "「長い説明はいらない」と二回言われた。カタカナもﾊﾝｶｸも。",
        "8",
    ),
    (
        "짧은 답변을 좋아한다",
        "설명이 길면 읽지 않는다고 말했다",
        "7.2",
    ),
    (
        "👩‍💻 pairing with 🚀 and 👍🏽",
        "likes it 🇨🇳 every single day 👨‍👩‍👧‍👦 of the week",
        "6",
    ),
    (
        "cafe\u{301} và tiê\u{301}ng Viê\u{323}t",
        "e\u{301}crit avec des accents combine\u{301}s",
        "5",
    ),
    ("الردود القصيرة", "قال إنه لا يحب الشرح الطويل", "4.5"),
    ("संक्षिप्त उत्तर", "लंबे स्पष्टीकरण पसंद नहीं", "3"),
    (
        "internationalization_of_everything_at_once",
        "oneveryveryverylongwordwithoutanyspaces",
        "2",
    ),
    ("不要表情符号", "コードに絵文字を入れない, ever", "0.5"),
];

fn mixed() -> Home {
    let home = Home::new();
    for (item, reason, score) in MIXED {
        home.ok(&[
            "add",
            item,
            reason,
            "--score",
            score,
            "--keywords",
            "代码,コード,code",
            "--scenarios",
            "编程",
        ]);
    }
    home.ok(&[
        "add",
        "絵文字は使わない",
        "コードに絵文字",
        "--score",
        "1",
        "--source",
        "analysis",
    ]);
    home
}

#[rstest]
#[case(20)]
#[case(40)]
#[case(80)]
#[case(200)]
fn text_of_any_language_fits_the_terminal_and_nothing_is_lost(#[case] width: u16) {
    let home = mixed();
    for arguments in [
        &["show"][..],
        &["show", "1"],
        &["show", "9"],
        &["top"],
        &["recall", "code", "--explain"],
        &["why", "2"],
        &["why", "8"],
        &["history"],
        &["review"],
        &["keywords"],
        &["scenarios"],
    ] {
        let shown = Terminal::of(width).run(command(&home, arguments));
        assert_eq!(shown.code, 0, "{arguments:?}: {shown:?}");
        let text = uncoloured(&shown.screen);
        let wide: Vec<&str> = text
            .lines()
            .filter(|line| columns(line) > usize::from(width))
            .collect();
        assert!(wide.is_empty(), "{arguments:?}: {}", wide.join("\n"));
        let blank = text.lines().find(|line| line.ends_with(' '));
        assert_eq!(blank, None, "{arguments:?}");
    }
    let shown = Terminal::of(width).run(command(&home, &["show"]));
    let text = uncoloured(&shown.screen);
    for (item, reason, _) in MIXED {
        for character in item.graphemes(true).chain(reason.graphemes(true)) {
            assert!(text.contains(character), "{character:?} of {item}: {text}");
        }
    }
}

#[test]
fn a_list_is_a_table_where_it_fits_and_paragraphs_where_it_does_not() {
    let home = mixed();
    let at = |width| {
        uncoloured(
            &Terminal::of(width)
                .run(command(&home, &["top", "9"]))
                .screen,
        )
    };
    insta::assert_snapshot!(at(80), @r"
    ID  SCORE  WEIGHT  BAND        ITEM                     REASON
     1    9.0    9.00  preference  简洁的回答和简短的代码   说话简洁一点，不要长篇大
                                   注释                     论；代码里也不要写太多注
                                                            释。
     2    8.0    8.00  preference  短い答えとコメント       「長い説明はいらない」と
                                                            二回言われた。カタカナも
                                                            ﾊﾝｶｸも。
     3    7.2    7.20  preference  짧은 답변을 좋아한다     설명이 길면 읽지
                                                            않는다고 말했다
     4    6.0    6.00  habit       👩‍💻 pairing with 🚀 and   likes it 🇨🇳 every single
                                   👍🏽                       day 👨‍👩‍👧‍👦 of the week
     5    5.0    5.00  habit       café và tiếng Việt       écrit avec des accents
                                                            combinés
     6    4.5    4.50  habit       الردود القصيرة           قال إنه لا يحب الشرح
                                                            الطويل
     7    3.0    3.00  aversion    संक्षिप्त उत्तर              लंबे स्पष्टीकरण पसंद नहीं
     8    2.0    2.00  aversion    internationalization_of  oneveryveryverylongwordw
                                   _everything_at_once      ithoutanyspaces
     9    0.5    0.50  taboo       不要表情符号             コードに絵文字を入れな
                                                            い, ever
    ");
    insta::assert_snapshot!(at(40), @r"
    1   简洁的回答和简短的代码注释
        说话简洁一点，不要长篇大论；代码里也
        不要写太多注释。
        score 9.0, weight 9.00, preference
    2   短い答えとコメント
        「長い説明はいらない」と二回言われ
        た。カタカナもﾊﾝｶｸも。
        score 8.0, weight 8.00, preference
    3   짧은 답변을 좋아한다
        설명이 길면 읽지 않는다고 말했다
        score 7.2, weight 7.20, preference
    4   👩‍💻 pairing with 🚀 and 👍🏽
        likes it 🇨🇳 every single day 👨‍👩‍👧‍👦 of
        the week
        score 6.0, weight 6.00, habit
    5   café và tiếng Việt
        écrit avec des accents combinés
        score 5.0, weight 5.00, habit
    6   الردود القصيرة
        قال إنه لا يحب الشرح الطويل
        score 4.5, weight 4.50, habit
    7   संक्षिप्त उत्तर
        लंबे स्पष्टीकरण पसंद नहीं
        score 3.0, weight 3.00, aversion
    8   internationalization_of_everything_a
        t_once
        oneveryveryverylongwordwithoutanyspa
        ces
        score 2.0, weight 2.00, aversion
    9   不要表情符号
        コードに絵文字を入れない, ever
        score 0.5, weight 0.50, taboo
    ");
    insta::assert_snapshot!(at(20).lines().take(24).collect::<Vec<_>>().join("\n"), @r"
    1   简洁的回答和简短
        的代码注释
        说话简洁一点，不
        要长篇大论；代码
        里也不要写太多注
        释。
        score 9.0,
        weight 9.00,
        preference
    2   短い答えとコメン
        ト
        「長い説明はいら
        ない」と二回言わ
        れた。カタカナも
        ﾊﾝｶｸも。
        score 8.0,
        weight 8.00,
        preference
    3   짧은 답변을
        좋아한다
        설명이 길면 읽지
        않는다고 말했다
        score 7.2,
        weight 7.20,
    ");
}

#[test]
fn the_columns_of_a_table_stand_under_each_other() {
    let home = mixed();
    for width in [60, 80, 200] {
        let text = uncoloured(&Terminal::of(width).run(command(&home, &["show"])).screen);
        let heading = text.lines().next().expect("a heading");
        for name in ["BAND", "ITEM", "REASON"] {
            let at = columns(heading.split(name).next().expect("it is there"));
            for line in text.lines() {
                let mut place = 0;
                let mut before = " ";
                for character in line.graphemes(true) {
                    // What stands at the edge of a column begins there, behind a gap.
                    assert!(place != at || before == " ", "{name} at {width}: {line}");
                    assert!(
                        place >= at || place + columns(character) <= at,
                        "{name} at {width}: {line}"
                    );
                    place += columns(character);
                    before = character;
                }
            }
        }
    }
}

#[test]
fn an_entry_shows_how_it_fades() {
    let home = mixed().at("2026-12-30T12:00:00+00:00");
    let fade = |id: &str| {
        let text = home.ok(&["show", id]);
        let line = text.lines().find(|line| line.starts_with("fade"));
        line.expect("it is there").to_owned()
    };
    insta::assert_snapshot!(fade("1"), @"fade       8.5 ▇▇▇▆▆▆▆▆▆▆ 7.1 in a year");
    insta::assert_snapshot!(fade("5"), @"fade       3.7 ▃▃▂▂▂▂▂▂▂▂ 1.6 in a year");
    insta::assert_snapshot!(fade("9"), @"fade       0.3 ▁▁▁▁▁▁▁▁▁▁ 0.1 in a year; a limit stays in force");
    home.ok(&["update", "1", "--score", "10"]);
    insta::assert_snapshot!(fade("1"), @"fade       10.0 ██████████ 10.0 in a year");
    let narrow = Terminal::of(40).run(command(&home, &["show", "2"]));
    let text = uncoloured(&narrow.screen);
    assert!(
        text.lines()
            .any(|line| line.starts_with("fade") && line.ends_with("in a year")),
        "{text}"
    );
    let entry: serde_json::Value = home.json(&["show", "1"]);
    assert!(entry.get("fade").is_none(), "JSON stays what it was");
    assert!(!home.ok(&["why", "1"]).contains("fade"));
}

#[rstest]
#[case::usual(&[], &[], true)]
#[case::forbidden(&[], &[("NO_COLOR", "1")], false)]
#[case::switched_off(&[], &[("CLICOLOR", "0")], false)]
#[case::never(&["--color", "never"], &[], false)]
#[case::by_a_variable(&[], &[("AIZO_COLOR", "never")], false)]
#[case::dumb(&[], &[("TERM", "dumb")], false)]
#[case::dumb_in_ci(&[], &[("TERM", "dumb"), ("CI", "1")], false)]
#[case::dumb_and_forced(&[], &[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], true)]
#[case::forced_by_nothing(&[], &[("TERM", "dumb"), ("CLICOLOR_FORCE", "0")], false)]
#[case::asked_for(&["--color=always"], &[("NO_COLOR", "1")], true)]
#[case::json(&["--json"], &[("CLICOLOR_FORCE", "1")], false)]
#[case::json_before_all(&["--json", "--color", "always"], &[], false)]
fn a_terminal_is_coloured_as_its_person_wants(
    #[case] options: &[&str],
    #[case] variables: &[(&str, &str)],
    #[case] coloured: bool,
) {
    let home = Home::new();
    home.ok(&["add", "tabs", "uses them"]);
    for arguments in [
        &["show"][..],
        &["show", "tabs"],
        &["why", "tabs"],
        &["--help"],
        &["recall", "--help"],
    ] {
        let mut run = command(&home, &[arguments, options].concat());
        run.envs(variables.iter().copied());
        let shown = WIDE.run(run);
        assert_eq!(shown.code, 0, "{shown:?}");
        assert_eq!(
            shown.screen.contains('\u{1b}'),
            coloured,
            "{arguments:?}: {shown:?}"
        );
    }
}

#[test]
fn the_colour_says_what_the_word_says() {
    let home = Home::new();
    home.ok(&["add", "emojis", "never", "--score", "0.5"]);
    home.ok(&["add", "tabs", "uses them", "--score", "9"]);
    let shown = WIDE.run(command(&home, &["show"]));
    let limit = "\u{1b}[1m\u{1b}[31m";
    for painted in [
        format!("{limit}taboo\u{1b}[0m"),
        format!("{limit}emojis\u{1b}[0m"),
    ] {
        assert!(shown.screen.contains(&painted), "{shown:?}");
    }
    assert!(
        shown.screen.contains("\u{1b}[32mpreference\u{1b}[0m"),
        "{shown:?}"
    );
    assert!(shown.screen.contains("  tabs    uses them\n"), "{shown:?}");
}

#[test]
fn no_text_that_is_stored_commands_the_terminal() {
    let evil = "evil\u{1b}[31m\u{9b}2J\r\n\u{202e}txt\u{200b}.exe\u{7}\u{1b}]0;title\u{7}";
    let home = Home::new();
    home.ok(&["add", "tabs", "uses them"]);
    rusqlite::Connection::open(home.db())
        .expect("the store opens")
        .execute(
            "INSERT INTO preferences (item, reason, keywords, base_score, source, added_at, last_seen)
             VALUES (?1, ?1, ?1, 9, ?1, ?1, ?1)",
            [evil],
        )
        .expect("the documented columns are there");
    let chat = Chat::new("s")
        .user(&format!("never use tabs {evil}"))
        .write(&home, "chat.jsonl");
    for arguments in [
        &["show"][..],
        &["show", "2"],
        &["top"],
        &["recall", "evil", "--explain"],
        &["why", "2"],
        &["keywords"],
        &["context", "evil"],
        &["export"],
        &["export", "--format", "md"],
        &["export", "--format", "claude-md"],
        &["analyze", "--print-prompt", &chat],
        &["analyze", &chat],
        &["review"],
        &["history"],
        &["show", "\u{1b}[2Jnothing"],
        &["\u{1b}[2Jnothing"],
        &["show", "2", "--json"],
    ] {
        let shown = WIDE.run(command(&home, arguments));
        let (_, answer) = bar_and_answer(&shown.screen);
        let text = uncoloured(answer);
        assert!(!text.is_empty(), "{arguments:?}");
        let obeyed = text.chars().find(|&c| {
            c != '\n'
                && (c.is_control()
                    || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'))
        });
        assert_eq!(obeyed, None, "{arguments:?}: {text:?}");
    }
}

/// A home with more entries than a screen has rows.
fn long() -> Home {
    let home = Home::new();
    let lines: Vec<String> = (0..60)
        .map(|number| {
            json!({"item": format!("entry {number}"), "reason": "an ordinary one"}).to_string()
        })
        .collect();
    let run = home.run_with_input(&["add", "--stdin"], lines.join("\n").as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    home
}

/// A program in the home folder.
fn program(home: &Home, name: &str, script: &str) -> PathBuf {
    let path = home.write(name, format!("#!/bin/sh\n{script}\n").as_bytes());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

/// A pager that says how it was called, and then what it was given.
fn pager(home: &Home) -> PathBuf {
    program(
        home,
        "my pager",
        "printf 'PAGED'; printf ' [%s]' \"$@\"; printf ' %s %s\\n' \"$LESS\" \"$LESSCHARSET\"; cat",
    )
}

/// Runs a long list on a screen of 50 rows.
fn paged(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Shown {
    let mut run = command(home, arguments);
    run.envs(variables.iter().copied());
    WIDE.run(run)
}

#[test]
fn what_is_longer_than_the_screen_goes_through_the_pager() {
    let home = long();
    let quoted = format!("'{}' -x \"a 'b' c\"", pager(&home).display());
    let shown = paged(&home, &["show"], &[("PAGER", &quoted)]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let (first, rest) = shown.screen.split_once('\n').expect("lines");
    assert_eq!(first, "PAGED [-x] [a 'b' c] FRX utf-8");
    assert_eq!(rest.lines().count(), 61, "{rest}");
    assert!(rest.starts_with("\u{1b}[1m"), "less shows colours: {rest}");
    // What the person has told the pager stands.
    let shown = paged(
        &home,
        &["show"],
        &[
            ("PAGER", &quoted),
            ("LESS", "-S"),
            ("LESSCHARSET", "latin1"),
        ],
    );
    assert!(shown.screen.contains("-S latin1\n"), "{shown:?}");
    // Of two pagers, aizo's own; what fits needs none.
    let shown = paged(
        &home,
        &["show"],
        &[("PAGER", "/nowhere"), ("AIZO_PAGER", &quoted)],
    );
    assert!(shown.screen.starts_with("PAGED"), "{shown:?}");
    let shown = paged(&home, &["top", "48"], &[("PAGER", &quoted)]);
    assert_eq!(shown.screen.lines().count(), 49, "{shown:?}");
    assert!(!shown.screen.contains("PAGED"), "{shown:?}");
    let shown = paged(&home, &["top", "49"], &[("PAGER", &quoted)]);
    assert!(shown.screen.starts_with("PAGED"), "{shown:?}");
}

#[rstest]
#[case::the_flag(&["show", "--no-pager"], &[])]
#[case::none(&["show"], &[("AIZO_PAGER", "")])]
#[case::no_pager(&["show"], &[("PAGER", "")])]
#[case::cat(&["show"], &[("AIZO_PAGER", "cat")])]
#[case::dumb(&["show"], &[("TERM", "dumb")])]
#[case::json(&["show", "--json"], &[])]
fn no_pager_where_none_is_wanted(#[case] arguments: &[&str], #[case] variables: &[(&str, &str)]) {
    let home = long();
    let own = format!("'{}'", pager(&home).display());
    let mut all = vec![("PAGER", own.as_str())];
    all.extend(variables);
    let shown = paged(&home, arguments, &all);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(!shown.screen.contains("PAGED"), "{shown:?}");
    assert!(shown.screen.lines().count() > 60, "{shown:?}");
}

#[rstest]
#[case(Ends::NotStdin)]
#[case(Ends::NotStdout)]
fn no_pager_where_nobody_could_press_a_key(#[case] ends: Ends) {
    let home = long();
    let mut run = command(&home, &["show"]);
    run.env("PAGER", format!("'{}'", pager(&home).display()));
    let shown = WIDE.run_with(run, ends);
    assert_eq!(shown.code, 0, "{shown:?}");
    let text = match ends {
        Ends::NotStdout => &shown.piped,
        _ => &shown.screen,
    };
    assert_eq!(text.lines().count(), 61, "{shown:?}");
    assert!(!text.contains("PAGED"), "{shown:?}");
    assert_eq!(
        text.contains('\u{1b}'),
        ends != Ends::NotStdout,
        "{shown:?}"
    );
}

#[test]
fn a_project_names_no_pager() {
    let home = long();
    let own = pager(&home);
    let line = format!("AIZO_PAGER=\"'{}'\"\n", own.display());
    fs::write(home.path().join(".env"), &line).expect("writable");
    let shown = paged(&home, &["show"], &[("PAGER", "cat")]);
    assert!(!shown.screen.contains("PAGED"), "{shown:?}");
    assert_eq!(shown.screen.lines().count(), 61, "{shown:?}");
    fs::remove_file(home.path().join(".env")).expect("it is there");
    fs::write(home.aizo().join(".env"), &line).expect("writable");
    let shown = paged(&home, &["show"], &[("PAGER", "cat")]);
    assert!(
        shown.screen.starts_with("PAGED"),
        "the person's own does: {shown:?}"
    );
}

#[rstest]
#[case::shell("less; touch seen", "no shell is started")]
#[case::substitution("less $(touch seen)", "no shell is started")]
#[case::pipe("cat | touch seen", "no shell is started")]
#[case::redirection("cat > seen", "no shell is started")]
#[case::a_quote("'less", "no shell is started")]
#[case::blank("''", "cannot be started")]
#[case::missing("/nowhere/less -R", "cannot be started")]
fn a_pager_that_cannot_be_started_is_told_and_nothing_is_lost(
    #[case] named: &str,
    #[case] why: &str,
) {
    let home = long();
    let shown = paged(&home, &["show"], &[("PAGER", named)]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(!home.path().join("seen").exists(), "{named}");
    let (told, rest) = shown.screen.split_once('\n').expect("lines");
    assert!(
        told.starts_with("the pager `") && told.contains(why),
        "{shown:?}"
    );
    assert_eq!(rest.lines().count(), 61, "{shown:?}");
}

#[test]
fn a_pager_that_ends_early_is_no_error() {
    let home = long();
    let first = program(&home, "first", "head -n 1");
    let shown = paged(&home, &["show"], &[("PAGER", &first.display().to_string())]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(shown.screen.lines().count(), 1, "{shown:?}");
}

#[test]
fn without_a_pager_at_all_the_text_is_printed() {
    let home = long();
    let mut run = command(&home, &["show"]);
    run.env("PATH", home.path());
    let shown = WIDE.run(run);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(shown.screen.lines().count(), 61, "{shown:?}");
}

#[test]
fn less_shows_a_screen_of_chinese_and_ends_with_q() {
    if !Path::new("/usr/bin/less").exists() {
        return;
    }
    let home = long();
    home.ok(&["add", "简洁的代码", "要求过两次", "--score", "10"]);
    let mut run = command(&home, &["show"]);
    run.env("LANG", "C");
    let shown = WIDE.run(run);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.screen.contains("简洁的代码"), "{shown:?}");
    let seen = shown.screen.matches("entry ").count();
    assert!((40..60).contains(&seen), "one screen of it: {seen}");
}

/// What was drawn and taken away again before the answer, and the answer.
fn bar_and_answer(screen: &str) -> (&str, &str) {
    screen.rsplit_once("\u{1b}[2K").unwrap_or(("", screen))
}

#[test]
fn an_import_that_takes_time_shows_a_bar_that_is_gone_afterwards() {
    let home = Home::new();
    let lines: Vec<String> = (0..1200)
        .map(|number| {
            json!({"item": format!("entry {number}"), "reason": "an ordinary one"}).to_string()
        })
        .collect();
    let file = home
        .write("many.jsonl", lines.join("\n").as_bytes())
        .display()
        .to_string();
    let import = ["import", "--accept", "--no-pager", file.as_str()];
    let shown = WIDE.run_with(command(&home, &import), Ends::NotStdout);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(
        !shown.piped.contains('\u{1b}') && !shown.piped.is_empty(),
        "{shown:?}"
    );
    let (bar, after) = bar_and_answer(&shown.screen);
    let drawn: Vec<&str> = bar
        .split('%')
        .filter_map(|part| part.split(' ').next_back())
        .collect();
    assert!(
        bar.contains('█') && drawn.len() > 3,
        "it moves on: {shown:?}"
    );

    assert!(!after.contains(['%', '█']), "{shown:?}");
    let narrow = Terminal {
        columns: 20,
        rows: 10,
    };
    let again = Home::new();
    let shown = narrow.run_with(command(&again, &import), Ends::NotStdout);
    let (bar, _) = bar_and_answer(&shown.screen);
    assert!(bar.contains('%'), "{shown:?}");
    let drawn = bar
        .split(['\r', '\n'])
        .map(|line| columns(line.trim_start_matches("\u{1b}[2K")));
    assert!(drawn.max() <= Some(20), "{shown:?}");
    for (options, variables) in [(&["--json"][..], &[][..]), (&[], &[("TERM", "dumb")])] {
        let quiet = Home::new();
        let mut run = command(&quiet, &[&import[..], options].concat());
        run.envs(variables.iter().copied());
        let shown = WIDE.run_with(run, Ends::NotStdout);
        assert_eq!(shown.code, 0, "{shown:?}");
        assert!(!shown.screen.contains(['\u{1b}', '%']), "{shown:?}");
    }
}

#[test]
fn an_analysis_that_takes_time_shows_a_bar_that_is_gone_afterwards() {
    let home = Home::new();
    for file in 0..8 {
        let chat = (0..100).fold(Chat::new(&format!("s{file}")), |chat, turn| {
            chat.user(&format!(
                "I never use tabs in file {turn}, and I like short answers"
            ))
        });
        chat.write(&home, &format!("chats/{file}.jsonl"));
    }
    let shown = WIDE.run_with(
        command(&home, &["analyze", "--dry-run", "chats"]),
        Ends::NotStdout,
    );
    assert_eq!(shown.code, 0, "{shown:?}");
    let (bar, after) = bar_and_answer(&shown.screen);
    assert!(bar.contains('%'), "{shown:?}");
    assert!(!after.contains('%'), "{shown:?}");
    assert!(!shown.piped.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn a_sync_shows_what_it_does_while_it_does_it() {
    let home = Home::new();
    home.ok(&["add", "tabs", "uses them"]);
    let made = Command::new("git")
        .args([
            "init",
            "--bare",
            "--quiet",
            "--initial-branch=main",
            "server.git",
        ])
        .current_dir(home.path())
        .status();
    assert!(made.expect("git is there").success());
    let url = home.path().join("server.git").display().to_string();
    let shown = WIDE.run_with(command(&home, &["sync", "init", &url]), Ends::NotStdout);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.screen.contains("fetching"), "{shown:?}");
    let shown = WIDE.run_with(command(&home, &["sync"]), Ends::NotStdout);
    assert_eq!(shown.code, 0, "{shown:?}");
    let (bar, after) = bar_and_answer(&shown.screen);
    assert!(bar.contains("fetching"), "{shown:?}");
    assert!(!after.contains('%'), "{shown:?}");
    let shown = WIDE.run_with(command(&home, &["sync", "--json"]), Ends::NotStdout);
    assert_eq!(shown.screen, "", "{shown:?}");
}
