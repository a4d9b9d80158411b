//! The repository: what the branch holds, and a commit on top of it. It lies here as git keeps it on a server, without a
//! working tree, and can be made anew at any time: everything in it is on the server or in a journal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::file::device_of;
use super::git::{Git, far_failure, said};
use super::remote::{Remote, shown, spoken};
use crate::error::{Failure, Kind};

/// The format of the repositories that this program writes.
const FORMAT: i64 = 1;

/// The file that says which format a repository has.
pub const FORMAT_FILE: &str = "aizo-sync.json";
/// The profile for people to read.
pub const PROFILE_FILE: &str = "PROFILE.md";
const ATTRIBUTES_FILE: &str = ".gitattributes";

/// People who merge by hand: lines of one device are never merged with other lines, and the profile is made anew anyway.
const ATTRIBUTES: &str = "*.jsonl text eol=lf -merge\nPROFILE.md text eol=lf -merge\n";

/// Longer files are not read.
const LARGEST: u64 = 512 << 20;
/// More devices than that nobody has.
const MOST_DEVICES: usize = 1000;

/// A file of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Names its content.
    pub oid: String,
    /// Its length in bytes.
    pub size: u64,
}

impl Blob {
    /// Whether the file is not read at all.
    pub fn is_too_long(&self) -> bool {
        self.size > LARGEST
    }
}

/// What the branch holds, as far as it is a sync.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// The commit; none in a branch that is not there yet.
    pub head: Option<String>,
    /// The files of the devices.
    pub devices: BTreeMap<String, Blob>,
    /// The other files of a sync that are there.
    pub others: BTreeMap<String, Blob>,
}

/// How a push ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The server has it.
    Done,
    /// Somebody else was there first.
    Rejected,
}

/// A repository, here and on its server.
pub struct Repository {
    git: Git,
    folder: PathBuf,
    remote: Remote,
    now: DateTime<Utc>,
}

impl Repository {
    /// The repository in a folder, as far as there is one.
    pub fn at(folder: &Path, remote: &Remote, now: DateTime<Utc>) -> Self {
        Repository {
            git: Git::new(folder, now),
            folder: folder.to_path_buf(),
            remote: remote.clone(),
            now,
        }
    }

    /// Opens the repository in a folder, or makes it.
    ///
    /// # Errors
    /// Git is missing, or cannot make it.
    pub fn open(folder: &Path, remote: &Remote, now: DateTime<Utc>) -> Result<Self, Failure> {
        let repository = Repository::at(folder, remote, now);
        let is_one = repository
            .git
            .ended(&["rev-parse", "--git-dir"], b"")?
            .status
            .success();
        if !is_one {
            repository.make()?;
        }
        Ok(repository)
    }

    fn make(&self) -> Result<(), Failure> {
        let _none_is_fine = fs::remove_dir_all(&self.folder);
        let arguments = ["init", "--bare", "--quiet", "--template="];
        self.git.run(&arguments, b"").map(drop)
    }

    fn tracking(&self) -> String {
        format!("refs/remotes/origin/{}", self.remote.branch)
    }

    /// Fetches the branch. Nothing is changed here but what is known of it.
    ///
    /// # Errors
    /// The server cannot be reached, or does not want to.
    pub fn fetch(&self) -> Result<Tree, Failure> {
        // A git that was ended may leave a lock behind, or still be at it.
        const TRIES: u32 = 4;
        for attempt in 0..TRIES {
            match self.try_to_fetch()? {
                Ok(()) => return self.tree(),
                Err(_) if attempt + 2 < TRIES => {
                    std::thread::sleep(Duration::from_millis(300));
                }
                Err(_) if attempt + 1 < TRIES => self.make()?,
                Err(failure) => return Err(failure),
            }
        }
        self.tree()
    }

    /// Makes the repository that lies here anew, with what the branch holds now and nothing of what it held before. Where it
    /// cannot be fetched now, it is fetched the next time.
    ///
    /// # Errors
    /// Git cannot make it.
    pub fn shed(&self) -> Result<(), Failure> {
        self.make()?;
        let _now_or_later = self.fetch();
        Ok(())
    }

