//! A request as it comes over a socket: its head, read by `httparse`, and a body of known length. Longer ones are refused before
//! they are kept.

use super::Refusal;

/// Bytes of the line and the headers of a request.
pub const LONGEST_HEAD: usize = 16 * 1024;
/// Bytes of a body.
pub const LONGEST_BODY: usize = 64 * 1024;
const MOST_HEADERS: usize = 64;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Read something.
    Get,
    /// The same without its body.
    Head,
    /// Ask something.
    Post,
}

/// A request that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What is to be done.
    pub method: Method,
    /// The path, as it was sent.
    pub path: String,
    /// The machine and port that were asked.
    pub host: String,
    /// The page that asks, where the browser says so.
    pub origin: Option<String>,
    /// How near that page is, where the browser says so.
    pub site: Option<String>,
    /// What came to prove that it may be asked.
    pub authorization: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// A request that is coming. However small the pieces are that it comes in, its head is read a few times at most.
#[derive(Debug, Default)]
pub struct Incoming {
    bytes: Vec<u8>,
    /// With fewer bytes than this it is not whole, and nothing new can be said of it but where its head ends.
    enough: usize,
    has_head: bool,
}

impl Incoming {
    /// Whether nothing has come.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes what has come, and gives the request once it is whole.
    ///
    /// # Errors
    /// What is no request, or is too long to be one of the page's.
    pub fn take(&mut self, part: &[u8]) -> Result<Option<Request>, Refusal> {
        // Empty lines in front of a request are nothing, however many.
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let part = match part.iter().position(|byte| !is_end(byte)) {
            Some(begin) if self.bytes.is_empty() => &part[begin..],
            None if self.bytes.is_empty() => return Ok(None),
            _ => part,
        };
        // The end of a head may stand across two parts.
        let from = self.bytes.len().saturating_sub(3);
        self.bytes.extend_from_slice(part);
        let ends = |line: &[u8]| line.starts_with(b"\n\n") || line.starts_with(b"\n\r\n");
        let mut new = memchr::memchr_iter(b'\n', &self.bytes[from..]);
        let has_end = !self.has_head && new.any(|at| ends(&self.bytes[from + at..]));
        if self.bytes.len() < self.enough && !has_end {
            return Ok(None);
        }
        match Request::read(&self.bytes)? {
            Reading::Whole(request) => Ok(Some(request)),
            Reading::Head => {
                self.enough = LONGEST_HEAD.min(self.bytes.len() * 2);
                Ok(None)
            }
            Reading::Body { needed } => {
                self.enough = needed;
                self.has_head = true;
                Ok(None)
            }
        }
    }
}

/// How much of a request has come.
#[derive(Debug, PartialEq, Eq)]
enum Reading {
    Whole(Request),
    /// Not even its head.
    Head,
    /// Its head, and so many bytes it has in all.
    Body {
        needed: usize,
    },
}

impl Request {
    fn read(bytes: &[u8]) -> Result<Reading, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let begun = &bytes[..bytes.len().min(LONGEST_HEAD)];
        let length = match head.parse(begun) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if begun.len() < LONGEST_HEAD => {
                return Ok(Reading::Head);
            }
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(Refusal::new(431, "the head of the request is too long"));
            }
            Err(_) => return Err(Refusal::new(400, "this is no request of HTTP/1.1")),
        };
        let one = |name: &str| only(head.headers, name);
        let body = match (one("transfer-encoding")?, one("content-length")?) {
            (Some(_), _) => {
                return Err(Refusal::new(411, "a body is sent with its length"));
            }
            (None, None) => 0,
            (None, Some(digits)) => number(&digits)
                .ok_or_else(|| Refusal::new(400, "the length of the body is no number"))?,
        };
        if body > LONGEST_BODY {
            return Err(Refusal::new(413, "the body is too long"));
        }
        let needed = length + body;
        let Some(body) = bytes.get(length..needed) else {
            return Ok(Reading::Body { needed });
        };
        Ok(Reading::Whole(Request {
            method: match head.method {
                Some("GET") => Method::Get,
                Some("HEAD") => Method::Head,
                Some("POST") => Method::Post,
                _ => return Err(Refusal::new(405, "only GET, HEAD and POST are answered")),
            },
            path: head.path.unwrap_or_default().to_owned(),
            host: one("host")?.ok_or_else(|| Refusal::new(400, "no Host is named"))?,
            origin: one("origin")?,
            site: one("sec-fetch-site")?,
            authorization: one("authorization")?,
            body: body.to_vec(),
        }))
    }
}

/// The header of this name. Two of them could be read in two ways.
fn only(headers: &[httparse::Header<'_>], name: &str) -> Result<Option<String>, Refusal> {
    let mut found = headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(name));
    let (first, second) = (found.next(), found.next());
    if second.is_some() {
        return Err(Refusal::new(400, "a header stands twice"));
    }
    first
        .map(|header| std::str::from_utf8(header.value).map(|value| value.trim().to_owned()))
        .transpose()
        .map_err(|_| Refusal::new(400, "a header is no text"))
}

