use super::*;
use rstest::rstest;

fn read(script: &str) -> Vec<Invocation> {
    invocations(script, true, &Budget::default())
}

fn run_by(script: &str) -> Vec<String> {
    read(script)
        .into_iter()
        .map(|found| {
            format!("{} {}", found.program, joined(&found.arguments))
                .trim()
                .to_owned()
        })
        .collect()
}

#[rstest]
#[case("A=1 B='x y' /usr/bin/git push", &["git push"])]
#[case("sudo -u bob -E rm x", &["rm x"])]
#[case("sudo -- rm x", &["rm x"])]
#[case("env -u A B=1 rm x", &["rm x"])]
#[case("env -S 'rm x'", &["rm x"])]
#[case("timeout -k 5 10 rm x", &["rm x"])]
#[case("nohup nice -n 5 rm x", &["rm x"])]
#[case("sh -c 'a; b c'", &["a", "b c"])]
#[case("bash -lc \"cd x && a\"", &["cd x", "a"])]
#[case("bash script.sh", &[])]
#[case("bash <<EOF\na b\nEOF", &["a b"])]
#[case("bash <<< 'a b'", &["a b"])]
#[case("cat <<EOF\na b\nEOF", &["cat"])]
#[case("eval 'a b'", &["a b"])]
#[case("ls | xargs -0 -I {} rm {}", &["ls", "rm {}"])]
#[case("find . -name x -exec rm {} \\; -exec a +", &["rm {}", "a"])]
#[case("fd -x rm", &["rm"])]
#[case("ssh -p 22 host 'a b'", &["a b"])]
#[case("if a; then b; else c; fi", &["a", "b", "c", "fi"])]
#[case("for x in 1 2; do a $x; done", &["a 1", "a 2", "done"])]
#[case("f() { a $x; }", &["a $x", "}"])]
#[case("command -v rm", &[])]
#[case("command rm x", &["rm x"])]
#[case("echo 'rm x'", &["echo rm x"])]
#[case("C:\\\\bin\\\\git.exe push", &["git push"])]
fn what_is_run_is_found(#[case] script: &str, #[case] wanted: &[&str]) {
    assert_eq!(run_by(script), wanted);
}

#[test]
fn an_inner_script_has_the_place_of_its_word() {
    let script = "sh -c 'git push'";
    let found = read(script);
    assert_eq!(&script[found[0].range.clone()], "'git push'");
}

fn seen(script: &str) -> Option<bool> {
    use crate::check::git::{Branches, is_force_push, may_push};
    use crate::check::remove::{is_rm_rf, may_remove};
    let is_hit = |run: &&Invocation| {
        is_rm_rf(run)
            || is_force_push(run, &Branches::default())
            || may_remove(run)
            || may_push(run)
    };
    let found = read(script);
    found.iter().filter(is_hit).map(|run| run.is_sure).max()
}

