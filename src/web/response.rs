//! What goes back. Every answer, a refusal too, says that it is for this page alone, is kept nowhere, and runs nothing but the
//! page's own scripts.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::json;

const JSON: &str = "application/json";

/// No markup comes from a script (`trusted-types`), nothing is loaded from elsewhere, and no other page may frame this one.
const HEADERS: &str = "Cache-Control: no-store\r
X-Content-Type-Options: nosniff\r
Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'\r
Cross-Origin-Opener-Policy: same-origin\r
Cross-Origin-Resource-Policy: same-origin\r
Referrer-Policy: no-referrer\r
Connection: close\r
";

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The status of HTTP.
    pub status: u16,
    message: &'static str,
    hint: Option<&'static str>,
}

impl Refusal {
    /// A refusal.
    pub fn new(status: u16, message: &'static str) -> Self {
        Refusal {
            status,
            message,
            hint: None,
        }
    }

    /// Adds what to try.
    #[must_use]
    pub fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    status: u16,
    kind: &'static str,
    body: Cow<'static, [u8]>,
}

impl Response {
    /// A file of the page.
    pub fn file(kind: &'static str, body: Vec<u8>) -> Self {
        Response {
            status: 200,
            kind,
            body: body.into(),
        }
    }

    /// A value in JSON.
    pub fn json(status: u16, body: Vec<u8>) -> Self {
        Response {
            status,
            kind: JSON,
            body: body.into(),
        }
    }

    /// Writes the answer; without its body where only the head was asked for.
    ///
    /// # Errors
    /// What the stream reports.
    pub fn write(&self, out: &mut impl Write, with_body: bool) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{HEADERS}\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len(),
        );
        out.write_all(head.as_bytes())?;
        if with_body {
            out.write_all(&self.body)?;
        }
        out.flush()
    }
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Self {
        let error =
            json!({"error": {"kind": "refused", "message": refusal.message, "hint": refusal.hint}});
        Response::json(refusal.status, error.to_string().into_bytes())
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400..=499 => "Refused",
        _ => "Failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_a_length_and_keeps_the_page_to_itself() {
        for response in [
            Response::file("text/html", b"<p>".to_vec()),
            Response::from(Refusal::new(401, "no").hint("yes")),
        ] {
            let mut bytes = Vec::new();
            response
                .write(&mut bytes, true)
                .expect("a vector takes all");
            let text = String::from_utf8(bytes).expect("it is text");
            let (head, body) = text.split_once("\r\n\r\n").expect("a head ends");
            assert!(head.contains(&format!("Content-Length: {}", body.len())));
            for header in [
                "no-store",
                "nosniff",
                "default-src 'none'",
                "frame-ancestors 'none'",
                "no-referrer",
                "Connection: close",
            ] {
                assert!(head.contains(header), "{header}");
            }
            assert!(!head.contains("unsafe"));
            assert!(head.lines().all(|line| !line.trim().is_empty()));
            let mut bytes = Vec::new();
            response
                .write(&mut bytes, false)
                .expect("a vector takes all");
            assert_eq!(bytes, format!("{head}\r\n\r\n").into_bytes());
        }
    }
}
