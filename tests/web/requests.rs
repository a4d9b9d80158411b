//! What a broken client, another site and another program may send.

use super::*;

#[test]
fn another_name_another_page_and_another_key_are_refused() {
    let home = home();
    let web = Web::new(&home, &["--write"]);
    let before = home.rows();
    let own = format!("http://127.0.0.1:{}", web.port);
    let port = web.port;
    let local = format!("localhost:{port}");
    let other_port = format!("http://127.0.0.1:{}", port.wrapping_add(1));
    let wrong = format!("Bearer {}0", web.key);
    let basic = format!("Basic {}", web.key);
    let rebound = format!("rebound.example:{port}");
    let ok: [&[(&str, Option<&str>)]; 3] = [
        &[],
        &[
            ("Origin", Some(&own)),
            ("Sec-Fetch-Site", Some("same-origin")),
        ],
        &[("Host", Some(&local))],
    ];
    for headers in ok {
        let answer = web.request("POST", "/api/ask", headers, "[\"show\"]");
        assert_eq!(answer.status, 200, "{headers:?}");
        assert!(answer.body.contains(SECRET));
    }
    let refused: [(Headers<'_>, u16); 13] = [
        (&[("Host", Some("rebound.example"))], 403),
        (&[("Host", Some(&rebound))], 403),
        (&[("Host", Some("127.0.0.1"))], 403),
        (&[("Host", None)], 400),
        (&[("Origin", Some("https://evil.example"))], 403),
        (&[("Origin", Some("null"))], 403),
        (&[("Origin", Some(&other_port))], 403),
        (&[("Sec-Fetch-Site", Some("cross-site"))], 403),
        (&[("Sec-Fetch-Site", Some("same-site"))], 403),
        (&[("Authorization", None)], 401),
        (&[("Authorization", Some("Bearer "))], 401),
        (&[("Authorization", Some(&wrong))], 401),
        (&[("Authorization", Some(&basic))], 401),
    ];
    for (headers, status) in refused {
        for body in ["[\"show\"]", "[\"remove\",\"plain words\"]"] {
            let answer = web.request("POST", "/api/ask", headers, body);
            assert_eq!(answer.status, status, "{headers:?}");
            assert!(!answer.body.contains(SECRET), "{headers:?}");
            assert_eq!(answer.kind(), "refused", "{headers:?}");
            assert!(!answer.head.to_lowercase().contains("access-control"));
        }
        let look = web.request("GET", "/api/look", headers, "");
        assert_eq!(look.status, status, "{headers:?}");
    }
    // A key in the address or in a cookie is none.
    let in_path = format!("/api/look?key={}", web.key);
    assert_eq!(
        web.request("GET", &in_path, &[("Authorization", None)], "")
            .status,
        401
    );
    let cookie = format!("key={}", web.key);
    let cookie = [("Authorization", None), ("Cookie", Some(cookie.as_str()))];
    assert_eq!(web.request("GET", "/api/look", &cookie, "").status, 401);
    // A browser asks first whether another site may send the key.
    let asked_first = web.request(
        "OPTIONS",
        "/api/ask",
        &[("Origin", Some("https://evil.example"))],
        "",
    );
    assert_eq!(asked_first.status, 405);
    assert!(!asked_first.head.to_lowercase().contains("access-control"));
    assert_eq!(home.rows(), before);
}

#[test]
fn no_path_leads_out_of_the_page() {
    let home = home();
    let web = Web::new(&home, &[]);
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/preferences.db",
        "/page/../main.js",
        "//main.js",
        "/main.js/",
        "/main.js%00",
        "/main.js?a",
        "/.env",
        "/preferences.db",
        "/api",
        "/api/",
        "/api/show",
        "http://127.0.0.1/",
        "*",
    ] {
        let answer = web.request("GET", path, &[], "");
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.len() < 200, "{path}");
    }
    for method in ["PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get"] {
        assert_eq!(web.request(method, "/", &[], "").status, 405, "{method}");
    }
    assert_eq!(web.request("POST", "/", &[], "").status, 405);
    assert_eq!(web.request("GET", "/api/ask", &[], "").status, 405);
    assert_eq!(web.request("POST", "/api/look", &[], "").status, 405);
}

