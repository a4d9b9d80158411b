//! What `export` writes: fit for others, for a reader, and over nothing but its own.

use super::*;

#[test]
fn what_is_published_tells_nothing_but_preferences() {
    let home = Home::new();
    home.ok(&[
        "add",
        "mails to anna@example.com",
        "Anna Kowalska asked in /home/anna/notes.md",
        "--keywords",
        "+49 30 901820,brevity",
        "--source",
        "desk",
    ]);
    home.ok(&[
        "add",
        "force-push to main",
        "lost a day",
        "--score",
        "0.5",
        "--pattern",
        "/srv/repo/.*",
    ]);
    let public = export(&home, &["--redact"]);
    for secret in [
        "anna",
        "Anna",
        "901820",
        "lost a day",
        "desk",
        "/srv",
        "12:00",
        "quote",
    ] {
        assert!(!public.contains(secret), "{secret}: {public}");
    }
    assert!(public.contains("mails to [redacted e-mail]") && public.contains("brevity"));
    let reasons = export(&home, &["--redact", "--with-reasons"]);
    assert!(
        reasons.contains("lost a day")
            && reasons.contains("Anna Kowalska asked in [redacted path]")
    );
    let page = export(&home, &["--redact", "--format", "md"]);
    assert!(
        page.find("## Hard limits") < page.find("## Preferred")
            && page.contains("force-push to main")
    );
    // It may be anybody's, so that all of it waits.
    let to = Home::new();
    let path = file(&to, "public.jsonl", &public);
    let reply = import(&to, &[&path]);
    assert_eq!(reply.results(), results(&[("pending", 2)]));
    assert!(import(&to, &[&path]).changes_nothing());
    assert_eq!(home.run(&["export", "--redact", "--history"]).code, 2);
    assert_eq!(home.run(&["export", "--with-reasons"]).code, 2);
}

#[test]
fn a_page_is_for_reading() {
    let home = profile();
    home.ok(&[
        "add",
        "# not a heading [x](y)",
        "a <b>bold</b> `claim`",
        "--score",
        "8",
    ]);
    insta::assert_snapshot!(export(&home, &["--format", "md"]), @r"
    <!-- aizo profile -->

    # Preferences

    ## Hard limits

    - **对海鲜过敏** (0.0): 每次都查菜单
    - **force-push to main** (0.5): lost a day to it

    ## Disliked

    - **passive voice** (2.5): rewrote two

    ## Preferred

    - **# not a heading \[x\](y)** (8.0): a ‹b>bold‹/b> \`claim\`

    ## Habits

    - **concise code** (6.0): and once more  
      for: coding, writing  
      also: brevity, lean

    <!-- aizo profile 8789bfb30f9596edf70b3fe88436d38d -->
    ");
}

#[test]
fn an_export_is_written_over_and_nothing_else_is() {
    let home = profile();
    for name in ["p.jsonl", "p.json", "p.md"] {
        home.ok(&["export", name]);
        home.ok(&["export", name]);
    }
    let read = |name: &str| std::fs::read_to_string(home.path().join(name)).expect("it is there");
    assert!(read("p.json").starts_with("{\n  \"format\": \"aizo-profile\""));
    assert!(read("p.md").starts_with("<!-- aizo profile -->"));
    assert_eq!(read("p.jsonl"), export(&home, &[]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(home.path().join("p.jsonl"))
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let own = |name: &str| read(name);
    let mut others = vec![
        ("notes.md", "my notes\n".to_owned()),
        (
            "about.md",
            "The format is called aizo-profile.\n".to_owned(),
        ),
        (
            "about.json",
            "{\"format\": \"aizo-profile\", \"note\": \"mine\"}\n".to_owned(),
        ),
    ];
    // An export in which somebody has written since.
    for name in ["p.jsonl", "p.json", "p.md"] {
        others.push((name, own(name) + "- my own note\n"));
    }
    home.ok(&["export", "--redact", "public.jsonl"]);
    home.ok(&["export", "--redact", "public.jsonl"]);
    others.push((
        "public.jsonl",
        own("public.jsonl") + "{\"item\": \"mine\"}\n",
    ));
    for (name, text) in others {
        file(&home, name, &text);
        let refused = home.run(&["export", name]);
        assert_eq!(refused.code, 1, "{name}");
        assert!(
            refused.stderr.contains("holds something else"),
            "{refused:?}"
        );
        assert_eq!(read(name), text);
    }
    for wrong in [
        ["export", "p.jsonl", "--into", "CLAUDE.md"].as_slice(),
        &["export", "p.md", "--format", "claude-md"],
        &["export", "--format", "md", "--history"],
    ] {
        assert_eq!(home.run(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn the_reply_of_an_export_in_json_has_these_fields() {
    let home = profile();
    let reply: Value = home.json(&["export"]);
    let names: Vec<&String> = reply.as_object().expect("an object").keys().collect();
    assert_eq!(
        names,
        ["format", "file", "result", "entries", "hard_limits", "text"]
    );
    assert_eq!(
        (&reply["entries"], &reply["hard_limits"]),
        (&Value::from(4), &Value::from(2))
    );
    let document: Value = home.json(&["export", "--format", "json"]);
    assert_eq!(document["format"], "aizo-profile");
    let empty = Home::new();
    let run = empty.run(&["export"]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("nothing is stored yet"));
    let path = file(&empty, "p.jsonl", run.stdout);
    assert!(import(&empty, &[&path]).changes_nothing());
}

#[rstest]
#[case::plain(&[])]
#[case::for_others(&["--redact"])]
fn the_page_for_people_is_refused_with_what_comes_back(#[case] options: &[&str]) {
    let from = profile();
    let page = from.path().join("profile.md").display().to_string();
    from.ok(&[&["export", &page], options].concat());
    let to = Home::new();
    for more in [&[][..], &["--format", "rules"]] {
        let run = to.run(&[&["import", &page], more].concat());
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
        assert!(run.stderr.contains("for people to read"), "{run:?}");
        assert!(run.stderr.contains("aizo export FILE.jsonl"), "{run:?}");
    }
    assert!(!to.db().exists());
}

#[test]
fn a_folder_that_is_made_and_a_form_that_the_name_does_not_tell_are_said() {
    let home = profile();
    let file = home.path().join("new/folder/x.jsonl").display().to_string();
    let run = home.run(&["export", &file]);
    assert!(
        run.stderr.starts_with("made the folder ") && run.stderr.ends_with("folder\n"),
        "{run:?}"
    );
    assert!(!run.stdout.contains(" as jsonl"), "{run:?}");
    assert_eq!(home.run(&["export", &file]).stderr, "");
    assert!(
        home.ok(&["export", "profile.txt"])
            .contains("profile.txt as jsonl (")
    );
}
