//! Patterns of a shell: `*`, `?`, `[…]`.

/// Whether a text is one with signs that stand for others.
pub fn is_pattern(text: &str) -> bool {
    let is_class = || text.find('[').is_some_and(|at| text[at..].contains(']'));
    text.contains(['*', '?']) || is_class()
}

/// Whether a pattern matches a whole text. It takes as many steps as both are long, multiplied.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern = Sign::all_of(pattern);
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut sign) = (0, 0);
    // Where the last `*` stands, and how far what it stands for reaches.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(sign) {
            Some(Sign::Any) => {
                star = Some((sign, at));
                sign += 1;
            }
            Some(one) if one.takes(text[at]) => {
                at += 1;
                sign += 1;
            }
            _ => {
                let Some((before, from)) = &mut star else {
                    return false;
                };
                *from += 1;
                (at, sign) = (*from, *before + 1);
            }
        }
    }
    pattern[sign..].iter().all(|sign| *sign == Sign::Any)
}

/// A sign of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    /// `*`.
    Any,
    /// `?`.
    One,
    Plain(char),
    /// `[a-z]`; `true` takes what is not among them.
    Class(bool, Vec<(char, char)>),
}

impl Sign {
    fn all_of(pattern: &str) -> Vec<Self> {
        let mut signs = Vec::new();
        let mut rest = pattern;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            signs.push(match c {
                '*' => Sign::Any,
                '?' => Sign::One,
                '[' => match Self::class(rest) {
                    Some((class, behind)) => {
                        rest = behind;
                        class
                    }
                    None => Sign::Plain(c),
                },
                c => Sign::Plain(c),
            });
        }
        signs
    }

    /// The class that begins behind a bracket, and what follows it.
    fn class(text: &str) -> Option<(Self, &str)> {
        let inner = text.strip_prefix(['!', '^']);
        let is_not = inner.is_some();
        let inner = inner.unwrap_or(text);
        // A bracket that comes first is one of the signs.
        let first = inner.chars().next()?.len_utf8();
        let end = first + inner[first..].find(']')?;
        let mut ranges = Vec::new();
        let mut signs = inner[..end].chars().peekable();
        while let Some(from) = signs.next() {
            let mut ahead = signs.clone();
            match (ahead.next(), ahead.next()) {
                (Some('-'), Some(to)) => {
                    ranges.push((from, to));
                    signs = ahead;
                }
                _ => ranges.push((from, from)),
            }
        }
        Some((Sign::Class(is_not, ranges), &inner[end + 1..]))
    }

    fn takes(&self, c: char) -> bool {
        match self {
            Sign::Any => false,
            Sign::One => true,
            Sign::Plain(plain) => *plain == c,
            Sign::Class(is_not, ranges) => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *is_not
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("r?", "rm", true)]
    #[case("r[lmn]", "rm", true)]
    #[case("r[a-z]", "rm", true)]
    #[case("r[!m]", "rm", false)]
    #[case("r[^a-l]", "rm", true)]
    #[case("*", "", true)]
    #[case("g*t", "git", true)]
    #[case("g*t*", "git", true)]
    #[case("*a*b", "xaxbxab", true)]
    #[case("*a*c", "xaxbxab", false)]
    #[case("[]a]", "]", true)]
    #[case("a[", "a[", true)]
    #[case("r?", "r", false)]
    #[case("表*", "表情", true)]
    fn a_pattern_matches_a_whole_text(#[case] pattern: &str, #[case] text: &str, #[case] is: bool) {
        assert_eq!(matches(pattern, text), is);
    }
}
