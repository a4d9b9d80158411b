//! What a scenarios file may hold, what is wrong with it, and where.

use super::*;
use rstest::rstest;

fn parse(text: &str) -> Scenarios {
    Scenarios::parse(text, Path::new("s.yaml")).expect("a readable file")
}

fn refused(text: &str) -> String {
    let error = Scenarios::parse(text, Path::new("s.yaml")).expect_err("an unreadable file");
    assert!(!error.hint().is_empty());
    error.to_string()
}

fn warnings(scenarios: &Scenarios) -> Vec<String> {
    scenarios.warnings.iter().map(Warning::to_string).collect()
}

/// A file with one scenario, whose keywords are the given YAML value.
fn keywords(value: &str) -> Scenarios {
    parse(&format!("scenarios:\n  coding:\n    keywords: {value}\n"))
}

#[test]
fn the_template_says_the_same_as_the_built_in_table() {
    let template = parse(TEMPLATE);
    assert_eq!(template.list, Scenarios::built_in().list);
    assert_eq!(warnings(&template), [""; 0]);
    assert_eq!(template.source, Source::File(PathBuf::from("s.yaml")));
}

#[test]
fn built_in_scenarios_serve_english_and_chinese() {
    let built_in = Scenarios::built_in();
    assert_eq!(built_in.source, Source::BuiltIn);
    let names: Vec<&str> = built_in
        .list
        .iter()
        .map(|scenario| scenario.name.as_str())
        .collect();
    let expected = [
        "coding",
        "writing",
        "communication",
        "design",
        "review",
        "research",
        "business",
    ];
    assert_eq!(names, expected);
    for scenario in &built_in.list {
        assert!(!scenario.description.is_empty(), "{}", scenario.name);
        let english = scenario.keywords.iter().filter(|word| word.is_ascii());
        assert!(english.count() >= 10, "{}", scenario.name);
        let chinese = scenario.keywords.iter().filter(|word| !word.is_ascii());
        assert!(chinese.clone().count() >= 10, "{}", scenario.name);
        // Chinese words match anywhere: a single character would match nearly everything.
        for word in chinese {
            assert!(word.chars().count() >= 2, "{word}");
        }
    }
}

#[rstest]
#[case("coding", "coding")]
#[case("  Coding ", "coding")]
#[case("CODE", "coding")]
#[case("ｄｅｖ", "coding")]
#[case("编程", "coding")]
#[case("docs", "writing")]
#[case("写作", "writing")]
#[case("Email", "communication")]
#[case("沟通", "communication")]
#[case("UI", "design")]
#[case("code  review", "review")]
#[case("评审", "review")]
#[case("调研", "research")]
#[case("biz-analyze", "business")] // the name in the file that 1.0.0 wrote
fn a_scenario_is_found_by_name_and_alias(#[case] name: &str, #[case] found: &str) {
    let built_in = Scenarios::built_in();
    assert_eq!(
        built_in.find(name).map(|scenario| scenario.name.as_str()),
        Some(found)
    );
}

#[test]
fn a_scenario_is_not_found_by_a_part_of_its_name_or_a_keyword() {
    for name in ["", " ", "cod", "coding2", "refactor", "函数", "编"] {
        assert_eq!(Scenarios::built_in().find(name), None, "{name}");
    }
}

#[test]
fn names_are_compared_with_full_case_folding() {
    let scenarios = parse("scenarios: {Straße: {aliases: [ΌΣΟΣ, İş]}}");
    assert_eq!(scenarios.list[0].name, "straße");
    for name in ["STRASSE", "strasse", "straße", "όσος", "όσοσ", "i\u{307}ş"] {
        assert!(scenarios.find(name).is_some(), "{name}");
    }
    assert_eq!(
        scenarios.names_of("STRASSE"),
        ["strasse", "όσοσ", "i\u{307}ş"]
    );
}

