//! The statements of a command line: commands of which one writes what the next reads. What only stands in one that looks
//! for something, or takes it away, is not done.

use std::collections::HashMap;
use std::ops::Range;

use super::expand::{closes_block, openings};
use super::invocation::{Invocation, around};
use super::matter::Run;
use super::patch::Added;
use super::reading::{self, Role};
use super::shell::{Simple, Word};

/// Commands that hang together.
#[derive(Debug)]
struct Statement {
    range: Range<usize>,
    /// What it writes of what stands in it, where it otherwise only looks for things or takes them away.
    writes: Option<String>,
}

/// The statements of a command line, in order.
#[derive(Debug)]
pub struct Statements {
    all: Vec<Statement>,
    /// What programs take away, and what they write in its place.
    taken: Vec<(Range<usize>, String)>,
}

impl Statements {
    /// Puts together what hangs together.
    pub fn new(text: &str, commands: &[Simple], runs: &[Run]) -> Self {
        let mut groups = Groups::new(commands.len());
        let openings = openings(commands);
        for (index, simple) in commands.iter().enumerate() {
            let of_words = simple.words.iter().chain(simple.input.as_deref());
            for word in of_words {
                let outputs = word.marks.iter().filter_map(|(_, mark)| mark.commands());
                for inner in outputs.chain(word.elements.clone()) {
                    groups.join(index, inner);
                }
            }
            groups.join(index, simple.piped_from.clone());
            let ends_block = |index: &usize| closes_block(&commands[*index]);
            let mut blocks: Vec<usize> = simple.piped_from.clone().filter(ends_block).collect();
            if simple.writes || simple.input.is_some() {
                blocks.extend(Some(index).filter(ends_block));
            }
            for end in blocks {
                if let Some(opening) = openings.get(&end) {
                    groups.join(end, *opening..end);
                }
            }
        }
        let mut statements: HashMap<usize, Statement> = HashMap::new();
        for (index, simple) in commands.iter().enumerate() {
            let statement = statements.entry(groups.of(index)).or_insert(Statement {
                range: simple.range.clone(),
                writes: Some(String::new()),
            });
            let range = &mut statement.range;
            range.start = range.start.min(simple.range.start);
            range.end = range.end.max(simple.range.end);
            if let Some(input) = &simple.input {
                range.end = range.end.max(input.range.end);
            }
            if !simple.is_data && !reading::may_only_look(simple) {
                statement.writes = None;
            }
        }
        let mut all: Vec<Statement> = statements.into_values().collect();
        all.sort_by_key(|statement| statement.range.start);
        let mut statements = Statements {
            all,
            taken: Vec::new(),
        };
        for run in runs {
            statements.add(text, &run.invocation);
        }
        statements
    }

    /// Adds what a program does in the statement that it is part of.
    fn add(&mut self, text: &str, run: &Invocation) {
        let Some(statement) = self.at(run.range.start) else {
            return;
        };
        let input = || run.input.clone().and_then(|input| text.get(input));
        let said = || text.get(around(&run.arguments)).map(str::to_owned);
        let role = reading::role_of(run);
        let is_replaced = matches!(role, Role::Replaces(_));
        let added = match role {
            Role::Acts => None,
            Role::Looks => Some(input().unwrap_or_default().to_owned()),
            Role::Says => said(),
            Role::Replaces(by) => Some(by),
            Role::Patches => input().and_then(Added::read).map(|added| added.text),
        };
        if let Some(by) = added.as_ref().filter(|_| is_replaced) {
            // A word that stands there as it is, with no more than quotes around it.
            let is_own = |word: &&Word| word.range.len() <= word.text.len() + 2;
            let words = run.arguments.iter().filter(is_own);
            self.taken
                .extend(words.map(|word| (word.range.clone(), by.clone())));
        }
        let statement = &mut self.all[statement];
        if let (Some(writes), Some(added)) = (&mut statement.writes, &added) {
            writes.push_str(added);
            writes.push('\n');
        } else {
            statement.writes = None;
        }
    }

    fn at(&self, place: usize) -> Option<usize> {
        let next = self.all.partition_point(|one| one.range.start <= place);
        let index = next.checked_sub(1)?;
        self.all[index].range.contains(&place).then_some(index)
    }

    /// Whether what stands at a place is written, said or run.
    pub fn is_done(&self, text: &str, range: &Range<usize>) -> bool {
        let found = &text[range.clone()];
        let holds = |taken: &Range<usize>| taken.start <= range.start && range.end <= taken.end;
        let mut taken = self.taken.iter();
        if taken.any(|(place, by)| holds(place) && !by.contains(found))
            || is_replaced(text, range.start)
        {
            return false;
        }
        self.at(range.start).is_none_or(|index| {
            let statement = &self.all[index];
            range.end > statement.range.end
                || statement
                    .writes
                    .as_ref()
                    .is_none_or(|writes| writes.contains(found))
        })
    }
}

