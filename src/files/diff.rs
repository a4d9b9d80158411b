//! The difference between two versions of a file, in the form that `patch` reads, without the secrets that stand in it.

use std::path::Path;

use crate::redact::redact_lines;

/// Lines around a change.
const AROUND: usize = 3;
/// Above this many pairs of lines the stretch that differs is shown as a whole.
const MOST_PAIRS: usize = 4_000_000;

/// What changes in a file, to be shown; empty when nothing does.
pub fn difference(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    if before == after {
        return String::new();
    }
    let text = |bytes: Option<&[u8]>| bytes.map(|one| String::from_utf8_lossy(one).into_owned());
    let name = path.display().to_string();
    unified(&name, text(before).as_deref(), text(after).as_deref())
}

/// The unified difference; empty when there is none.
fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    let steps = steps(&lines(old), &lines(new));
    // What differs is found in the texts as they are.
    let (old, new) = (redact_lines(old), redact_lines(new));
    let steps = shown(steps, &old, &new);
    let mut out = String::new();
    let name = |text: Option<&str>| text.map_or("/dev/null", |_| path).to_owned();
    let mut at = 0;
    while let Some(first) = next_change(&steps, at) {
        if out.is_empty() {
            out = format!("--- {}\n+++ {}\n", name(before), name(after));
        }
        let mut last = first;
        while let Some(further) = next_change(&steps, last + 1) {
            if further - last > 2 * AROUND {
                break;
            }
            last = further;
        }
        let begin = first.saturating_sub(AROUND).max(at);
        let end = (last + 1 + AROUND).min(steps.len());
        hunk(&steps, begin..end, &mut out);
        at = end;
    }
    out
}

/// A line of the difference, with its sign.
type Step<'t> = (char, &'t str);

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The same steps with the lines of other forms of both texts.
fn shown<'t>(steps: Vec<Step<'_>>, old: &'t str, new: &'t str) -> Vec<Step<'t>> {
    let (mut old, mut new) = (old.split_inclusive('\n'), new.split_inclusive('\n'));
    let shown = steps.into_iter().map(|(sign, _)| {
        let before = (sign != '+').then(|| old.next()).flatten();
        let after = (sign != '-').then(|| new.next()).flatten();
        (sign, after.or(before).unwrap_or_default())
    });
    shown.collect()
}

fn next_change(steps: &[Step<'_>], from: usize) -> Option<usize> {
    (from..steps.len()).find(|&at| steps[at].0 != ' ')
}

fn hunk(steps: &[Step<'_>], range: std::ops::Range<usize>, out: &mut String) {
    let count = |range: std::ops::Range<usize>, sign: char| {
        steps[range]
            .iter()
            .filter(|(one, _)| *one == ' ' || *one == sign)
            .count()
    };
    let place = |sign: char| {
        let lines = count(range.clone(), sign);
        let first = count(0..range.start, sign) + usize::from(lines > 0);
        format!("{first},{lines}")
    };
    out.push_str(&format!("@@ -{} +{} @@\n", place('-'), place('+')));
    for (sign, line) in &steps[range] {
        out.push(*sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// How the old lines become the new ones: what both begin and end with stays, in between the longest common part.
fn steps<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Step<'t>> {
    let begin = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let end = old[begin..]
        .iter()
        .rev()
        .zip(new[begin..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let mut steps: Vec<Step<'t>> = old[..begin].iter().map(|&line| (' ', line)).collect();
    let (a, b) = (&old[begin..old.len() - end], &new[begin..new.len() - end]);
    if a.len() * b.len() <= MOST_PAIRS {
        common(a, b, &mut steps);
    } else {
        steps.extend(a.iter().map(|&line| ('-', line)));
        steps.extend(b.iter().map(|&line| ('+', line)));
    }
    steps.extend(old[old.len() - end..].iter().map(|&line| (' ', line)));
    steps
}

fn common<'t>(a: &[&'t str], b: &[&'t str], steps: &mut Vec<Step<'t>>) {
    let width = b.len() + 1;
    // The length of the longest common part of what follows.
    let mut longest = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            steps.push((' ', a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len()
            || i < a.len() && longest[(i + 1) * width + j] >= longest[i * width + j + 1]
        {
            steps.push(('-', a[i]));
            i += 1;
        } else {
            steps.push(('+', b[j]));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_what_patch_reads() {
        assert_eq!(unified("f", Some("a\n"), Some("a\n")), "");
        assert_eq!(
            unified("f", None, Some("a\n")),
            "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n"
        );
        assert_eq!(
            unified("f", Some("a\nb"), Some("a\nc\nb\n")),
            "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+c\n+b\n"
        );
        let old: String = (0..20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("2\n3\n", "2\nx\n3\n").replace("18\n", "");
        let diff = unified("f", Some(&old), Some(&new));
        assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
    }
    #[test]
    fn no_secret_is_shown_and_every_line_keeps_its_place() {
        let token = "ghp_Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78";
        let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n";
        let old = format!("a\n\"token\": \"{token}\"\n{key}b\n");
        let new = format!("a\n\"token\": \"{token}\"\n{key}b\nc\n");
        let diff = difference(Path::new("f"), Some(old.as_bytes()), Some(new.as_bytes()));
        assert!(!diff.contains("MIIE"), "{diff}");
        assert!(diff.ends_with("\n b\n+c\n"), "{diff}");
        let diff = difference(Path::new("f"), None, Some(new.as_bytes()));
        assert!(!diff.contains("ghp_") && !diff.contains("MIIE"), "{diff}");
        assert!(diff.contains("@@ -0,0 +1,7 @@\n"), "{diff}");
        assert_eq!(diff.lines().count(), 3 + 7, "{diff}");
    }
}
