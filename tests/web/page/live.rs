//! What others change meanwhile, and how much there may be.

use super::*;

#[test]
fn two_tabs_and_other_programs_see_what_the_other_has_changed() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = home();
    let web = Web::new(&home, &["--write"]);
    let one = open(&mut browser, &web, Look::default(), 5);
    let two = open(&mut browser, &web, Look::default(), 5);
    let b = &mut browser;
    // The second looks at an entry and has a form open for it; the first changes it.
    for tab in [&one, &two] {
        b.run(tab, "[...document.querySelectorAll('.rows a')].find(row => row.textContent.startsWith('tabs')).click()");
        b.click(tab, "[data-name=edit]");
    }
    b.fill(&one, "#field-score", "6");
    b.click(&one, "dialog [type=submit]");
    b.wait(&two, "!document.querySelector('.meanwhile').hidden");
    b.wait(
        &two,
        "document.querySelector('.entry .kind').textContent === 'habit 6.0'",
    );
    // What the second saves is what it changed, and not what it once read.
    b.fill(&two, "#field-reason", "and in makefiles");
    b.click(&two, "dialog [type=submit]");
    for tab in [&one, &two] {
        b.wait(
            tab,
            "document.querySelector('.entry .because').textContent === 'and in makefiles'",
        );
    }
    let entry: Value = home.json(&["show", "tabs, four wide"]);
    assert_eq!(
        (&entry["base_score"], &entry["reason"]),
        (&json!(6.0), &json!("and in makefiles"))
    );

    // Another process, and another program altogether.
    home.ok(&["add", "early trains", "empty", "--score", "9.9"]);
    for tab in [&one, &two] {
        b.wait(
            tab,
            &format!("{ROWS}.length === 6 && {ROWS}.includes('early trains')"),
        );
    }
    home.outside("UPDATE preferences SET item = 'the first train' WHERE item = 'early trains'");
    home.outside("DELETE FROM preferences WHERE item LIKE 'tabs%'");
    for tab in [&one, &two] {
        b.wait(
            tab,
            &format!("{ROWS}.length === 5 && {ROWS}.includes('the first train')"),
        );
        b.wait(tab, "document.querySelector('.entry .note').textContent.startsWith('This entry is not there')");
    }
    assert_calm(b, &web);

    // A server that is gone is said, and its page does not work with the next one.
    drop(web);
    b.wait(&one, "document.getElementById('away').checkVisibility()");
}

#[test]
fn ten_thousand_entries_are_filtered_and_scrolled_with_a_screenful_of_rows() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = Home::new();
    home.ok(&["add", "first of all", "because"]);
    home.outside(
        "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 9999)
         INSERT INTO preferences (item, reason, base_score, source, added_at, last_seen)
         SELECT 'entry ' || n, 'because ' || (n % 97) || '.', (n % 85 + 16) / 10.0, 'manual', '2026-11-01T00:00:00+00:00', '2026-11-01T00:00:00+00:00'
         FROM number",
    );
    let web = Web::new(&home, &[]);
    let tab = open(&mut browser, &web, Look::default(), 10_000);
    let b = &mut browser;
    let few = "document.querySelectorAll('.rows .row').length < 80";
    assert_eq!(b.run(&tab, few), true);
    assert_eq!(
        b.run(&tab, "document.querySelector('.matches').textContent"),
        "10,000 entries"
    );
    b.run(&tab, "document.querySelector('.rows a').focus()");
    b.press(&tab, "End");
    b.wait(
        &tab,
        "document.activeElement.closest('.row').ariaRowIndex === '10001'",
    );
    b.wait(&tab, "(() => { const {top, bottom} = document.activeElement.getBoundingClientRect(); return top > 0 && bottom <= innerHeight })()");
    assert_eq!(b.run(&tab, few), true);
    b.run(&tab, "scrollTo(0, document.body.scrollHeight / 2)");
    let middle = "[...document.querySelectorAll('.rows .row')].filter(row => { const {top, bottom} = row.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight }).length > 8";
    b.wait(&tab, middle);
    b.fill(&tab, "#search", "because 13.");
    let expected = (1..10_000).filter(|number| number % 97 == 13).count();
    b.wait(
        &tab,
        &format!(
            "document.querySelector('.matches').textContent.startsWith('{expected} of 10,000')"
        ),
    );
    home.outside("UPDATE preferences SET reason = 'because 13.' WHERE item = 'entry 12'");
    b.wait(
        &tab,
        &format!(
            "document.querySelector('.matches').textContent.startsWith('{} of 10,000')",
            expected + 1
        ),
    );
    assert_calm(b, &web);
}