#[rstest]
#[case::variables("X=\"push --force\"; git $X")]
#[case::variables("F=-rf; rm $F x")]
#[case::variables("F=-rf && rm ${F} x")]
#[case::variables("export F='-r -f'\nrm $F x")]
#[case::variables("declare -r F=-rf; rm $F x")]
#[case::variables("R=rm; $R -rf x")]
#[case::variables("A=pu B=sh; git $A$B -f")]
#[case::variables("A=-r; A+=f; rm $A x")]
#[case::variables("a=(push -f); git \"${a[@]}\"")]
#[case::variables("a=(push); a+=(-f); git ${a[*]}")]
#[case::variables("set -- -rf x; rm \"$@\"")]
#[case::variables("set -- -rf; rm $1 x")]
#[case::variables("for f in -r -rf; do rm $f x; done")]
#[case::variables("X='git push -f'; eval \"$X\"")]
#[case::variables("X='git push -f'; eval $X")]
#[case::variables("X='rm -rf x' sh -c '$X'")]
#[case::variables("env X=-rf sh -c 'rm $X y'")]
#[case::variables("export X=-rf; bash -c 'rm $X y'")]
#[case::variables("rm${IFS}-rf${IFS}x")]
#[case::variables("X=$(echo push -f); git $X")]
#[case::variables("F=-f; F=-rf; rm $F x")]
#[case::variables("sh -c 'rm \"$@\"' _ -rf x")]
#[case::variables("B=$(git branch --show-current); git push -f origin $B")]
#[case::variables("read F <<< '-rf'; rm $F x")]
#[case::outputs("git $(echo push -f)")]
#[case::outputs("$(printf 'rm -%s' rf) x")]
#[case::outputs("`echo git` push -f")]
#[case::git("git -c alias.p='push -f' p")]
#[case::git("git -c alias.p='!git push -f' p")]
#[case::git("git -c alias.p=push p -f")]
#[case::git("git submodule foreach 'git push -f'")]
#[case::git("git rebase -x 'git push -f' main")]
#[case::git("git rebase --exec='git push -f' main")]
#[case::git("git bisect run rm -rf x")]
#[case::braces("rm -{r,f} x")]
#[case::braces("git push {-f,origin,main}")]
#[case::braces("{rm,-rf,x}")]
#[case::braces("rm -{r,{f,v}} x")]
#[case::quotes("g\"\"it push -f")]
#[case::quotes("git pu'sh' -\"f\"")]
#[case::quotes("r\\m -rf x")]
#[case::quotes("$'\\x72m' $'-\\162f' x")]
#[case::quotes("$'\\u0072m' -rf $'it\\'s'")]
#[case::quotes("$\"rm\" -rf x")]
#[case::quotes("git pu\\\nsh -f")]
#[case::quotes("r\\\r\nm -rf x")]
#[case::quotes("git \"pu\\\nsh\" -f")]
#[case::data("cat <<E\n$(git push -f origin main)\nE")]
#[case::data("git commit -F - <<-E\n\t`git push -f`\n\tE")]
#[case::data("echo ${x:-$(rm -rf x)}")]
#[case::data("echo \"${A:-$(git push -f)}\"")]
#[case::data("A=${B:+$(rm -rf x)}")]
#[case::data("echo -f | xargs git push; rm -rf /")]
#[case::piped("echo 'git push -f' | sh")]
#[case::piped("echo git push -f | sudo bash -s")]
#[case::piped("printf 'rm -rf x' | bash")]
#[case::piped("printf '%s\\n' 'cd x' 'rm -rf x' | bash")]
#[case::piped("printf 'rm %s x' -rf | sh -")]
#[case::piped("echo 'xrm -rf y' | sed s/x// | sh")]
#[case::piped("echo 'ez -es l' | tr n-za-m a-z | sh")]
#[case::piped("echo 'rm -rf x' | tee log | sh")]
#[case::piped("(echo 'rm -rf x'; echo y) | sh")]
#[case::piped("{ echo x; echo 'rm -rf x'; } | sh")]
#[case::piped("echo 'rm -rf x' |\n sh")]
#[case::piped("echo 'rm -rf x' |& sh")]
#[case::piped("cat <<EOF | sh\nrm -rf x\nEOF")]
#[case::piped("sh <<EOF\nrm -rf x\nEOF")]
#[case::piped("sudo -u me bash -s <<'EOF'\nrm -rf x\nEOF")]
#[case::piped("bash <<< 'rm -rf x'")]
#[case::piped("X='rm -rf x'; bash <<< \"$X\"")]
#[case::piped("bash /dev/stdin <<< 'rm -rf x'")]
#[case::piped("bash <(echo 'rm -rf x')")]
#[case::piped("sh < <(echo 'rm -rf x')")]
#[case::piped("source <(echo 'rm -rf x')")]
#[case::piped(". /dev/stdin <<< 'rm -rf x'")]
#[case::piped("ssh host <<EOF\nrm -rf x\nEOF")]
#[case::piped("echo 'git push -f' | ssh host")]
#[case::piped("ssh host bash -s <<EOF\nrm -rf x\nEOF")]
#[case::elsewhere("docker exec web sh -c 'rm -rf x'")]
#[case::elsewhere("docker run --rm -v a:b -w /x image bash -lc 'git push -f'")]
#[case::elsewhere("docker compose exec -T web sh -c 'rm -rf x'")]
#[case::elsewhere("kubectl exec -it pod -c web -- rm -rf x")]
#[case::elsewhere("kubectl -n a exec pod -- sh -c 'rm -rf x'")]
#[case::elsewhere("ssh host 'git push -f'")]
#[case::elsewhere("ssh -vp 22 me@host -t 'cd x; git push -f'")]
#[case::elsewhere("vagrant ssh -c 'rm -rf x'")]
#[case::elsewhere("cmd /c \"git push -f\"")]
#[case::elsewhere("powershell -Command \"Remove-Item -Recurse -Force x\"")]
#[case::wrapped("sudo -nu root rm -rf x")]
#[case::wrapped("sudo -Eu me git push -f")]
#[case::wrapped("sudo -uroot rm -rf x")]
#[case::wrapped("env -S 'git push -f'")]
#[case::wrapped("env -S'git push -f'")]
#[case::wrapped("env -iS 'git push' -f")]
#[case::wrapped("env -u A --split-string='git push -f'")]
#[case::wrapped("su - me -c 'git push -f'")]
#[case::wrapped("su -lc 'git push -f' me")]
#[case::wrapped("bash -euo pipefail -c 'rm -rf x'")]
#[case::wrapped("bash -ce 'rm -rf x'")]
#[case::functions("function f { rm -rf x; }; f")]
#[case::functions("function f() { rm -rf x; }; f")]
#[case::functions("f() { git push -f; }")]
#[case::functions("f() { rm \"$@\"; }; f -rf x")]
#[case::runners("parallel 'rm -rf {}' ::: a")]
#[case::runners("parallel -j4 rm -rf ::: a b")]
#[case::runners("parallel ::: 'ls' 'rm -rf a'")]
#[case::runners("echo 'rm -rf x' | parallel")]
#[case::runners("sudo -s <<EOF\nrm -rf x\nEOF")]
#[case::runners("sudo -i <<EOF\nrm -rf x\nEOF")]
#[case::runners("sudo -u me -s rm -rf x")]
#[case::runners("env - git push -f")]
#[case::runners("env -u A - B=1 git push -f")]
#[case::runners("env - -S 'git push -f'")]
#[case::runners("pkexec --user me rm -rf x")]
#[case::runners("systemd-run --user -p A=1 --scope rm -rf x")]
#[case::runners("direnv exec . git push -f")]
#[case::runners("xvfb-run -a -s '-screen 0' rm -rf x")]
#[case::runners("tmux send-keys -t 0 'rm -rf x' Enter")]
#[case::runners("csh -c 'rm -rf x'")]
#[case::runners("mksh -c 'rm -rf x'")]
#[case::runners("echo 'rm -rf x' | at now")]
#[case::runners("chroot /srv <<EOF\nrm -rf x\nEOF")]
#[case::blocks("for f in x; do echo \"rm -rf $f\"; done | sh")]
#[case::blocks("if true; then echo 'rm -rf x'; fi | sh")]
#[case::blocks("{ { echo x; }; echo 'rm -rf x'; } | sh")]
#[case::documents("(sh <<EOF)\nrm -rf x\nEOF")]
#[case::documents("(cd x && sh) <<EOF\nrm -rf x\nEOF")]
#[case::documents("(cat <<A; sh <<B)\nx\nA\nrm -rf x\nB")]
#[case::documents("cat <<A $(echo y)\nx\nA\nrm -rf x")]
fn what_is_run_for_certain(#[case] script: &str) {
    assert_eq!(seen(script), Some(true), "{:?}", read(script));
}

