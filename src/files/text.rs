//! What is true of a text wherever it comes from: its line ends, its byte order mark, and the line in which something is wrong.

use std::path::Path;

use crate::error::{Failure, Kind};

/// Why a file is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl Fault {
    /// A fault at a byte of a text.
    pub fn at(text: &[u8], byte: usize, message: impl Into<String>) -> Self {
        let before = &text[..byte.min(text.len())];
        Fault {
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            message: message.into(),
        }
    }

    /// The fault as what has failed at a file.
    pub fn in_file(&self, path: &Path) -> Failure {
        let message = format!(
            "{}, line {}: {}; the file was left as it is",
            path.display(),
            self.line,
            self.message
        );
        Failure::new(Kind::Failed, message)
    }
}

/// The line end that a text uses.
pub fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The byte order mark that some editors write.
pub const MARK: &str = "\u{feff}";
