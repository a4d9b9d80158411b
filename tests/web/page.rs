//! The page in a real browser: what a person does there, and what others may not.

mod hostile;
mod live;

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use super::browser::{Browser, Look, Tab};
use super::{SECRET, Web, home};
use crate::common::Home;

const ROWS: &str =
    "[...document.querySelectorAll('.rows .row .name')].map(name => name.textContent)";
const PHONE: Look = Look {
    width: 390,
    height: 844,
    dark: true,
    language: "zh-CN",
};

/// Opens the page and waits until it shows so many entries.
fn open(browser: &mut Browser, web: &Web, look: Look, entries: usize) -> Tab {
    let tab = browser.open(&web.url, look);
    browser.wait(
        &tab,
        &format!(
            "document.querySelector('.table').getAttribute('aria-rowcount') === '{}'",
            entries + 1
        ),
    );
    tab
}

/// Goes to a view of the page.
fn view(browser: &mut Browser, tab: &Tab, name: &str) {
    browser.click(tab, &format!("nav [data-view={name}]"));
    browser.wait(
        tab,
        &format!("document.querySelector('main').dataset.view === '{name}'"),
    );
}

/// Nothing went wrong, and nothing was asked of anybody else.
fn assert_calm(browser: &mut Browser, web: &Web) {
    assert_eq!(browser.troubles(), Vec::<String>::new());
    let own = format!("http://127.0.0.1:{}/", web.port);
    for address in browser.addresses() {
        assert!(
            address.starts_with(&own) || address == "about:blank",
            "{address}"
        );
    }
}

/// Whatever can be used has a name for who does not see it.
fn assert_named(browser: &mut Browser, tab: &Tab) {
    let tree = browser.tell(tab, "Accessibility.getFullAXTree", json!({}));
    let roles = [
        "button",
        "link",
        "textbox",
        "searchbox",
        "combobox",
        "slider",
        "spinbutton",
        "dialog",
        "table",
        "image",
    ];
    for node in tree["nodes"].as_array().expect("a tree") {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        if node["ignored"] == false && roles.contains(&role) {
            let name = node["name"]["value"].as_str().unwrap_or_default();
            assert!(!name.trim().is_empty(), "{role} without a name: {node}");
        }
    }
}

#[test]
fn the_profile_is_shown_filtered_sorted_and_walked_through() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = home();
    let web = Web::new(&home, &[]);
    let tab = open(&mut browser, &web, Look::default(), 5);
    let b = &mut browser;
    assert_eq!(
        b.run(&tab, "document.querySelector('.limits li a').textContent"),
        "force-push to main"
    );
    let order = json!([
        "plain words",
        SECRET,
        "tabs, four wide",
        "long meetings",
        "force-push to main"
    ]);
    assert_eq!(b.run(&tab, ROWS), order);
    assert_eq!(
        b.run(&tab, "document.querySelectorAll('.bars rect.found').length"),
        20
    );

    b.click(&tab, ".table .base_score button");
    b.click(&tab, ".table .base_score button");
    assert_eq!(
        b.run(
            &tab,
            "document.querySelector('.table .base_score').ariaSort"
        ),
        "ascending"
    );
    assert_eq!(
        b.wait(
            &tab,
            &format!("{ROWS}[0] === 'force-push to main' && {ROWS}")
        )[4],
        "plain words"
    );
    b.click(&tab, ".table .effective_weight button");

    b.click(&tab, ".bands .habit");
    assert_eq!(
        b.wait(&tab, &format!("{ROWS}.length === 1 && {ROWS}")),
        json!(["tabs, four wide"])
    );
    assert_eq!(
        b.run(&tab, "document.activeElement.getAttribute('aria-pressed')"),
        "true"
    );
    b.click(&tab, ".bands .habit");
    b.press(&tab, "/");
    assert_eq!(b.run(&tab, "document.activeElement.id"), "search");
    b.fill(&tab, "#search", "COMPLAINED meet");
    assert_eq!(
        b.wait(&tab, &format!("{ROWS}.length === 1 && {ROWS}")),
        json!(["long meetings"])
    );
    assert_eq!(
        b.run(&tab, "document.querySelector('.matches').textContent"),
        "1 of 5 entries Show all"
    );
    b.fill(&tab, "#search", "nothing like it");
    b.wait(
        &tab,
        "document.querySelector('.matches').textContent.startsWith('No entry')",
    );
    b.click(&tab, ".matches button");
    b.wait(&tab, &format!("{ROWS}.length === 5"));

    // What belongs to a scenario is what the command finds.
    b.run(&tab, "(() => { const choice = document.querySelector('.choices select'); choice.value = 'coding'; choice.dispatchEvent(new Event('change')) })()");
    let coding: Vec<Value> = home.json(&["recall", "--scenario", "coding"]);
    let coding: Vec<&Value> = coding.iter().map(|entry| &entry["item"]).collect();
    assert_eq!(
        b.wait(&tab, &format!("{ROWS}.length < 5 && {ROWS}")),
        json!(coding)
    );
    b.click(&tab, ".matches button");

    // By keys alone: down the rows, into an entry, and back to the row.
    b.run(
        &tab,
        "document.querySelector('.rows a[tabindex=\"0\"]').focus()",
    );
    b.press(&tab, "ArrowDown");
    b.press(&tab, "End");
    b.press(&tab, "Home");
    b.press(&tab, "Enter");
    b.wait(&tab, "document.activeElement.id === 'entry-title'");
    assert_eq!(
        b.run(&tab, "document.activeElement.textContent"),
        "plain words"
    );
    assert_eq!(
        b.run(&tab, "document.querySelectorAll('.chart .touch').length"),
        2
    );
    let quotes = b.run(
        &tab,
        "[...document.querySelectorAll('.entry blockquote')].map(quote => quote.textContent)",
    );
    assert_eq!(quotes, json!(["said so again", "struck out long ones"]));
    let told = b.run(
        &tab,
        "document.querySelector('.entry figcaption').textContent",
    );
    let why: Value = home.json(&["why", "plain words"]);
    let weight = format!(
        "{:.2}",
        why["entry"]["effective_weight"].as_f64().expect("a number")
    );
    assert!(
        told.as_str()
            .is_some_and(|told| told.contains(&format!("Weighs {weight} now"))),
        "{told}"
    );
    assert_named(b, &tab);
    b.press(&tab, "Escape");
    b.wait(&tab, "document.querySelector('.entry').hidden && document.activeElement.textContent.startsWith('plain words')");

    // It only reads: nothing offers a change.
    b.wait(
        &tab,
        "document.getElementById('read-only').checkVisibility()",
    );
    for name in ["review", "history", "state", "agent"] {
        view(b, &tab, name);
        b.wait(&tab, "document.querySelector('main').innerText.length > 80");
        let offers = b.run(
            &tab,
            "[...document.querySelectorAll('main button')].filter(button => button.checkVisibility()).map(button => button.textContent)",
        );
        assert_eq!(offers, json!([]), "{name}");
        assert_named(b, &tab);
    }
    assert_calm(b, &web);
}