#[rstest]
#[case::code("python3 -c \"import os; os.system('git push -f')\"")]
#[case::code("python3 - <<X\nimport subprocess\nsubprocess.run(['rm', '-rf', '/x'])\nX")]
#[case::code("perl -e 'system(\"rm\",\"-rf\",\"x\")'")]
#[case::code("awk 'BEGIN{system(\"rm -rf x\")}'")]
#[case::code("psql -c '\\! rm -rf /x'")]
#[case("alias p='git push -f'; p")]
#[case("alias g=git; g push -f")]
#[case("alias g=git p='g push'\np -f")]
#[case("git config alias.x 'push -f'")]
#[case("git config --global alias.x '!git push -f'")]
#[case("git config set alias.x 'push -f'")]
#[case("git config remote.origin.push +main")]
#[case("git config --add remote.origin.push +refs/heads/main:refs/heads/main")]
#[case("git -c remote.origin.push=+main push")]
#[case("git remote add --mirror=push backup url")]
#[case("F=-f; if x; then F=-rf; fi; rm $F y")]
#[case("F=-f; x && F=-rf; rm $F y")]
#[case("rm ${F:--rf} x")]
#[case("X=-rf; bash -c 'rm $X y'")]
#[case("echo '-rf x' | xargs rm")]
#[case("echo push -f | xargs git")]
#[case("echo -f | xargs -I{} git push {}")]
#[case("echo cm0gLXJmIHgK | base64 -d | sh")]
#[case("echo 'xrm -rf y' | sed 's/^x//' | sh")]
#[case("echo 'rm -rf y' | head -1 | sh")]
#[case("X=\"$Y push -f\"; git $X")]
#[case("docker run --entrypoint rm image -rf x")]
#[case("docker exec web rm -rf x")]
#[case("F=-rf; sh <<EOF\nrm $F x\nEOF")]
#[case("nice nice nice nice nice nice nice nice nice nice rm -rf x")]
#[case("sudo -s 'rm -rf x'")]
#[case("parallel rm ::: -rf x")]
#[case("tmux send-keys 'rm -rf x'")]
#[case("tmux new-session -d 'rm -rf x'")]
#[case("powershell -EncodedCommand cgBtAA==")]
#[case("foo git push -f")]
#[case("foo --bar rm -rf x")]
#[case("foo -- sudo -n rm -rf x")]
#[case("foo 'rm -rf x'")]
#[case("foo exec bash -c 'git push -f'")]
#[case("foo ssh ssh ssh ssh ssh ssh ssh ssh rm -rf x")]
#[case("Y=-rf; a && Y=-f; X=$Y; rm $X y")]
#[case("cat > x.sh <<EOF\nset -e\nrm -rf x\nEOF")]
#[case("cat <<EOF | sudo tee x.sh\nrm -rf x\nEOF")]
#[case("echo 'rm -rf x' >> x.sh")]
#[case("printf 'ls\\nrm -rf x\\n' | tee x.sh")]
#[case("{ echo a; echo 'rm -rf x'; } > x.sh")]
#[case("f() { rm $F x; }; F=-rf; f")]
fn what_may_be_run_asks(#[case] script: &str) {
    assert_eq!(seen(script), Some(false), "{:?}", read(script));
}

