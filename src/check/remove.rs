//! Whether a program that is run removes whole folders without asking.

use super::invocation::Invocation;

/// How PowerShell and the shell of Windows name what removes.
const OF_WINDOWS: &[&str] = &["remove-item", "ri", "del", "erase", "rd", "rmdir"];

/// Whether a program of which not all was looked at may remove something.
pub fn may_remove(run: &Invocation) -> bool {
    let program = run.program.as_str();
    run.is_unread() && (run.is_unknown() || program == "rm" || OF_WINDOWS.contains(&program))
}

/// Whether a program is `rm` with both recursion and force.
pub fn is_rm_rf(run: &Invocation) -> bool {
    let of_windows = OF_WINDOWS.contains(&run.program.as_str());
    if run.program != "rm" && !of_windows {
        return false;
    }
    let (mut recursive, mut forced) = (false, false);
    for word in &run.arguments {
        let text = word.text.as_str();
        if text == "--" {
            break;
        }
        // As the shell of Windows writes it: `rd /s /q`.
        if let Some(flags) = text.strip_prefix('/').filter(|_| of_windows) {
            let mut flags = flags.split('/');
            recursive |= flags.clone().any(|flag| flag.eq_ignore_ascii_case("s"));
            forced |= flags.any(|flag| flag.eq_ignore_ascii_case("q"));
        }
        if let Some(name) = text.strip_prefix("--") {
            // The beginning of a long option is enough where it is the only one.
            recursive |= "recursive".starts_with(name);
            forced |= "force".starts_with(name);
            // Nothing is removed.
            if matches!(name, "help" | "version") {
                return false;
            }
        } else if let Some(flags) = text.strip_prefix('-')
            && of_windows
        {
            // `-f` alone may be `-Filter`; `-Recurse:$false` is none.
            let (name, value) = flags.split_once(':').unwrap_or((flags, ""));
            let name = name.to_lowercase();
            let is_set = !value.eq_ignore_ascii_case("$false") && !name.is_empty();
            recursive |= is_set && "recurse".starts_with(&name);
            forced |= is_set && name.len() > 1 && "force".starts_with(&name);
        } else if let Some(flags) = text.strip_prefix('-') {
            let end = flags.find(|c: char| !c.is_ascii_alphabetic());
            let flags = &flags[..end.unwrap_or(flags.len())];
            recursive |= flags.contains(['r', 'R']);
            // PowerShell calls its own command so too.
            forced |= flags.contains('f') || flags.eq_ignore_ascii_case("force");
        }
    }
    recursive && forced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::budget::Budget;
    use crate::check::invocation::invocations;
    use rstest::rstest;

    fn removes(script: &str) -> bool {
        let found = invocations(script, true, &Budget::default());
        found.iter().any(|run| run.is_sure && is_rm_rf(run))
    }

    #[rstest]
    #[case("rm -rf build")]
    #[case("rm -fr build")]
    #[case("rm -r -f build")]
    #[case("rm -f build -r")]
    #[case("rm -Rf build")]
    #[case("rm -rvf build")]
    #[case("rm --recursive --force build")]
    #[case("rm -r --force build")]
    #[case("rm --rec --fo build")]
    #[case("rm --r --f build")]
    #[case("sudo rm -Rf /")]
    #[case("cd /tmp && rm -rf x")]
    #[case("rm -rf \"$DIR\"")]
    #[case("\\rm -rf x")]
    #[case("/bin/rm -rf x")]
    #[case("find . -name node_modules | xargs rm -rf")]
    #[case("find . -name x -print0 | xargs -0 rm -r -f")]
    #[case("find . -name x -exec rm -rf {} +")]
    #[case("find . -name x -exec rm -rf {} \\;")]
    #[case("sh -c 'rm -rf x'")]
    #[case("for d in a b; do rm -rf $d; done")]
    #[case("busybox rm -rf x")]
    #[case("ssh host rm -rf /srv")]
    #[case("trap 'rm -rf \"$tmp\"' EXIT")]
    #[case("Remove-Item -Recurse -Force build")]
    #[case("Remove-Item -r -fo build")]
    #[case("remove-item build -Recurse:$true -Force")]
    #[case("rd -rec -forc build")]
    #[case("rm -Recurse -Force build")]
    #[case("pwsh -Command Remove-Item -r -fo build")]
    fn it_is_seen(#[case] script: &str) {
        assert!(removes(script));
    }

    #[rstest]
    #[case("rm file")]
    #[case("rm -f file")]
    #[case("rm -r folder")]
    #[case("rm -i -f file")]
    #[case("rm -- -rf")]
    #[case("echo rm -rf x")]
    #[case("echo 'rm -rf x'")]
    #[case("git commit -m 'stop using rm -rf'")]
    #[case("git commit -m \"rm -rf is gone; good\"")]
    #[case("git rm -rf folder")]
    #[case("grep 'rm -rf' script.sh")]
    #[case("# rm -rf x")]
    #[case("rmdir -p a/b")]
    #[case("docker run --rm -f x -r y")]
    #[case("npm -rf rm")]
    #[case("cat <<'EOF' > script.sh\nrm -rf x\nEOF")]
    #[case("Remove-Item file")]
    #[case("Remove-Item -r -f *.log folder")]
    #[case("Remove-Item -Recurse -Force:$false folder")]
    #[case("rmdir -p -v folder")]
    #[case("rm --interactive --recursive folder")]
    #[case("a=(rm -rf x)")]
    #[case("a+=(rm -rf x); echo \"${a[@]}\"")]
    #[case("sudo -l rm -rf x")]
    #[case("sudo -nlU bob rm -rf x")]
    #[case("sudo -e rm -rf x")]
    #[case("command -v rm -rf")]
    #[case("command -pv rm -rf")]
    #[case("type rm -rf")]
    #[case("which rm -rf")]
    #[case("man rm -rf")]
    #[case("rm -rf --help")]
    #[case("bash -n -c 'rm -rf x'")]
    #[case("F=-rf; rm \"$G\" x")]
    #[case("F=-rf; echo $F; rm x")]
    #[case("rm '-{r,f}' x")]
    #[case("rm file{-r,-f}")]
    fn what_looks_like_it_is_not(#[case] script: &str) {
        assert!(!removes(script));
    }
}
