//! Who may ask what. The page itself holds nothing of the user's and is given to everybody on this machine who asks for it under
//! its own name; everything else needs the key.

use std::time::Instant;

use super::{Asset, Method, Refusal, Request};

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Route {
    /// A file of the page.
    Asset(&'static Asset),
    /// Whether the store has changed.
    Look,
    /// What a command answers that is made of these words.
    Ask(Vec<String>),
    /// The key, for what was sent in its place: a ticket, if the server knows it.
    Enter(String),
}

/// Lets through what comes from the page and knows the key.
#[derive(Debug)]
pub struct Gate {
    key: String,
    hosts: Vec<String>,
}

impl Gate {
    /// The gate of a server at this port.
    pub fn new(port: u16, key: String) -> Self {
        let names = ["127.0.0.1", "localhost"];
        let mut hosts: Vec<String> = names.map(|name| format!("{name}:{port}")).into();
        if port == 80 {
            hosts.extend(names.map(str::to_owned));
        }
        Gate { key, hosts }
    }

    /// The address of the page, with its key.
    pub fn address(&self) -> String {
        format!("http://{}/#{}", self.hosts[0], self.key)
    }

    /// The address that opens the page with a ticket in the place of the key.
    pub fn address_with(&self, ticket: &str) -> String {
        format!("http://{}/#{TICKET}{ticket}", self.hosts[0])
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What a request asks for.
    ///
    /// # Errors
    /// It comes from elsewhere, does not know the key, or asks for nothing that there is.
    pub fn route(&self, request: &Request) -> Result<Route, Refusal> {
        self.is_meant(request)?;
        if let Some(asset) = Asset::at(&request.path) {
            return match request.method {
                Method::Get | Method::Head => Ok(Route::Asset(asset)),
                Method::Post => Err(Refusal::new(405, "this can only be read")),
            };
        }
        if !request.path.starts_with("/api/") {
            return Err(Refusal::new(404, "there is nothing of this name"));
        }
        if request.path == "/api/enter" && request.method == Method::Post {
            return Ok(Route::Enter(sent(request).to_owned()));
        }
        self.knows_the_key(request)?;
        match (request.method, request.path.as_str()) {
            (Method::Get, "/api/look") => Ok(Route::Look),
            (Method::Post, "/api/ask") => serde_json::from_slice(&request.body)
                .map(Route::Ask)
                .map_err(|_| {
                    Refusal::new(400, "the words of a command are a list of texts in JSON")
                }),
            (_, "/api/look" | "/api/ask" | "/api/enter") => {
                Err(Refusal::new(405, "this is asked in another way"))
            }
            _ => Err(Refusal::new(404, "there is nothing of this name")),
        }
    }

    /// Whether this server was meant, and by its own page: another name may be one that somebody else has let point here.
    fn is_meant(&self, request: &Request) -> Result<(), Refusal> {
        let host = request.host.to_ascii_lowercase();
        if !self.hosts.contains(&host) {
            return Err(Refusal::new(403, "this server goes by another name"));
        }
        let own = format!("http://{host}");
        let is_own = |origin: &String| origin.eq_ignore_ascii_case(&own);
        if !request.origin.as_ref().is_none_or(is_own) {
            return Err(Refusal::new(403, "another page asks"));
        }
        let is_near = |site: &String| site == "same-origin" || site == "none";
        let is_data = request.path.starts_with("/api/");
        if is_data && !request.site.as_ref().is_none_or(is_near) {
            return Err(Refusal::new(403, "another page asks"));
        }
        Ok(())
    }

    fn knows_the_key(&self, request: &Request) -> Result<(), Refusal> {
        if is_same(sent(request), &self.key) {
            Ok(())
        } else {
            Err(locked("the key is missing or is not the one of this start"))
        }
    }
}

/// What was sent to prove that it may be asked.
fn sent(request: &Request) -> &str {
    let sent = request.authorization.as_deref().unwrap_or_default();
    sent.strip_prefix("Bearer ").unwrap_or_default()
}

/// The refusal of who does not know the key.
fn locked(why: &'static str) -> Refusal {
    Refusal::new(401, why)
        .hint("open the address that aizo web has printed, with everything behind the #")
}

/// How a ticket begins behind the `#`.
const TICKET: &str = "once-";

/// What the browser is started with in the place of the key: other users of the machine can see it in the list of processes. It
/// opens the page once, and soon.
#[derive(Debug)]
pub struct Ticket {
    text: String,
    until: Instant,
    was_used: bool,
}

/// What becomes of a ticket that is shown.
#[derive(Debug, PartialEq, Eq)]
pub enum Shown {
    /// It opens the page.
    Opens,
    /// It has opened the page before, so that somebody else has it too.
    Again,
    /// It is another one, or too late.
    Refused(Refusal),
}

impl Ticket {
    /// A ticket that is good until then.
    pub fn new(text: String, until: Instant) -> Self {
        Ticket {
            text,
            until,
            was_used: false,
        }
    }

    /// Takes what somebody shows.
    pub fn show(&mut self, shown: &str, now: Instant) -> Shown {
        let is_it = shown
            .strip_prefix(TICKET)
            .is_some_and(|text| is_same(text, &self.text));
        if !is_it || now > self.until {
            return Shown::Refused(locked(
                "this address was for the browser that was started with it, once and at once",
            ));
        }
        if std::mem::replace(&mut self.was_used, true) {
            Shown::Again
        } else {
            Shown::Opens
        }
    }
}

/// Compares without telling by the time it takes how much is right.
fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let differ = a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differ) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method, path: &str) -> Request {
        Request {
            method,
            path: path.to_owned(),
            host: "127.0.0.1:2342".to_owned(),
            origin: None,
            site: None,
            authorization: None,
            body: b"[\"show\"]".to_vec(),
        }
    }

    fn answer(request: &Request) -> Result<Route, u16> {
        Gate::new(2342, "key".to_owned())
            .route(request)
            .map_err(|refusal| refusal.status)
    }

    #[test]
    fn the_page_is_for_everybody_and_the_store_for_who_knows_the_key() {
        assert!(matches!(
            answer(&request(Method::Get, "/")),
            Ok(Route::Asset(_))
        ));
        assert!(matches!(
            answer(&request(Method::Head, "/main.js")),
            Ok(Route::Asset(_))
        ));
        assert_eq!(answer(&request(Method::Post, "/")), Err(405));
        for sent in [
            None,
            Some(""),
            Some("key"),
            Some("Bearer "),
            Some("Bearer keyy"),
            Some("Bearer kex"),
            Some("Basic key"),
        ] {
            let mut ask = request(Method::Post, "/api/ask");
            ask.authorization = sent.map(str::to_owned);
            assert_eq!(answer(&ask), Err(401), "{sent:?}");
        }
        let mut ask = request(Method::Post, "/api/ask");
        ask.authorization = Some("Bearer key".to_owned());
        assert_eq!(answer(&ask), Ok(Route::Ask(vec!["show".to_owned()])));
        ask.body = b"{\"words\": []}".to_vec();
        assert_eq!(answer(&ask), Err(400));
        ask.method = Method::Get;
        assert_eq!(answer(&ask), Err(405));
        ask.path = "/api/look".to_owned();
        assert_eq!(answer(&ask), Ok(Route::Look));
        ask.path = "/api/else".to_owned();
        assert_eq!(answer(&ask), Err(404));
    }

    #[test]
    fn no_path_leads_anywhere_else() {
        for path in [
            "",
            "//",
            "/..",
            "/../Cargo.toml",
            "/page/main.js",
            "/%2e%2e/main.js",
            "/main.js?x",
            "main.js",
            "http://127.0.0.1:2342/",
            "/MAIN.JS",
            "*",
        ] {
            assert_eq!(answer(&request(Method::Get, path)), Err(404), "{path}");
        }
    }

    #[test]
    fn another_name_and_another_page_are_refused_even_with_the_key() {
        for path in ["/", "/api/look"] {
            let mut known = request(Method::Get, path);
            known.authorization = Some("Bearer key".to_owned());
            for host in ["127.0.0.1:2342", "localhost:2342", "LocalHost:2342"] {
                known.host = host.to_owned();
                known.origin = Some(format!("http://{host}"));
                known.site = Some("same-origin".to_owned());
                assert!(answer(&known).is_ok(), "{host}");
            }
            for host in [
                "",
                "127.0.0.1",
                "127.0.0.1:2343",
                "evil.example",
                "127.0.0.1.evil.example:2342",
                "[::1]:2342",
                "127.0.0.1:2342.evil.example",
            ] {
                let mut other = known.clone();
                other.host = host.to_owned();
                other.origin = None;
                assert_eq!(answer(&other), Err(403), "{host}");
            }
            for origin in [
                "null",
                "",
                "http://localhost:3000",
                "https://localhost:2342",
                "http://evil.example",
                "http://127.0.0.1:2342",
            ] {
                let mut other = known.clone();
                other.origin = Some(origin.to_owned());
                assert_eq!(answer(&other), Err(403), "{origin}");
            }
        }
        let mut near = request(Method::Get, "/api/look");
        near.authorization = Some("Bearer key".to_owned());
        for site in ["same-site", "cross-site"] {
            near.site = Some(site.to_owned());
            assert_eq!(answer(&near), Err(403), "{site}");
        }
        // Following a link to the page shows the page, and nothing in it.
        near.path = "/".to_owned();
        assert!(answer(&near).is_ok());
    }

    #[test]
    fn a_ticket_opens_once_and_soon() {
        let start = Instant::now();
        let later = start + std::time::Duration::from_secs(1);
        let ticket = || Ticket::new("abc".to_owned(), start);
        let mut good = ticket();
        for wrong in ["", "abc", "once-", "once-abd", "once-abcd"] {
            assert!(
                matches!(good.show(wrong, start), Shown::Refused(_)),
                "{wrong}"
            );
        }
        assert_eq!(good.show("once-abc", start), Shown::Opens);
        assert_eq!(good.show("once-abc", start), Shown::Again);
        assert!(matches!(good.show("once-abc", later), Shown::Refused(_)));
        assert!(matches!(
            ticket().show("once-abc", later),
            Shown::Refused(_)
        ));
        let mut enter = request(Method::Post, "/api/enter");
        assert_eq!(answer(&enter), Ok(Route::Enter(String::new())));
        enter.authorization = Some("Bearer once-abc".to_owned());
        assert_eq!(answer(&enter), Ok(Route::Enter("once-abc".to_owned())));
        enter.origin = Some("http://evil.example".to_owned());
        assert_eq!(answer(&enter), Err(403));
        enter.origin = None;
        enter.method = Method::Get;
        assert_eq!(answer(&enter), Err(401));
    }

    #[test]
    fn the_usual_port_is_not_named() {
        let mut plain = request(Method::Get, "/");
        plain.host = "localhost".to_owned();
        let at = |port| Gate::new(port, "key".to_owned()).route(&plain).is_ok();
        assert!(at(80) && !at(8080));
    }
}
