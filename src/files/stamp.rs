//! Whether a file is what it was, without reading it.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// How long a file is and when it was written last, as one word; another one for each state of it, and for none.
pub fn stamp(path: &Path) -> String {
    let Ok(metadata) = fs::metadata(path) else {
        return "none".to_owned();
    };
    let written = metadata.modified().ok();
    let since = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    format!(
        "{}-{}",
        metadata.len(),
        since.unwrap_or_default().as_nanos()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_made_written_or_removed_has_another_stamp() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let mut seen = vec![stamp(&path)];
        for text in ["", "a", "ab"] {
            fs::write(&path, text).expect("it can be written");
            seen.push(stamp(&path));
        }
        let before = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), before);
        fs::remove_file(&path).expect("it can be removed");
        assert_eq!(stamp(&path), "none");
    }
}