/// Digits and nothing else, not even a sign.
fn number(digits: &str) -> Option<usize> {
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| digits.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Request>, u16> {
        let mut incoming = Incoming::default();
        incoming
            .take(text.as_bytes())
            .map_err(|refusal| refusal.status)
    }

    /// What becomes of a text that comes in pieces of this length, and how often it was read.
    fn in_pieces(text: &str, length: usize) -> (Result<Option<Request>, u16>, usize) {
        let mut incoming = Incoming::default();
        let mut times = 0;
        for part in text.as_bytes().chunks(length) {
            let before = incoming.enough;
            match incoming.take(part) {
                Ok(None) => times += usize::from(incoming.enough != before),
                read => return (read.map_err(|refusal| refusal.status), times + 1),
            }
        }
        (Ok(None), times)
    }

    #[test]
    fn pieces_of_any_length_make_the_same_request_and_are_not_read_again_and_again() {
        let body = "\n".repeat(LONGEST_BODY);
        let head = format!(
            "POST /api/ask HTTP/1.1\r\nHost: a\r\nX: {}\r\n",
            "y".repeat(LONGEST_HEAD / 2)
        );
        for end in ["\r\n", "\n"] {
            let text = format!("{head}Content-Length: {}{end}{end}{body}", body.len());
            let whole = read(&text);
            assert!(matches!(&whole, Ok(Some(request)) if request.body.len() == LONGEST_BODY));
            for length in [1, 2, 3, 7, 1000] {
                let (pieced, times) = in_pieces(&text, length);
                assert_eq!(pieced, whole, "{length} bytes each");
                assert!(times < 20, "{times} times, {length} bytes each");
            }
            // Without a body it is answered with the last byte of its head.
            let short = format!("GET / HTTP/1.1{end}Host: a{end}{end}");
            for length in 1..short.len() {
                assert_eq!(
                    in_pieces(&short, length).0,
                    read(&short),
                    "{length} bytes each"
                );
            }
        }
        let endless = format!("GET / HTTP/1.1\r\nA: {}", "b".repeat(LONGEST_HEAD));
        assert_eq!(in_pieces(&endless, 1).0, Err(431));
        let late = format!(
            "{}GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\n".repeat(LONGEST_HEAD)
        );
        let (read, times) = in_pieces(&late, 1);
        assert!(
            matches!(read, Ok(Some(_))) && times < 20,
            "{read:?}, {times} times"
        );
        assert_eq!(in_pieces("\u{16}\u{3}\u{1} not HTTP", 1).0, Err(400));
    }

    #[test]
    fn a_request_is_read_once_all_of_it_is_there() {
        let whole = "POST /api/ask HTTP/1.1\r\nhost: 127.0.0.1:1\r\nContent-Length: 8\r\nAuthorization: Bearer k\r\n\r\n[\"show\"]";
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), Ok(None), "{end} bytes");
        }
        let request = read(whole).expect("it is one").expect("it is whole");
        assert_eq!(request.method, Method::Post);
        assert_eq!(
            (request.path.as_str(), request.host.as_str()),
            ("/api/ask", "127.0.0.1:1")
        );
        assert_eq!(request.authorization.as_deref(), Some("Bearer k"));
        assert_eq!((request.origin, request.site), (None, None));
        assert_eq!(request.body, b"[\"show\"]");
    }

    proptest::proptest! {
        /// A panic would end the server.
        #[test]
        fn no_bytes_are_more_than_refused(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400),
            line in "(GET|POST|HEAD|X) [ -~]{0,20}( HTTP/1.1)?\r?\n(Host: [ -~]{0,9}\r\n)?(Content-Length: [0-9+-]{0,21}\r\n)?\r?\n?",
            length in 1_usize..50,
        ) {
            let all = [line.as_bytes(), &bytes].concat();
            for bytes in [&bytes, &all] {
                let mut incoming = Incoming::default();
                bytes.chunks(length).try_for_each(|part| match incoming.take(part) {
                    Ok(None) => Ok(()),
                    Ok(Some(_)) | Err(_) => Err(()),
                }).ok();
            }
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for (headers, status) in [
            ("", 400),
            ("Host: a\r\nHost: b\r\n", 400),
            ("Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n", 400),
            ("Host: a\r\nContent-Length: +1\r\n", 400),
            ("Host: a\r\nContent-Length: -1\r\n", 400),
            ("Host: a\r\nContent-Length: \r\n", 400),
            ("Host: a\r\nContent-Length: 1 2\r\n", 400),
            ("Host: a\r\nTransfer-Encoding: chunked\r\n", 411),
            ("Host: a\r\nAuthorization: x\r\nauthorization: y\r\n", 400),
            ("Host: a\r\nno colon\r\n", 400),
            (
                "Host: a\r\nContent-Length: 99999999999999999999999\r\n",
                413,
            ),
            ("Host: a\r\nContent-Length: 65537\r\n", 413),
        ] {
            let text = format!("POST / HTTP/1.1\r\n{headers}\r\n");
            assert_eq!(read(&text), Err(status), "{headers}");
        }
        assert_eq!(read("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n"), Err(405));
        assert_eq!(read("\u{16}\u{3}\u{1} not HTTP"), Err(400));
    }

    #[test]
    fn a_head_is_bounded() {
        let long = format!(
            "GET /{} HTTP/1.1\r\nHost: a\r\n\r\n",
            "a".repeat(LONGEST_HEAD)
        );
        assert_eq!(read(&long), Err(431));
        let many = "A: b\r\n".repeat(MOST_HEADERS + 1);
        assert_eq!(read(&format!("GET / HTTP/1.1\r\n{many}\r\n")), Err(431));
        let endless = format!("GET / HTTP/1.1\r\nA: {}", "b".repeat(LONGEST_HEAD));
        assert_eq!(read(&endless), Err(431));
    }
}