/// Whether a place lies in what code looks for to put something else in its place: the first argument of `replace("…", "")`
/// or `sub(r"…", "", text)`.
fn is_replaced(text: &str, at: usize) -> bool {
    const SIGNS: [char; 3] = ['"', '\'', '/'];
    const CALLS: [&str; 3] = ["replace(", "replaceAll(", "sub("];
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line..at];
    let call = before
        .rfind(SIGNS)
        .map(|sign| before[..sign].trim_end_matches(['r', 'u']));
    call.is_some_and(|call| CALLS.iter().any(|name| call.ends_with(name)))
}

/// Commands that were found to hang together: each points to an earlier one, the first of all to itself.
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Self {
        Groups((0..count).collect())
    }

    fn of(&mut self, index: usize) -> usize {
        let mut at = index;
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, index: usize, others: Range<usize>) {
        for other in others {
            let (one, other) = (self.of(index), self.of(other));
            self.0[one.max(other)] = one.min(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::check::matter::{Input, Matter};
    use rstest::rstest;

    #[rstest]
    #[case("grep -rn 🎉 .", false)]
    #[case("cd src && rg '🎉' | head; cargo build", false)]
    #[case("git log --grep 🎉", false)]
    #[case("find . -name '*🎉*'", false)]
    #[case("sed -i 's/🎉//g' README.md", false)]
    #[case("sed -i -e 's/🎉/x/' -e '/🎉/d' README.md", false)]
    #[case("grep -rl 🎉 . | xargs sed -i 's/🎉//'", false)]
    #[case("sudo grep 🎉 x", false)]
    #[case(
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: x\n@@\n-a 🎉\n+a\n*** End Patch\nEOF",
        false
    )]
    #[case(
        "git apply <<'EOF'\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a 🎉\n+a\nEOF",
        false
    )]
    #[case(
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: x\n@@\n-a\n+a 🎉\n*** End Patch\nEOF",
        true
    )]
    #[case("sed -i 's/x/🎉/' README.md", true)]
    #[case("sed -i '1i 🎉' README.md", true)]
    #[case("sed -i 's/x/y/;a 🎉' README.md", true)]
    #[case("echo x | grep 🎉", false)]
    #[case("grep 🎉 x && echo ok > y", false)]
    #[case("find . -name x -exec sed -i 's/🎉//' {} +", false)]
    #[case("sed 's/🎉//' x > y && mv y x", false)]
    #[case("sed 's/x/🎉/' x > y", true)]
    #[case("perl -pi -e 's/🎉//g' x", false)]
    #[case("perl -pi -e 's/x/🎉/' x", true)]
    #[case("perl -e 'print \"🎉\"'", true)]
    #[case("awk '/🎉/' x", false)]
    #[case("awk '{print \"🎉\"}' x", true)]
    #[case("tr -d 🎉 < x > y", false)]
    #[case("tr x 🎉 < x > y", true)]
    #[case("python3 -c \"s = s.replace('a 🎉', '')\"", false)]
    #[case("python3 - <<'E'\nimport re\ns = re.sub(r'[🎉]', '', s)\nE", false)]
    #[case("node -e 's.replace(/🎉/g, \"\")'", false)]
    #[case("python3 -c \"s = s.replace('a', '🎉')\"", true)]
    #[case("bash -c \"sed -i 's/🎉//' x; echo 🎉\"", true)]
    #[case("ls # 🎉", false)]
    #[case("ls #x\necho 🎉", true)]
    #[case("find . -name 🎉 -exec touch {} +", true)]
    #[case("grep 🎉 x > y", true)]
    #[case("(grep 🎉 x) > y", true)]
    #[case("for f in *; do grep 🎉 $f; done > y", true)]
    #[case("{ grep 🎉 x; } | tee y", true)]
    #[case("echo 🎉 | grep x", true)]
    #[case("echo 🎉", true)]
    #[case("cat <<EOF\n🎉\nEOF", true)]
    #[case("git commit -m \"$(grep 🎉 x)\"", true)]
    #[case("git commit -m 🎉", true)]
    #[case("grep \"$(touch 🎉)\" x", true)]
    #[case("bash -c 'grep 🎉 x'", true)]
    fn what_is_only_looked_for_or_taken_away_is_not_done(#[case] command: &str, #[case] is: bool) {
        let matter = Matter::new(&Input::command(command));
        let done = command.match_indices('🎉');
        let mut done = done.map(|(at, sign)| matter.is_done(&(at..at + sign.len())));
        assert_eq!(done.any(|done| done), is);
    }
}
