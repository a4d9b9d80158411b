//! What a person sees on a terminal, a real one of several sizes: tables and colour here, the pager and bars beside.

mod bars;
mod pager;

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rstest::rstest;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
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
    /// The number of its process.
    process: u32,
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
        let process = child.id();
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
            process,
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

/// What was drawn and taken away again before the answer, and the answer.
fn bar_and_answer(screen: &str) -> (&str, &str) {
    screen.rsplit_once("\u{1b}[2K").unwrap_or(("", screen))
}