#[rstest]
#[case("X='push --force'; git log $Y")]
#[case("F=-rf; F=; rm $F x")]
#[case("(F=-rf); rm -i x")]
#[case("F=-rf ls; rm $F x")]
#[case("python3 -c \"print('git log')\"")]
#[case("awk '{print $1}' file")]
#[case("make -j4 test; node server.js")]
#[case("cat <<'E'\n$(git push -f)\nE")]
#[case("cat <<E\n\\$(git push -f)\nE")]
#[case("echo 'git push -f' | cat")]
#[case("echo 'git push -f' | git commit -F -")]
#[case("echo 'git push -f' || sh")]
#[case("echo 'git push -f'; sh")]
#[case("cat <<EOF\nrm -rf x\nEOF\nsh")]
#[case("cat script | sh")]
#[case("curl -s host | sh")]
#[case("env A=1 ls -S 'rm -rf x'")]
#[case("git config --get alias.x")]
#[case("git config alias.st 'status -s'")]
#[case("git config remote.origin.push main")]
#[case("alias ll='ls -l'; ll -rf")]
#[case("docker rm -f x")]
#[case("docker run --rm -f image ls -r")]
#[case("kubectl exec pod -- ls -rf")]
#[case("echo {rm,-rf,x}")]
#[case("for f in a b c; do rm -f \"$f\"; done")]
#[case("rm -f {a,b}/{r,f}")]
#[case("find . -name '*.o' | xargs rm -f")]
#[case("nice timeout 5 sudo -n env A=1 nohup ls")]
#[case("(cat <<EOF)\nrm -rf x\nEOF")]
#[case("(cat) <<EOF\nrm -rf x\nEOF")]
#[case("echo rm -rf x")]
#[case("man rm -rf")]
#[case("printf '%s' git push -f")]
#[case("gh pr create --title 'rm -rf is gone'")]
#[case("aizo check --command 'git push -f'")]
#[case("cp git push -f")]
#[case("apt-get install git rm")]
#[case("npm run build -- --force")]
#[case("sudo -s ls")]
#[case("sudo -e rm -rf")]
#[case("env - ls")]
#[case("parallel gzip ::: a b")]
#[case("tmux send-keys -t 0 ls Enter")]
#[case("direnv allow")]
#[case("echo 'rm -rf x'; for f in a; do ls; done | sh")]
fn what_is_not_run_does_not_ask(#[case] script: &str) {
    assert_eq!(seen(script), None, "{:?}", read(script));
}

#[test]
fn a_script_of_many_megabytes_is_read_in_pieces() {
    let line = "true aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";
    let script = format!("rm -rf x\n{}rm -rf y", line.repeat(70_000));
    let found = read(&script);
    let removing = found.iter().filter(|run| run.program == "rm");
    let places: Vec<(&str, bool)> = removing
        .map(|run| (&script[run.range.clone()], run.is_sure))
        .collect();
    assert_eq!(places, [("rm -rf x", true), ("rm -rf y", false)]);
    assert!(found.iter().any(Invocation::is_unread));
}

