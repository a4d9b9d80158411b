//! Texts and sites that mean harm.

use super::*;

#[test]
fn hostile_text_is_shown_and_never_runs() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = Home::new();
    let hostile = [
        "<img src=x onerror=\"window.hacked=1\">",
        "</title></script><script>window.hacked=1</script>",
        "\"><svg onload=window.hacked=1>",
        "javascript:window.hacked=1",
        "' onfocus='window.hacked=1' autofocus='",
        "{{constructor.constructor('window.hacked=1')()}}",
        "<a href=\"https://evil.example\">click</a>",
        "&lt;b&gt; &amp; <b>bold</b>",
    ];
    for (index, text) in hostile.iter().enumerate() {
        let score = ["0.5", "3", "5", "9"][index % 4];
        home.ok(&[
            "add",
            "--score",
            score,
            "--keywords",
            text,
            "--scenarios",
            text,
            "--source",
            text,
            "--",
            text,
            text,
        ]);
        home.ok(&[
            "add",
            "--score",
            "0.5",
            "--source",
            "analysis",
            "--",
            &format!("waits {text}"),
            text,
        ]);
    }
    // Another program may write what `add` refuses.
    home.outside(
        "INSERT INTO preferences (item, reason, keywords, base_score, source, added_at, last_seen)
         VALUES ('<iframe src=//evil.example>' || char(8238) || char(0x1b) || '[31m', '<style>*{display:none}</style>', '<script>window.hacked=1</script>', 5, '<script>', 'no time', '<img src=x onerror=window.hacked=1>');
         UPDATE preferences SET pattern = '<script>window.hacked=1</script>' WHERE id = 1;",
    );
    let web = Web::new(&home, &["--write"]);
    let entries = home.json::<Vec<Value>>(&["show"]).len();
    let tab = open(&mut browser, &web, Look::default(), entries);
    let b = &mut browser;
    let nothing_ran = "window.hacked === undefined && !document.querySelector('main :is(img, script, iframe, style, svg[onload], [href^=http], [href^=java], [onfocus])')";
    let shown = b.run(&tab, ROWS);
    let shown = shown.as_array().expect("rows");
    for text in hostile {
        assert!(shown.contains(&json!(text)), "{text} is shown as it is");
    }
    for id in 1..=entries {
        b.run(
            &tab,
            &format!("location.hash = location.hash.split('/')[0] + '/entry/{id}'"),
        );
        b.wait(&tab, "!document.querySelector('.entry').hidden && document.activeElement.id === 'entry-title'");
        assert_eq!(b.run(&tab, nothing_ran), true);
    }
    // Here it is about texts: where a mouse would hit is tried elsewhere.
    b.run(&tab, "document.querySelector('[data-name=edit]').click()");
    b.wait(&tab, "document.querySelector('dialog [type=button]')");
    assert_eq!(b.run(&tab, nothing_ran), true);
    b.run(
        &tab,
        "document.querySelector('dialog [type=button]').click()",
    );
    for name in ["agent", "review", "history", "state"] {
        view(b, &tab, name);
        b.wait(&tab, "document.querySelector('main').innerText.includes('<img src=x') || document.querySelector('main').dataset.view === 'state'");
        assert_eq!(b.run(&tab, nothing_ran), true, "{name}");
    }
    // A change is told with its item.
    view(b, &tab, "review");
    b.click(&tab, ".waiting > li:first-child [aria-label^=Accept]");
    b.wait(
        &tab,
        "document.querySelector('.notice').textContent.includes('<img')",
    );
    assert_eq!(b.run(&tab, nothing_ran), true);
    // And were there a way, the browser would not go it.
    let refused = b.run(&tab, "(() => { try { document.createElement('p').innerHTML = '<b>'; return false } catch (error) { return error.name } })()");
    assert_eq!(refused, "TypeError");
    b.troubles().iter().for_each(|trouble| {
        assert!(
            trouble.contains("TrustedHTML") || trouble.contains("trusted"),
            "{trouble}"
        )
    });
    assert_calm(b, &web);
}

/// Serves one page to whoever asks, at a port of its own: another site.
fn other_site(page: &'static str) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _request = stream.read(&mut [0; 4096]);
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            );
            let _gone = stream.write_all(answer.as_bytes());
        }
    });
    port
}

#[test]
fn another_site_gets_nothing_and_changes_nothing_even_if_it_knew_the_key() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let home = home();
    let before = home.rows();
    let web = Web::new(&home, &["--write"]);
    let site = other_site("<!doctype html><title>another site</title>");
    let tab = browser.open(&format!("http://127.0.0.1:{site}/"), Look::default());
    let b = &mut browser;
    b.wait(&tab, "document.title === 'another site'");
    let target = format!("http://127.0.0.1:{}", web.port);
    let key = &web.key;
    let body = "JSON.stringify(['remove', 'plain words'])";
    for options in [
        "{}".to_owned(),
        format!("{{headers: {{Authorization: 'Bearer {key}'}}}}"),
        format!("{{method: 'POST', body: {body}}}"),
        format!("{{method: 'POST', body: {body}, headers: {{Authorization: 'Bearer {key}'}}}}"),
        format!(
            "{{method: 'POST', body: {body}, mode: 'no-cors', credentials: 'include', headers: {{Authorization: 'Bearer {key}'}}}}"
        ),
    ] {
        for path in ["/", "/api/look", "/api/ask"] {
            let script = format!(
                "fetch('{target}{path}', {options}).then(answer => answer.text()).then(text => text.length).catch(() => 'refused')"
            );
            let got = b.run(&tab, &script);
            // A browser that was told not to care for the answer gets an empty one.
            assert!(got == "refused" || got == 0, "{path} {options}: {got}");
        }
    }
    let script = format!(
        "(async () => {{
          const frame = document.createElement('iframe');
          frame.src = '{target}/#{key}';
          const loaded = new Promise(done => frame.addEventListener('load', done));
          document.body.append(frame);
          await loaded;
          let readable;
          try {{ readable = frame.contentWindow.document.body.innerText }} catch {{ readable = 'refused' }}
          const code = document.createElement('script');
          code.src = '{target}/main.js';
          const ran = new Promise(done => {{ code.onload = () => done('ran'); code.onerror = () => done('refused') }});
          document.body.append(code);
          return [readable, await ran];
        }})()"
    );
    assert_eq!(b.run(&tab, &script), json!(["refused", "refused"]));
    let form = format!(
        "(() => {{ document.body.innerHTML = `<form method=post enctype=text/plain action='{target}/api/ask'><input name='[\"remove\",\"plain words\"]'></form>`; document.forms[0].submit() }})()"
    );
    b.run(&tab, &form);
    b.wait(
        &tab,
        "document.body.innerText.includes('another page asks')",
    );
    assert_eq!(home.rows(), before);
    // Without its key, or with another one, the page itself shows nothing but where to find it.
    for address in [
        target.clone(),
        format!("{target}/#0123456789abcdef0123456789abcdef"),
    ] {
        b.go(&tab, "about:blank");
        b.go(&tab, &address);
        b.wait(&tab, "document.getElementById('locked').checkVisibility()");
        assert_eq!(
            b.run(
                &tab,
                &format!("document.documentElement.innerHTML.includes({SECRET:?})")
            ),
            false
        );
    }
}