#[test]
fn what_an_agent_sees_is_what_the_command_prints() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = home();
    let web = Web::new(&home, &[]);
    let tab = open(&mut browser, &web, Look::default(), 5);
    let b = &mut browser;
    view(b, &tab, "agent");
    b.fill(&tab, "#task", "write a letter");
    b.fill(&tab, "#budget", "90");
    b.wait(
        &tab,
        "document.querySelector('.spent').textContent.includes('of 90 tokens')",
    );
    b.wait(&tab, "document.querySelector('.block').ariaBusy === 'false' && document.querySelector('.spent').textContent.includes('writing')");
    let printed: Value = home.json(&[
        "context",
        "write a letter",
        "--budget",
        "90",
        "--scenario",
        "auto",
    ]);
    let lines = b.run(
        &tab,
        "[...document.querySelectorAll('.group a')].map(item => item.textContent)",
    );
    let expected: Vec<&Value> = printed["lines"]
        .as_array()
        .expect("lines")
        .iter()
        .map(|line| &line["item"])
        .collect();
    assert_eq!(lines, json!(expected));
    assert_eq!(
        b.run(&tab, "document.querySelector('pre').textContent"),
        printed["text"]
    );
    let why = b.run(
        &tab,
        "document.querySelector('.group.prefer .because').textContent",
    );
    assert!(
        why.as_str()
            .is_some_and(|why| why.starts_with("close in meaning")),
        "{why}"
    );
    let left = b.run(&tab, "document.querySelector('.left + p').textContent");
    assert!(
        left.as_str()
            .is_some_and(|left| left.starts_with(&printed["left_out"].to_string())),
        "{left}"
    );
    assert_calm(b, &web);
}

