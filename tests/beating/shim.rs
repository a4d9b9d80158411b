//! The library of `shim.c`, built once, and how a command is run under it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

use super::say;
use super::scene::{Deed, Scene};
use crate::common::{Home, Run, read};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// With this error, once.
    Error(i32),
    /// With this error, and so does all that follows.
    Dead(i32),
    /// A write writes half, and the rest fails with this error.
    Short(i32),
    /// The process is killed before it.
    Kill,
    /// A write writes half, and the process is killed.
    Torn,
}

pub const EIO: i32 = 5;
pub const ENOSPC: i32 = 28;

impl How {
    fn words(self) -> String {
        match self {
            How::Error(number) => format!("error {number}"),
            How::Dead(number) => format!("dead {number}"),
            How::Short(number) => format!("short {number}"),
            How::Kill => "kill".to_owned(),
            How::Torn => "torn".to_owned(),
        }
    }
}

/// The library; nothing where there is no compiler for it, which is said.
pub fn library() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let library = folder.path().join("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/beating/shim.c");
        let output = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .output();
        match output {
            Err(error) => {
                say("shim", &format!("skipped: there is no cc: {error}"));
                None
            }
            Ok(output) => {
                assert!(output.status.success(), "cc: {output:?}");
                Some((folder, library))
            }
        }
    });
    built.as_ref().map(|(_, library)| library.as_path())
}

/// A command under the library.
pub struct Shimmed<'l> {
    library: &'l Path,
    folder: TempDir,
}

impl<'l> Shimmed<'l> {
    /// Nothing comes back where the library cannot be built, or does not take part: in a program without shared libraries.
    pub fn new() -> Option<Shimmed<'static>> {
        let shimmed = Shimmed {
            library: library()?,
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        let home = Home::new();
        let mut command = home.command(&["add", "x", "y"]);
        shimmed.under(&mut command, &home);
        assert_eq!(Run::of(command.output()).code, 0);
        if shimmed.calls().is_empty() {
            say("shim", "skipped: the program takes no preloaded library");
            return None;
        }
        Some(shimmed)
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Where the files are as they were synced.
    pub fn synced(&self) -> PathBuf {
        self.folder.path().join("synced")
    }

    /// Lets the library look at what a command does below its home folder.
    pub fn under<'c>(&self, command: &'c mut Command, home: &Home) -> &'c mut Command {
        let _none_is_fine = fs::remove_file(self.log());
        command
            .env("LD_PRELOAD", self.library)
            .env("SHIM_UNDER", home.path())
            .env("SHIM_LOG", self.log())
    }

    /// The calls of the last command: name and path.
    pub fn calls(&self) -> Vec<String> {
        if !self.log().exists() {
            return Vec::new();
        }
        let log = read(&self.log());
        log.lines()
            .filter(|line| !line.starts_with("stdout"))
            .map(str::to_owned)
            .collect()
    }

    /// Runs a command from the beginning of a scene, and lets the call of this number fail.
    pub fn run(&self, scene: &Scene, deed: &Deed, at: usize, how: How) -> Run {
        let mut command = scene.command(deed);
        self.under(&mut command, &scene.home)
            .env("SHIM_AT", at.to_string())
            .env("SHIM_HOW", how.words());
        scene.home.feed(&mut command, deed.input.as_bytes())
    }

    /// Runs a command from the beginning of a scene, and keeps what a power cut at its end would leave.
    pub fn run_and_keep(&self, scene: &Scene, deed: &Deed) -> Run {
        let _none_is_fine = fs::remove_dir_all(self.synced());
        fs::create_dir(self.synced()).expect("a folder");
        let mut command = scene.command(deed);
        self.under(&mut command, &scene.home)
            .env("SHIM_SYNCED", self.synced())
            .stdout(Stdio::piped());
        scene.home.feed(&mut command, deed.input.as_bytes())
    }
}