    /// The inner failure is about what lies here, and goes by or is put right.
    fn try_to_fetch(&self) -> Result<Result<(), Failure>, Failure> {
        // What the branch held before is of no use here, and may hold what was forgotten.
        let mut output = self.fetch_with(&["--depth=1"])?;
        if !output.status.success() && said(&output).to_lowercase().contains("shallow") {
            // Not every server can do that.
            output = self.fetch_with(&[])?;
        }
        if output.status.success() {
            return Ok(Ok(()));
        }
        let text = said(&output).to_lowercase();
        if text.contains("couldn't find remote ref") {
            self.git.run(&["update-ref", "-d", &self.tracking()], b"")?;
            return Ok(Ok(()));
        }
        let failure = far_failure(&output, &self.remote.url);
        let is_here = [
            ".lock",
            "cannot lock ref",
            "unable to update local ref",
            "bad object",
        ]
        .iter()
        .any(|words| text.contains(words));
        if is_here {
            Ok(Err(failure))
        } else {
            Err(failure)
        }
    }

    fn fetch_with(&self, options: &[&str]) -> Result<std::process::Output, Failure> {
        let refs = format!("+refs/heads/{}:{}", self.remote.branch, self.tracking());
        let plain = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let (url, login) = spoken(&self.remote.url);
        let named = ["--", &url, &refs];
        self.git
            .ended_far(&[&plain, options, &named].concat(), &login)
    }

    /// What the branch held when it was fetched or pushed last.
    ///
    /// # Errors
    /// A branch that holds something else, or a sync of a later version.
    pub fn tree(&self) -> Result<Tree, Failure> {
        let name = format!("{}^{{commit}}", self.tracking());
        let head = self
            .git
            .ended(&["rev-parse", "--verify", "--quiet", &name], b"")?;
        if !head.status.success() {
            return Ok(Tree::default());
        }
        let head = String::from_utf8_lossy(&head.stdout).trim().to_owned();
        let mut tree = Tree {
            head: Some(head.clone()),
            ..Tree::default()
        };
        let listing = self.git.run(&["ls-tree", "-r", "-l", "-z", &head], b"")?;
        let mut is_empty = true;
        for entry in String::from_utf8_lossy(&listing).split('\0') {
            is_empty &= entry.is_empty();
            if let Some((path, blob)) = file(entry) {
                match device_of(path) {
                    Some(device) => drop(tree.devices.insert(device.to_owned(), blob)),
                    None => drop(tree.others.insert(path.to_owned(), blob)),
                }
            }
        }
        self.check(&tree, is_empty)?;
        Ok(tree)
    }

    /// Whether the branch is empty, or a sync that this program can read.
    fn check(&self, tree: &Tree, is_empty: bool) -> Result<(), Failure> {
        let place = format!("{} ({})", shown(&self.remote.url), self.remote.branch);
        let Some(blob) = tree.others.get(FORMAT_FILE) else {
            if is_empty {
                return Ok(());
            }
            return Err(Failure::new(
                Kind::Sync,
                format!("{place} holds something that is no sync"),
            )
            .hint("name an empty repository, or a branch for it alone: --branch aizo"));
        };
        let text = self.read(blob)?;
        let format = serde_json::from_slice::<Value>(&text)
            .ok()
            .and_then(|value| value.get("format")?.as_i64());
        match format {
            Some(FORMAT) => {}
            Some(format) if format > FORMAT => {
                return Err(Failure::new(
                    Kind::Newer,
                    format!(
                        "{place} is a sync of format {format}; this aizo {} knows up to {FORMAT}",
                        env!("CARGO_PKG_VERSION")
                    ),
                )
                .hint("update aizo: cargo install aizo"));
            }
            _ => {
                let message = format!("{place}: {FORMAT_FILE} cannot be read");
                return Err(Failure::new(Kind::Sync, message));
            }
        }
        if tree.devices.len() > MOST_DEVICES {
            let message = format!("{place} has more than {MOST_DEVICES} devices");
            return Err(Failure::new(Kind::Sync, message));
        }
        Ok(())
    }