#[test]
fn entries_tagged_with_an_alias_are_found_by_the_name_and_the_reverse() {
    let scenarios = parse("scenarios: {coding: {aliases: [Dev, 编程]}, writing: }");
    for name in ["coding", "DEV", "编程"] {
        assert_eq!(
            scenarios.names_of(name),
            ["coding", "dev", "编程"],
            "{name}"
        );
    }
    assert_eq!(scenarios.names_of("writing"), ["writing"]);
    assert_eq!(scenarios.names_of(" Gardening "), ["gardening"]);
}

#[test]
fn words_are_trimmed_lowered_and_kept_once_in_order() {
    let text = "scenarios:\n  ' Coding ':\n    description: |\n      Code\n      and tests\n    \
                keywords: [' Rust ', TEST, rust, '', 函数, 'ＲＵＳＴ', Über]\n    \
                aliases: [Dev, ' ', dev, CODING, 代码]\n";
    let scenarios = parse(text);
    let expected = Scenario {
        name: "coding".into(),
        description: "Code and tests".into(),
        keywords: ["rust", "test", "函数", "über"].map(String::from).to_vec(),
        aliases: ["dev", "代码"].map(String::from).to_vec(),
    };
    assert_eq!(scenarios.list, [expected]);
    assert_eq!(warnings(&scenarios), [""; 0]);
}

#[rstest]
#[case("[2024, 1.10, 007, 0x1F, -3]", &["2024", "1.10", "007", "0x1f", "-3"])]
#[case("[true, No, on, null]", &["true", "no", "on", "null"])]
#[case("['2024', \"yes\"]", &["2024", "yes"])]
#[case("[.nan, 1e999, 1_000]", &[".nan", "1e999", "1_000"])]
#[case("[!!int \"5\", !!str 6]", &["5", "6"])]
#[case("\n      - 2024\n      -\n      - ~\n      - 测试", &["2024", "测试"])]
#[case("[a, &n 2024, *n, 1.50]", &["a", "2024", "1.50"])]
#[case("", &[])]
#[case("[]", &[])]
fn a_number_or_boolean_is_taken_as_it_is_spelled(#[case] value: &str, #[case] words: &[&str]) {
    let scenarios = keywords(value);
    assert_eq!(scenarios.list[0].keywords, words);
    assert_eq!(warnings(&scenarios), [""; 0]);
}

#[rstest]
#[case("[code, [a], test]", &["code", "test"], "line 3, column 22: keyword of scenario `coding` is a list, not text; left out")]
#[case("[code, {a: b}]", &["code"], "line 3, column 22: keyword of scenario `coding` is a map, not text; left out")]
#[case("code", &[], "line 3, column 15: keyword list of scenario `coding` is text, not a list such as [one, two]; left out")]
#[case("[代码，函数, test]", &["代码", "函数", "test"], "line 3, column 16: keyword `代码，函数` has a comma in it, taken as several")]
#[case("['测试', [a]]", &["测试"], "line 3, column 22: keyword of scenario `coding` is a list, not text; left out")]
fn a_bad_keyword_is_a_warning(#[case] value: &str, #[case] words: &[&str], #[case] warning: &str) {
    let scenarios = keywords(value);
    assert_eq!(scenarios.list[0].keywords, words);
    assert_eq!(warnings(&scenarios), [warning]);
}

#[rstest]
#[case("version: 2\nscenarios: {}\n", &[], &["line 1, column 1: unknown field `version`, left out (known: scenarios)"])]
#[case("scenarios: {a: }\nscenarios: {b: }\n", &["a"], &["line 2, column 1: `scenarios` for the second time, left out"])]
#[case("scenarios:\n  a:\n    keyword: [x]\n    aliases: [y]\n", &["a"],
    &["line 3, column 5: unknown field `keyword` in scenario `a`, left out (known: description, keywords, aliases)"])]
