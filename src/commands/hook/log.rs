//! The log of what went wrong at a hook, where nobody reads what is said.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};

use crate::commands::check::beginning;
use crate::model::strip_hidden;
use crate::present;
use crate::redact::redact;
use crate::settings::clock;

/// A log of more bytes is put aside.
const LONGEST_LOG: u64 = 256 * 1024;
/// Bytes of a line in it.
const LONGEST_LINE: usize = 4 * 1024;

/// Says in one line what went wrong, and writes it down.
pub(super) fn fail(agent: &str, message: &str) {
    let line = strip_hidden(&format!("hook {agent}: {message}"));
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    present::say(&format!("aizo {line}"));
    log(clock(), &line);
}

/// Adds a line to the log, where there is a folder for it. Whatever goes wrong with that is nobody's affair.
pub(super) fn log(now: DateTime<Utc>, message: &str) {
    let Some(home) = home() else {
        return;
    };
    let path = home.join("aizo.log");
    let metadata = std::fs::metadata(&path);
    if metadata.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
        return;
    }
    if metadata.is_ok_and(|metadata| metadata.len() > LONGEST_LOG) {
        let is_kept = std::fs::rename(&path, home.join("aizo.log.1")).is_ok();
        if !is_kept {
            // Better none of it than more and more.
            let _gone_or_not = std::fs::File::create(&path);
        }
    }
    let clean = redact(message).text.replace(['\n', '\r'], " ");
    let line = format!(
        "{} {}\n",
        now.to_rfc3339_opts(SecondsFormat::Secs, true),
        beginning(&clean, LONGEST_LINE)
    );
    let _written_or_not = open_log(&path).and_then(|mut file| file.write_all(line.as_bytes()));
}

fn open_log(path: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// The folder of the log, if it is there: the settings may be what failed.
fn home() -> Option<PathBuf> {
    let home = std::env::var_os("AIZO_HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(dirs::home_dir()?.join(".aizo")))?;
    home.is_dir().then_some(home)
}
