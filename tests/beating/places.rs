//! Places that are not made for a store: a disk that is mounted to be read only, a file system that cannot share memory
//! between processes, as many network file systems.

#[cfg(target_os = "linux")]
mod read_only {
    use std::path::PathBuf;
    use std::process::Command;

    use super::super::say;
    use super::super::scene::{DEEDS, Scene, files};

    /// A folder that is mounted over itself, to be read only; it needs root.
    struct ReadOnly(PathBuf);

    impl ReadOnly {
        fn over(folder: PathBuf) -> Option<Self> {
            let mount = |arguments: &[&str]| {
                Command::new("mount")
                    .args(arguments)
                    .arg(&folder)
                    .output()
                    .is_ok_and(|output| output.status.success())
            };
            let path = folder.display().to_string();
            if !mount(&["--bind", &path]) {
                say("read-only", "skipped: mounting needs root");
                return None;
            }
            let place = ReadOnly(folder.clone());
            assert!(
                mount(&["-o", "remount,bind,ro"]),
                "it can be made read only"
            );
            Some(place)
        }
    }

    impl Drop for ReadOnly {
        fn drop(&mut self) {
            let _gone = Command::new("umount").arg(&self.0).output();
        }
    }

    #[test]
    fn on_a_read_only_disk_every_read_answers_and_every_write_says_why_not() {
        let scene = Scene::new(false);
        let mut refused = 0;
        // With its log beside it, and as a copy to another disk leaves it.
        for alone in [false, true] {
            scene.reset();
            if alone {
                for ending in ["-wal", "-shm"] {
                    let _none_is_fine =
                        std::fs::remove_file(format!("{}{ending}", scene.home.db().display()));
                }
            }
            let Some(place) = ReadOnly::over(scene.home.aizo()) else {
                return;
            };
            let before = files(&scene.home.aizo());
            for read in [
                &["show"][..],
                &["context"],
                &["recall", "force"],
                &["history"],
                &["why", "force-push"],
                &["info"],
                &["review"],
                &["export", "--format", "jsonl"],
                &["check", "--command", "git status"],
            ] {
                let run = scene.home.run(read);
                assert_eq!(run.code, 0, "{read:?}: {run:?}");
            }
            assert!(scene.home.ok(&["context"]).contains("force-push"));
            for deed in DEEDS
                .iter()
                .filter(|deed| !deed.syncs && deed.name != "doctor")
            {
                let run = scene.run(deed);
                if deed.name == "backup to a file" {
                    // What is written there is elsewhere.
                    assert_eq!(run.code, 0, "{run:?}");
                    continue;
                }
                assert_eq!(
                    (run.code, run.stdout.as_str()),
                    (1, ""),
                    "{}: {run:?}",
                    deed.name
                );
                assert!(run.stderr.contains("read-only"), "{}: {run:?}", deed.name);
                assert!(run.stderr.contains("hint: "), "{}: {run:?}", deed.name);
                refused += 1;
            }
            assert_eq!(files(&scene.home.aizo()), before);
            drop(place);
            let _one_is_enough = std::fs::remove_file(scene.home.path().join("files/new.db"));
        }
        say("read-only", &format!("{refused} writes refused"));
    }
}