#[test]
fn an_empty_store_says_how_to_begin_and_the_state_what_was_found() {
    let home = Home::new();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let b = &mut browser;
    let web = Web::new(&home, &[]);
    let tab = open(b, &web, Look::default(), 0);
    b.wait(&tab, "document.querySelector('.note .ways') !== null");
    let told = b.run(&tab, "document.querySelector('.note').innerText");
    for words in [
        "Nothing is stored yet",
        "aizo add",
        "aizo analyze",
        "aizo import",
        "aizo install",
    ] {
        assert!(
            told.as_str().is_some_and(|told| told.contains(words)),
            "{told}"
        );
    }
    view(b, &tab, "state");
    // The clock of the tests stands still, which doctor says.
    b.wait(
        &tab,
        "document.querySelector('.state').innerText.includes('the clock stands at')",
    );
    let told = b.run(&tab, "document.querySelector('.state').innerText");
    assert!(
        told.as_str()
            .is_some_and(|told| told.contains("aizo sync init URL")),
        "{told}"
    );
    assert_named(b, &tab);
    assert_calm(b, &web);
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_changes_its_ticket_for_the_key() {
    let home = home();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let b = &mut browser;
    let (web, ticket, _said) = super::with_a_browser(&home);
    let tab = b.open(&ticket, Look::default());
    b.wait(
        &tab,
        "document.querySelector('.table')?.getAttribute('aria-rowcount') === '6'",
    );
    assert_eq!(b.run(&tab, "location.hash"), format!("#{}", web.key));
    // Its key is good for ever, and so the page can be loaded anew.
    b.tell(&tab, "Page.reload", json!({}));
    b.wait(
        &tab,
        "document.querySelector('.table')?.getAttribute('aria-rowcount') === '6'",
    );
    // Any other ticket opens nothing.
    let tab = b.open(&ticket.replace("once-", "once-0"), Look::default());
    b.wait(&tab, "!document.getElementById('locked').hidden");
}

#[test]
fn an_entry_is_added_edited_removed_and_taken_back() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = home();
    let before: Value = home.json(&["show"]);
    let web = Web::new(&home, &["--write"]);
    let tab = open(&mut browser, &web, Look::default(), 5);
    let b = &mut browser;

    b.click(&tab, ".choices button");
    assert_named(b, &tab);
    b.fill(&tab, "#field-item", "-5% sales");
    b.fill(&tab, "#field-reason", "--never reads them");
    b.fill(&tab, "#field-score", "1.2");
    assert_eq!(
        b.run(&tab, "document.querySelector('.judge').textContent"),
        "taboo"
    );
    b.click(&tab, "dialog [type=submit]");
    b.wait(
        &tab,
        "document.querySelectorAll('.limits li').length === 2 && !document.querySelector('dialog')",
    );
    let added: Value =
        serde_json::from_str(&home.ok(&["--json", "show", "--", "-5% sales"])).expect("JSON");
    assert_eq!(
        (&added["reason"], &added["base_score"]),
        (&json!("--never reads them"), &json!(1.2))
    );
    b.click(&tab, ".notice .quiet");
    b.wait(&tab, "document.querySelectorAll('.limits li').length === 1");
    assert_eq!(home.json::<Value>(&["show"]), before);

    b.run(
        &tab,
        "document.querySelectorAll('.notice .step').forEach(close => close.click())",
    );
    b.run(&tab, "[...document.querySelectorAll('.rows a')].find(row => row.textContent.startsWith('plain words')).click()");
    b.click(&tab, "[data-name=edit]");
    b.fill(&tab, "#field-score", "3");
    b.fill(&tab, "#field-keywords", "style, 用词");
    b.fill(&tab, "#field-pattern", "leverage\nutili[sz]e");
    b.click(&tab, "dialog [type=submit]");
    b.wait(
        &tab,
        "document.querySelector('.entry .kind').textContent === 'aversion 3.0'",
    );
    let edited: Value = home.json(&["show", "plain words"]);
    assert_eq!(edited["keywords"], json!(["style", "用词"]));
    assert_eq!(edited["pattern"], json!(["leverage", "utili[sz]e"]));
    assert_eq!(
        edited["reason"], "said so again",
        "what was not changed is as it was"
    );
    assert_eq!(
        b.run(&tab, "document.activeElement.dataset.name"),
        "edit",
        "the focus is where it was"
    );
    // Its history is there, and takes it back.
    b.click(&tab, ".entry .lines li:first-child button");
    b.wait(
        &tab,
        "document.querySelector('.entry .kind').textContent === 'preference 8.4'",
    );
    assert_eq!(home.json::<Value>(&["show"]), before);

    b.click(&tab, "[data-name=remove]");
    b.wait(
        &tab,
        &format!("{ROWS}.length === 4 && document.querySelector('.entry').hidden"),
    );
    view(b, &tab, "history");
    b.click(&tab, ".history li:first-child > button");
    b.wait(
        &tab,
        "document.querySelector('.history li:first-child .what').textContent === 'undid'",
    );
    assert_eq!(home.json::<Value>(&["show"]), before);

    // What the program refuses is said in its own words, and the form stays.
    view(b, &tab, "profile");
    b.click(&tab, ".choices button");
    b.fill(&tab, "#field-item", "tabs");
    b.fill(&tab, "#field-reason", "because");
    b.fill(&tab, "#field-pattern", "(");
    b.click(&tab, "dialog [type=submit]");
    let told = b.wait(&tab, "document.querySelector('.notice.wrong').textContent");
    assert!(
        told.as_str().is_some_and(|told| told.contains("(")),
        "{told}"
    );
    assert!(
        b.run(&tab, "document.querySelector('dialog').open")
            .as_bool()
            .is_some_and(|open| open)
    );
    // The one refusal is an answer that the browser notes as such.
    b.troubles()
        .iter()
        .for_each(|trouble| assert!(trouble.contains("400"), "{trouble}"));
    assert_calm(b, &web);
}

