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
            // Another test may have begun a process here that is not yet another program.
            let _gone = Command::new("umount").arg("-l").arg(&self.0).output();
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

#[cfg(target_os = "linux")]
mod without_shared_memory {
    use super::super::say;
    use super::super::scene::{DEEDS, Scene, State, is_sound};
    use super::super::shim::library;
    use crate::common::{Home, Run};
    use crate::stores::replays_to_the_same_tables;

    const WARNING: &str = "lies where processes cannot share memory";

    fn run(home: &Home, arguments: &[&str], input: &str) -> Option<Run> {
        let mut command = home.command(arguments);
        command
            .env("LD_PRELOAD", library()?)
            .env("SHIM_UNDER", home.path())
            .env("SHIM_NO_SHM", "1");
        Some(home.feed(&mut command, input.as_bytes()))
    }

    #[test]
    fn a_new_store_works_without_shared_memory() {
        let home = Home::new();
        let Some(first) = run(
            &home,
            &["add", "force-push", "lost a day", "--score", "0"],
            "",
        ) else {
            return;
        };
        assert_eq!(first.code, 0, "{first:?}");
        assert!(first.stderr.contains(WARNING), "{first:?}");
        let second = run(&home, &["add", "tabs", "asked twice"], "").expect("it is there");
        assert_eq!(second.code, 0, "{second:?}");
        assert!(
            !second.stderr.contains(WARNING),
            "it is said once: {second:?}"
        );
        let shown = run(&home, &["context"], "").expect("it is there");
        assert_eq!(shown.code, 0, "{shown:?}");
        assert!(shown.stdout.contains("force-push"), "{shown:?}");
        is_sound(&home.db());
        replays_to_the_same_tables(&home);
    }

    #[test]
    fn a_store_that_comes_to_a_place_without_shared_memory_is_read_and_written_there() {
        let scene = Scene::new(false);
        let mut done = 0;
        for deed in DEEDS.iter().filter(|deed| !deed.syncs) {
            let states = scene.states(deed);
            scene.reset();
            for read in [
                &["context"][..],
                &["show"],
                &["recall", "force"],
                &["history"],
            ] {
                let Some(read_here) = run(&scene.home, read, "") else {
                    return;
                };
                assert_eq!(read_here.code, 0, "{read:?}: {read_here:?}");
            }
            let written = run(&scene.home, deed.arguments, deed.input).expect("it is there");
            assert_eq!(written.code, 0, "{}: {written:?}", deed.name);
            let is_changed = states.0 != states.1;
            assert!(
                !is_changed || deed.name == "restore" || written.stderr.contains(WARNING),
                "{}: {written:?}",
                deed.name
            );
            let found = State::of(&scene.home.db());
            assert_eq!(
                found,
                states.1,
                "{}: {:#?}",
                deed.name,
                found.against(&states.1)
            );
            is_sound(&scene.home.db());
            replays_to_the_same_tables(&scene.home);
            done += 1;
        }
        say("without shared memory", &format!("{done} commands done"));
    }
}
