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

impl Request {
    /// Reads what has come so far; nothing where more must come.
    ///
    /// # Errors
    /// What is no request, or is too long to be one of the page's.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let begun = &bytes[..bytes.len().min(LONGEST_HEAD)];
        let length = match head.parse(begun) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if begun.len() < LONGEST_HEAD => return Ok(None),
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
        let Some(body) = bytes.get(length..length + body) else {
            return Ok(None);
        };
        Ok(Some(Request {
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
        Request::read(text.as_bytes()).map_err(|refusal| refusal.status)
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
