//! Of a patch what it adds, and to which files.

use std::collections::HashSet;
use std::ops::Range;

use super::prose::lines;

/// What a patch adds.
#[derive(Default)]
pub struct Added<'t> {
    /// The added lines, without their `+`, and what belongs to no patch, such as the message of a commit.
    pub text: String,
    /// Where each of them begins, here and in the patch.
    pub parts: Vec<(usize, usize)>,
    /// The files that it changes.
    pub paths: Vec<&'t str>,
}

/// Where in a patch a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// In no patch.
    Nothing,
    /// In the lines about a file.
    Header,
    /// In a hunk, with so many lines of the old and the new text to come.
    Hunk(usize, usize),
    /// In a patch that ends with its own sign.
    Begun,
}

impl<'t> Added<'t> {
    /// Reads a patch; none where the text is none. Only what a hunk says of itself belongs to it: a line that looks like the
    /// beginning of one must not hide what comes after.
    pub fn read(text: &'t str) -> Option<Self> {
        if !text.contains("@@ -") && !text.contains("*** Begin Patch") {
            return None;
        }
        let mut reader = Reader {
            text,
            within: Within::Nothing,
            is_patch: false,
            seen: HashSet::new(),
            added: Added::default(),
        };
        let mut all = lines(text).peekable();
        while let Some(line) = all.next() {
            let next = all.peek().map_or("", |next| &text[next.clone()]);
            reader.line(line, next);
        }
        let mut added = reader.added;
        if added.parts.is_empty() {
            added.parts.push((0, 0));
        }
        reader.is_patch.then_some(added)
    }
}

/// A patch that is being read.
struct Reader<'t> {
    text: &'t str,
    within: Within,
    is_patch: bool,
    seen: HashSet<&'t str>,
    added: Added<'t>,
}

impl<'t> Reader<'t> {
    fn line(&mut self, line: Range<usize>, next: &str) {
        let content = &self.text[line.clone()];
        if self.is_of_hunk(content, &line) {
            return;
        }
        if let Some((old, new)) = hunk(content) {
            self.within = Within::Hunk(old, new);
            self.is_patch = true;
        } else if content.trim_end() == "*** Begin Patch" {
            self.within = Within::Begun;
            self.is_patch = true;
        } else if self.within == Within::Begun {
            self.of_begun(content, line);
        } else if content.starts_with("diff --git ")
            || content.starts_with("Index: ")
            || content.starts_with("--- ") && next.starts_with("+++ ")
            || content.starts_with("+++ ") && hunk(next).is_some()
            || self.within == Within::Header && is_about_a_file(content)
        {
            self.within = Within::Header;
            self.file(content);
        } else {
            // A line that is added beyond what the hunk has said of itself is still added.
            let beyond = matches!(self.within, Within::Hunk(..)) && content.starts_with('+');
            if !beyond {
                self.within = Within::Nothing;
            }
            self.keep(line.start + usize::from(beyond)..line.end);
        }
    }

    /// Reads a line as one of the hunk that has begun, if it can be one.
    fn is_of_hunk(&mut self, content: &str, line: &Range<usize>) -> bool {
        let Within::Hunk(old, new) = self.within else {
            return false;
        };
        if old == 0 && new == 0 {
            return false;
        }
        let left = match content.bytes().next() {
            Some(b'-') if old > 0 => (old - 1, new),
            Some(b' ') | None => (old.saturating_sub(1), new.saturating_sub(1)),
            Some(b'+') => {
                self.keep(line.start + 1..line.end);
                (old, new.saturating_sub(1))
            }
            Some(b'\\') => (old, new),
            _ => return false,
        };
        self.within = Within::Hunk(left.0, left.1);
        true
    }

    /// Reads a line of a patch that ends with its own sign.
    fn of_begun(&mut self, content: &'t str, line: Range<usize>) {
        let file = [
            "*** Update File: ",
            "*** Add File: ",
            "*** Delete File: ",
            "*** Move to: ",
        ]
        .iter()
        .find_map(|sign| content.strip_prefix(sign));
        self.added.paths.extend(file.map(str::trim));
        if content.trim_end() == "*** End Patch" {
            self.within = Within::Nothing;
        } else if content.starts_with('+') {
            self.keep(line.start + 1..line.end);
        } else if !(content.is_empty()
            || content.starts_with([' ', '-'])
            || content.starts_with("@@")
            || content.starts_with("*** "))
        {
            self.keep(line);
        }
    }

    fn keep(&mut self, range: Range<usize>) {
        self.added.parts.push((self.added.text.len(), range.start));
        self.added.text.push_str(&self.text[range]);
        self.added.text.push('\n');
    }

    /// Remembers the file that a line of a header names.
    fn file(&mut self, line: &'t str) {
        let named = ["+++ ", "--- ", "rename to ", "copy to ", "Index: "]
            .iter()
            .find_map(|sign| line.strip_prefix(sign));
        let Some(path) = named else {
            return;
        };
        // A time may stand behind it.
        let path = path.split('\t').next().unwrap_or_default().trim();
        let bare = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
        let path = bare.unwrap_or(path);
        if path != "/dev/null" && self.seen.insert(path) {
            self.added.paths.push(path);
        }
    }
}

/// How many lines of the old and of the new text a hunk has: `@@ -1,2 +3 @@`.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((start, count)) => start.parse::<usize>().and(count.parse()).ok(),
        None => range.parse::<usize>().map(|_| 1).ok(),
    };
    Some((count(old)?, count(new)?))
}

/// Whether a line of a patch says something about a file.
fn is_about_a_file(line: &str) -> bool {
    [
        "--- ",
        "+++ ",
        "index ",
        "old mode ",
        "new mode ",
        "deleted file ",
        "new file ",
        "similarity ",
        "dissimilarity ",
        "rename ",
        "copy ",
        "Binary files ",
        "=====",
    ]
    .iter()
    .any(|sign| line.starts_with(sign))
}