#[case("scenarios:\n  a: 5\n  b: [x]\n  编程:\n", &["编程"],
    &["line 2, column 6: scenario `a` is a number or a boolean, not a map with description, keywords, aliases; left out",
      "line 3, column 6: scenario `b` is a list, not a map with description, keywords, aliases; left out"])]
#[case("scenarios:\n  '': {}\n  ? [x]\n  : {}\n  a,b: {}\n  2024: {}\n", &["2024"],
    &["line 2, column 3: scenario without a name, left out",
      "line 3, column 5: scenario name is a list, not text; left out",
      "line 5, column 3: scenario name `a,b` has a comma in it, left out"])]
#[case("scenarios:\n  代码: {}\n  Code: {}\n  代码: {keywords: [x]}\n  CODE: {}\n", &["代码", "code"],
    &["line 4, column 3: scenario `代码` for the second time, left out",
      "line 5, column 3: scenario `code` for the second time, left out"])]
#[case("scenarios:\n  a:\n    aliases: [b, x]\n  b:\n    aliases: [X, y]\n", &["a", "b"],
    &["line 3, column 15: alias `b` of scenario `a` is already a name of scenario `b`, left out",
      "line 5, column 15: alias `x` of scenario `b` is already a name of scenario `a`, left out"])]
#[case("scenarios:\n  a:\n    description: [x]\n    aliases: y\n", &["a"],
    &["line 3, column 18: description of scenario `a` is a list, not text; left out",
      "line 4, column 14: alias list of scenario `a` is text, not a list such as [one, two]; left out"])]
#[case("scenarios:\n  a:\n    keywords: [x]\n    keywords: [y]\n", &["a"],
    &["line 4, column 5: `keywords` of scenario `a` for the second time, left out"])]
fn a_bad_part_is_a_warning_and_the_rest_works(
    #[case] text: &str,
    #[case] names: &[&str],
    #[case] expected: &[&str],
) {
    let scenarios = parse(text);
    let found: Vec<&str> = scenarios
        .list
        .iter()
        .map(|scenario| scenario.name.as_str())
        .collect();
    assert_eq!(found, names);
    assert_eq!(warnings(&scenarios), expected);
}

#[rstest]
#[case(
    "",
    "can't read scenarios from s.yaml, line 1, column 1: empty, without `scenarios:`"
)]
#[case(
    "coding: {}\n",
    "can't read scenarios from s.yaml, line 1, column 1: no `scenarios:` at the top"
)]
#[case(
    "- coding\n",
    "can't read scenarios from s.yaml, line 1, column 1: a list instead of a map with `scenarios:`"
)]
#[case(
    "scenarios:\n  - coding\n",
    "can't read scenarios from s.yaml, line 2, column 3: `scenarios` is a list, not a map of names"
)]
#[case(
    "scenarios: 编程\n",
    "can't read scenarios from s.yaml, line 1, column 12: `scenarios` is text, not a map of names"
)]
#[case(
    "scenarios:\n\ta: {}\n",
    "can't read scenarios from s.yaml, line 2, column 2: tabs disallowed within this context (block indentation)"
)]
#[case(
    "scenarios:\n  编程: [代码\n",
    "can't read scenarios from s.yaml, line 2, column 7: unclosed bracket '['"
)]
#[case(
    "scenarios: {}\n---\nscenarios: {}\n",
    "can't read scenarios from s.yaml, line 3, column 1: only single YAML document expected but multiple found"
)]
#[case(
    "scenarios: &a {b: *a}\n",
    "can't read scenarios from s.yaml, line 1, column 19: recursive reference not allowed here"
)]
fn a_file_that_says_no_scenarios_is_refused_with_its_place(
    #[case] text: &str,
    #[case] message: &str,
) {
    assert_eq!(refused(text), message);
}