#[test]
fn what_waits_is_edited_accepted_and_rejected() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = home();
    home.ok(&[
        "add",
        "open offices",
        "too loud",
        "--score",
        "0.5",
        "--source",
        "analysis",
    ]);
    let web = Web::new(&home, &["--write"]);
    let tab = open(&mut browser, &web, Look::default(), 5);
    let b = &mut browser;
    assert_eq!(
        b.run(&tab, "document.getElementById('waiting').textContent"),
        "2"
    );
    view(b, &tab, "review");
    b.click(&tab, ".waiting li:first-child [aria-label^=Edit]");
    b.fill(&tab, "#field-item", "deploys on Fridays");
    b.fill(&tab, "#field-score", "0.5");
    b.click(&tab, "dialog [type=submit]");
    b.wait(
        &tab,
        "document.querySelector('.waiting h2').textContent === 'deploys on Fridays'",
    );
    b.click(&tab, ".waiting li:first-child [aria-label^=Accept]");
    b.wait(&tab, "document.querySelectorAll('.waiting li').length > 0 && document.querySelectorAll('.waiting > li').length === 1");
    let limits: Value = home.json(&["recall", "--type", "taboo"]);
    assert_eq!(limits.as_array().map(Vec::len), Some(2));
    assert_eq!(limits[0]["item"], "deploys on Fridays");
    b.click(&tab, ".waiting > li:first-child [aria-label^=Reject]");
    b.wait(&tab, "!document.querySelector('.note').hidden && document.getElementById('waiting').textContent === ''");
    assert_eq!(home.json::<Value>(&["review"]), json!([]));
    assert_eq!(home.json::<Value>(&["recall", "--type", "taboo"]), limits);
    assert_calm(b, &web);
}

#[test]
fn it_speaks_chinese_fits_a_phone_and_remembers_what_was_switched() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = home();
    let web = Web::new(&home, &["--write"]);
    let tab = open(&mut browser, &web, PHONE, 5);
    let b = &mut browser;
    assert_eq!(b.run(&tab, "document.documentElement.lang"), "zh-CN");
    assert_eq!(
        b.run(&tab, "document.querySelector('main h1').textContent"),
        "硬性限制"
    );
    let paper = "getComputedStyle(document.body).backgroundColor";
    let dark = b.run(&tab, paper);
    b.click(&tab, "#theme");
    let light = b.run(&tab, paper);
    assert_ne!(dark, light);
    let fits = "document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(b.run(&tab, fits), true);
    b.click(&tab, ".rows .row:first-child");
    b.wait(&tab, "document.activeElement.id === 'entry-title'");
    assert_eq!(b.run(&tab, fits), true);
    let over_all = "(() => { const {left, top, width} = document.querySelector('.entry').getBoundingClientRect(); return left === 0 && top === 0 && width === innerWidth })()";
    assert_eq!(b.run(&tab, over_all), true);
    b.click(&tab, "[data-name=edit]");
    assert_eq!(b.run(&tab, fits), true);
    b.press(&tab, "Escape");
    b.wait(&tab, "!document.querySelector('dialog')");
    b.click(&tab, "[data-name=close]");
    b.wait(&tab, "document.querySelector('.entry').hidden");
    for name in ["agent", "review", "history", "state"] {
        view(b, &tab, name);
        b.wait(&tab, "document.querySelector('main').innerText.length > 30");
        assert_eq!(b.run(&tab, fits), true, "{name}");
        let words = b.run(&tab, "document.querySelector('main h1').textContent");
        assert!(
            words.as_str().is_some_and(|words| !words.is_ascii()),
            "{words}"
        );
    }
    b.click(&tab, "#language");
    b.wait(
        &tab,
        "document.querySelector('main h1').textContent === 'State'",
    );
    b.tell(&tab, "Page.reload", json!({}));
    b.wait(
        &tab,
        "document.querySelector('main h1').textContent === 'State'",
    );
    assert_eq!(b.run(&tab, paper), light);
    assert_calm(b, &web);
}