#[test]
fn what_is_too_long_or_no_request_is_refused_and_the_next_one_answered() {
    let home = Home::new();
    let web = Web::new(&home, &[]);
    let host = format!("Host: 127.0.0.1:{}\r\n", web.port);
    let big = "a".repeat(1 << 20);
    let requests = [
        (format!("GET /{big} HTTP/1.1\r\n{host}\r\n"), 431),
        (format!("GET / HTTP/1.1\r\n{host}X: {big}\r\n\r\n"), 431),
        (
            format!("GET / HTTP/1.1\r\n{host}{}\r\n", "X: y\r\n".repeat(100)),
            431,
        ),
        (format!("GET / HTTP/1.1\r\n{host}X: {big}"), 431),
        (
            format!("POST /api/ask HTTP/1.1\r\n{host}Content-Length: 1048576\r\n\r\n{big}"),
            413,
        ),
        (
            format!("POST /api/ask HTTP/1.1\r\n{host}Content-Length: 18446744073709551616\r\n\r\n"),
            413,
        ),
        (
            format!("POST /api/ask HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n"),
            400,
        ),
        (
            format!(
                "POST /api/ask HTTP/1.1\r\n{host}Content-Length: 2\r\nContent-Length: 3\r\n\r\n[]"
            ),
            400,
        ),
        (
            format!("POST /api/ask HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            411,
        ),
        (format!("GET / HTTP/1.1\r\n{host}{host}\r\n"), 400),
        (format!("GET / HTTP/2.0\r\n{host}\r\n"), 400),
        ("\u{16}\u{3}\u{1}\u{2}hello".to_owned(), 400),
        ("\r\n\r\n\0\0\0".to_owned(), 400),
    ];
    for (request, status) in &requests {
        let start = &request[..request.len().min(60)];
        assert_eq!(web.send(request.as_bytes()).status, *status, "{start:?}");
    }
    for (body, status) in [
        ("", 400),
        ("{}", 400),
        ("[1]", 400),
        ("[[\"show\"]]", 400),
        ("\"show\"", 400),
        ("[\"show\"", 400),
        ("[]", 400),
        ("[\"clear\",\"--yes\"]", 400),
        ("[\"show\",\"--db\",\"/etc/passwd\"]", 400),
        ("[\"show\",\"nothing of this name\"]", 404),
    ] {
        let answer = web.request("POST", "/api/ask", &[], body);
        assert_eq!(answer.status, status, "{body}");
        assert!(answer.value()["error"]["message"].is_string(), "{body}");
    }
    assert_eq!(web.ask(&["show"]).value()["answer"], json!([]));
    assert!(!home.db().exists(), "looking makes no store");
}

#[test]
fn a_slow_request_is_cut_off_and_others_are_answered_meanwhile() {
    let home = home();
    let web = Web::new(&home, &[]);
    let begun = Instant::now();
    let mut slow = web.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: ")
        .expect("it listens");
    // Something comes all the time; it is the whole that takes too long.
    let mut dripping = slow.try_clone().expect("a second handle");
    let drip = std::thread::spawn(move || {
        while dripping.write_all(b"a").is_ok() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let mut silent = web.connect();
    for _ in 0..5 {
        assert_eq!(web.ask(&["show"]).status, 200);
    }
    assert_eq!(Answer::of(&mut slow).status, 408);
    let _gone = slow.shutdown(Shutdown::Both);
    drip.join().expect("it ends");
    // What never says anything is dropped without a word.
    assert_eq!(Answer::of(&mut silent).status, 0);
    assert!(begun.elapsed() < PATIENCE);
    assert_eq!(web.ask(&["show"]).status, 200);
}

#[test]
fn more_connections_than_there_are_places_are_turned_away() {
    let home = home();
    let web = Web::new(&home, &[]);
    let mut held: Vec<TcpStream> = (0..64).map(|_| web.connect()).collect();
    for stream in &mut held {
        stream.write_all(b"GET /").expect("it listens");
    }
    let turned_away = (0..20).filter(|_| web.ask(&["show"]).status != 200).count();
    assert_eq!(turned_away, 20);
    drop(held);
    let begun = Instant::now();
    while web.ask(&["show"]).status != 200 {
        assert!(begun.elapsed() < PATIENCE, "the places become free again");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Many that come and go leave nothing behind.
    for _ in 0..300 {
        drop(web.connect());
    }
    assert_eq!(web.ask(&["show"]).status, 200);
}

#[test]
fn a_connection_that_is_closed_on_one_side_is_answered_or_ended() {
    let home = home();
    let web = Web::new(&home, &[]);
    let whole = format!(
        "GET /api/look HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        web.port, web.key
    );
    for (sent, status) in [(whole.as_str(), 200), (&whole[..40], 400), ("", 0)] {
        let mut stream = web.connect();
        stream.write_all(sent.as_bytes()).expect("it listens");
        stream.shutdown(Shutdown::Write).expect("it is open");
        assert_eq!(Answer::of(&mut stream).status, status, "{sent}");
    }
    // Whoever asks and does not wait for the answer is no loss.
    for _ in 0..20 {
        let mut stream = web.connect();
        stream.write_all(whole.as_bytes()).expect("it listens");
        stream.shutdown(Shutdown::Both).expect("it is open");
    }
    assert_eq!(web.look()["writes"], false);
    // What comes after a request is not taken for another one.
    let two = web.send(format!("{whole}{whole}").as_bytes());
    assert_eq!((two.status, two.head.matches("HTTP/1.1").count()), (200, 1));
    assert!(!two.body.contains("HTTP/1.1"));
}