    /// The content of a file.
    ///
    /// # Errors
    /// It is too long, or damaged.
    pub fn read(&self, blob: &Blob) -> Result<Vec<u8>, Failure> {
        if blob.is_too_long() {
            let message = format!("a file of {} bytes is too long", blob.size);
            return Err(Failure::new(Kind::Sync, message));
        }
        self.git.run(&["cat-file", "blob", &blob.oid], b"")
    }

    /// Keeps a content, and names it.
    ///
    /// # Errors
    /// What git reports.
    pub fn keep(&self, bytes: &[u8]) -> Result<String, Failure> {
        self.git.line(&["hash-object", "-w", "--stdin"], bytes)
    }

    /// Makes a commit on a tree with some files in place of what it had; its other files stay. The files are path and name.
    ///
    /// # Errors
    /// What git reports.
    pub fn commit(
        &self,
        tree: &Tree,
        files: &BTreeMap<String, String>,
        message: &str,
    ) -> Result<String, Failure> {
        // A place of our own for the list: nobody waits for its lock.
        let index = self
            .folder
            .join(format!("index-{}", std::process::id()))
            .display()
            .to_string();
        let _none_is_fine = fs::remove_file(&index);
        let git = self.git.with_index(&index);
        match &tree.head {
            Some(head) => git.run(&["read-tree", head], b"")?,
            None => git.run(&["read-tree", "--empty"], b"")?,
        };
        let mut list = String::new();
        for (path, oid) in files {
            let _a_text_takes_all = writeln!(list, "100644 {oid}\t{path}");
        }
        git.run(&["update-index", "--add", "--index-info"], list.as_bytes())?;
        let written = git.line(&["write-tree"], b"")?;
        let _none_is_fine = fs::remove_file(&index);
        let mut arguments = vec!["commit-tree", &written, "-m", message];
        if let Some(head) = &tree.head {
            arguments.extend(["-p", head]);
        }
        self.git.line(&arguments, b"")
    }

    /// Gives a commit to the server, if it stands on what the branch is there.
    ///
    /// # Errors
    /// The server cannot be reached, or does not want to.
    pub fn push(&self, commit: &str) -> Result<Pushed, Failure> {
        let refs = format!("{commit}:refs/heads/{}", self.remote.branch);
        let (url, login) = spoken(&self.remote.url);
        let arguments = [
            "push",
            "--quiet",
            "--porcelain",
            "--no-verify",
            "--",
            &url,
            &refs,
        ];
        let output = self.git.ended_far(&arguments, &login)?;
        if output.status.success() {
            self.git
                .run(&["update-ref", &self.tracking(), commit], b"")?;
            return Ok(Pushed::Done);
        }
        let told = String::from_utf8_lossy(&output.stdout).to_lowercase();
        let text = format!("{told} {}", said(&output).to_lowercase());
        // Of two pushes at once, the server may also fail to lock the branch for one.
        let is_late = [
            "fetch first",
            "non-fast-forward",
            "stale info",
            "cannot lock ref",
            "failed to lock",
            "failed to update ref",
            "reference already exists",
            "incorrect old value",
        ];
        if is_late.iter().any(|words| text.contains(words)) {
            return Ok(Pushed::Rejected);
        }
        Err(far_failure(&output, &self.remote.url))
    }

    /// When this run began.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }
}

/// The files that every sync has, and what is in them.
pub fn standing_files() -> [(&'static str, String); 2] {
    [
        (FORMAT_FILE, format!("{}\n", json!({"format": FORMAT}))),
        (ATTRIBUTES_FILE, ATTRIBUTES.to_owned()),
    ]
}

/// A file of a listing: `100644 blob OID SIZE\tPATH`. Links and folders are none.
fn file(entry: &str) -> Option<(&str, Blob)> {
    let (about, path) = entry.split_once('\t')?;
    let mut parts = about.split_ascii_whitespace();
    let is_file = parts.next() == Some("100644") && parts.next() == Some("blob");
    let is_ours =
        device_of(path).is_some() || [FORMAT_FILE, PROFILE_FILE, ATTRIBUTES_FILE].contains(&path);
    let blob = Blob {
        oid: parts.next()?.to_owned(),
        size: parts.next()?.parse().ok()?,
    };
    (is_file && is_ours).then_some((path, blob))
}