#[test]
fn scripts_in_scripts_come_to_an_end_and_what_was_not_read_is_told() {
    let deep = format!("{}x{}", "$(".repeat(30), ")".repeat(30));
    let many = format!(
        "a=({}); for i in ${{a[@]}}; do rm $i$i$i$i; done",
        "x y ".repeat(100)
    );
    for script in [
        "eval ".repeat(10_000),
        "$(".repeat(10_000),
        "nice ".repeat(10_000),
        deep,
        format!("rm -{}", "{a,b}".repeat(40)),
    ] {
        let found = read(&script);
        assert!(found.iter().any(Invocation::is_unread), "{}", &script[..20]);
    }
    read(&many);
    read(&"X=1; $X ".repeat(5_000));
    read(&"echo x | ".repeat(5_000));
    read(&format!("{}sh", "echo x | cat | ".repeat(5_000)));
}

#[test]
fn what_holds_more_than_is_looked_at_asks_where_it_may_be_it() {
    let words = |count: usize| {
        (0..count)
            .map(|n| format!("a{n}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let all = words(64);
    let set: String = (0..70).map(|n| format!("a{n} && F=b{n}; ")).collect();
    for script in [
        format!("for f in {all} -rf; do rm $f x; done"),
        format!("for f in {all} -rf; do sudo rm \"$f\" x; done"),
        format!("for f in {all} 'rm -rf x'; do sh -c \"$f\"; done"),
        format!("for f in {all} 'rm -rf x'; do $f; done"),
        format!("for f in {all} 'rm -rf x'; do echo \"$f\"; done | sh"),
        format!("for f in {all} 'rm -rf x'; do X=$f; done; eval $X"),
        format!("for f in {all} -f; do git push $f; done"),
        format!("{set} F=-rf; true && F=x; rm $F x"),
        format!(
            "for a in {0}; do for b in {0} -rf; do rm $a $b; done; done",
            words(9)
        ),
        format!("a=({all} -rf); for f in ${{a[@]}}; do rm $f x; done"),
    ] {
        assert_eq!(seen(&script), Some(false), "{script}");
    }
    for script in [
        format!("for f in {all} x y; do echo $f; grep $f *; done"),
        format!("for f in {all} x y; do git commit -m \"$f\"; done"),
        format!("for f in {all}; do rm -f $f; done"),
    ] {
        assert_eq!(seen(&script), None, "{script}");
    }
}

#[test]
fn what_multiplies_itself_comes_to_an_end_asks_and_hides_nothing_certain() {
    let nested = (0..11).fold("$X".to_owned(), |inner, _| format!("$(echo $X {inner})"));
    let aliases: String = (0..3_000).map(|n| format!("alias a{n}='x y'\n")).collect();
    for script in [
        format!("A=x; {} rm $A", "A=$A$A; ".repeat(40)),
        format!("A=x; {} rm $A", "A+=$A; ".repeat(40)),
        format!(
            "a=(x); {} rm ${{a[@]}}",
            "a+=(${a[@]} ${a[@]}); ".repeat(40)
        ),
        format!("for X in 1 2 3 4 5 6 7 8; do rm {nested}; done"),
        format!("X={}; rm {}", "x".repeat(1_000), "$X$X$X$X ".repeat(300)),
        format!(
            "printf '%s{}' {} | sh",
            "x".repeat(3_000),
            "a ".repeat(3_000)
        ),
        format!("{aliases}{}", "a1 rm\n".repeat(3_000)),
        format!(
            "X={}\n{}",
            "x".repeat(100_000),
            "sh -c 'rm $X'\n".repeat(300)
        ),
        format!("X={}\n{}", "x".repeat(100_000), "X+=y rm $X\n".repeat(300)),
    ] {
        let name = &script[..30];
        assert_eq!(seen(&script), Some(false), "{name}");
        let with = format!("{script}\nsudo -n git push -f");
        assert_eq!(seen(&with), Some(true), "{name}");
    }
    // These are followed to their end, in few steps.
    for script in [
        "} | cat\n".repeat(60),
        "cat | ".repeat(3_000),
        format!("{}{}", "{ ".repeat(300), "; } | cat".repeat(300)),
        format!("for f in {}; do ls; done", "a b c d ".repeat(10_000)),
    ] {
        assert_eq!(seen(&script), None, "{}", &script[..8]);
    }
}