#[test]
fn yaml_aliases_share_words_but_do_not_flood() {
    let shared = "scenarios:\n  a: &a\n    keywords: &k [x, 测试]\n  b:\n    keywords: *k\n  c:\n    <<: *a\n    description: d\n";
    let scenarios = parse(shared);
    assert!(
        scenarios
            .list
            .iter()
            .all(|scenario| scenario.keywords == ["x", "测试"])
    );
    assert_eq!(warnings(&scenarios), [""; 0]);

    let mut laughs = String::from("l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..12 {
        let copies = vec![format!("*l{}", level - 1); 9].join(", ");
        laughs.push_str(&format!("l{level}: &l{level} [{copies}]\n"));
    }
    laughs.push_str("scenarios: {}\n");
    let flood = "more values, aliases or levels than a list of scenarios can need";
    let deep = format!("scenarios: {}{}", "[".repeat(40), "]".repeat(40));
    for text in [laughs, deep, "- ".repeat(1000)] {
        let message = refused(&text);
        assert!(
            message.starts_with("can't read scenarios from s.yaml, line "),
            "{message}"
        );
        assert!(message.ends_with(flood), "{message}");
    }
}

#[test]
fn a_text_without_end_is_left_out_and_a_message_stays_short() {
    let long = "长".repeat(2000);
    let scenarios = keywords(&format!("[{long}, test]"));
    assert_eq!(scenarios.list[0].keywords, ["test"]);
    let expected =
        "line 3, column 16: keyword of scenario `coding` is longer than 4096 bytes, left out";
    assert_eq!(warnings(&scenarios), [expected]);

    let scenarios = parse(&format!("scenarios:\n  {}: 5\n", "长".repeat(1000)));
    assert!(scenarios.warnings[0].message.chars().count() < 200);
}

#[test]
fn a_windows_file_reads_as_any_other() {
    let scenarios = parse(
        "\u{feff}scenarios:\r\n  Coding:\r\n    keywords:\r\n      - 2024\r\n      - 代码\r\n",
    );
    assert_eq!(scenarios.list[0].keywords, ["2024", "代码"]);
    assert_eq!(warnings(&scenarios), [""; 0]);
}

#[test]
fn the_file_that_1_0_0_wrote_still_reads() {
    let text = "scenarios:\n  coding:\n    description: \"Coding, debugging\"\n    keywords:\n      - codex\n      \
                - tnpm\n\n  biz-analyze:\n    description: \"PRD\"\n    keywords:\n      - user-journey\n";
    let scenarios = parse(text);
    assert_eq!(warnings(&scenarios), [""; 0]);
    assert_eq!(
        scenarios
            .find("Biz-Analyze")
            .map(|found| found.keywords.len()),
        Some(1)
    );
}

#[test]
fn a_file_replaces_the_built_in_scenarios_and_no_file_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scenarios.yaml");
    let without = Scenarios::load(&path).expect("no file is no error");
    assert_eq!(without.source, Source::BuiltIn);
    assert!(!path.exists());

    fs::write(&path, "scenarios: {园艺: {keywords: [玫瑰]}}").expect("written");
    let with = Scenarios::load(&path).expect("a file");
    assert_eq!(with.source, Source::File(path));
    assert_eq!(with.list.len(), 1);
    assert_eq!(with.find("coding"), None);
}

#[test]
fn a_file_that_cannot_be_read_is_refused_by_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scenarios.yaml");
    let load = || Scenarios::load(&path).expect_err("refused").to_string();
    let from = format!("can't read scenarios from {}", path.display());

    fs::write(&path, b"scenarios:\n  \xe7\xbc\x96\xff: {}\n").expect("written");
    assert_eq!(load(), format!("{from}, line 2, column 4: not UTF-8"));

    let mut large = b"scenarios: {}\n#".to_vec();
    large.resize(1024 * 1024, b' ');
    fs::write(&path, &large).expect("written");
    Scenarios::load(&path).expect("1 MiB is allowed");
    large.push(0xff);
    fs::write(&path, &large).expect("written");
    assert_eq!(load(), format!("{from}: larger than 1 MiB"));

    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("made");
    assert_eq!(load(), format!("{from}: not a file"));
}
