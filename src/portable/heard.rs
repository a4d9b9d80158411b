//! What a sentence about the user says. Memories speak of the user as of somebody else ("User prefers tabs"); the reader of
//! conversations knows what people say of themselves, so that the sentence is put into their mouth first.

use super::piece::{Heading, Told, Voice};
use crate::analysis::LONGEST_ITEM;
use crate::extract;
use crate::model::{Candidate, Turn, TurnKind, fold};

/// The preferences in a text; what it says word for word stays its quote. A short text in which nothing is sure has none.
pub fn candidates(told: &Told) -> Vec<Candidate> {
    let mut text = match told.voice {
        Voice::ThePerson => told.text.clone(),
        Voice::AboutThePerson => in_the_persons_mouth(&told.text),
    };
    if let Some(heading) = told.under.filter(|_| !begins_with_a_ban(&text)) {
        let word = match heading {
            Heading::Never => "Never",
            Heading::Avoid => "Avoid",
        };
        text = format!("{word} {text}");
    }
    let turn = Turn {
        key: String::new(),
        text,
        kind: TurnKind::Standing,
        at: None,
        agent: String::new(),
        session: String::new(),
        place: String::new(),
        answer: None,
    };
    let mut found = extract::candidates(&turn);
    // A short text says it better than an unsure reading of it.
    let is_short = told.text.chars().count() <= LONGEST_ITEM;
    if is_short || found.iter().any(|candidate| candidate.sure) {
        found.retain(|candidate| candidate.sure);
    }
    // What is not in the person's words is left to the text itself.
    let whole = fold(&told.text);
    found.retain(|candidate| whole.contains(&fold(&candidate.item)));
    for candidate in &mut found {
        candidate.quote.clone_from(&told.text);
    }
    found
}

fn begins_with_a_ban(text: &str) -> bool {
    let text = text.to_lowercase();
    let bans = [
        "never", "don't", "don’t", "do not", "no ", "avoid", "不要", "别", "禁止",
    ];
    bans.iter().any(|ban| text.starts_with(ban))
}

/// What a sentence calls the user by.
const NAMES: [&str; 6] = ["the user ", "user ", "this user ", "they ", "he ", "she "];

/// Whether a sentence speaks of the user as of somebody else.
pub(super) fn is_about_the_person(text: &str) -> bool {
    let folded = text.to_lowercase();
    let by_name = ["the user", "user ", "user's", "用户", "ユーザー"];
    by_name.iter().any(|name| folded.starts_with(name)) || is_verb_of_another(first_word(&folded))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// Words that begin a memory without naming the user.
const VERBS: [(&str, &str); 30] = [
    ("prefers", "prefer"),
    ("likes", "like"),
    ("loves", "love"),
    ("enjoys", "enjoy"),
    ("hates", "hate"),
    ("dislikes", "dislike"),
    ("avoids", "avoid"),
    ("wants", "want"),
    ("uses", "use"),
    ("needs", "need"),
    ("writes", "write"),
    ("works", "work"),
    ("thinks", "think"),
    ("finds", "find"),
    ("values", "value"),
    ("expects", "expect"),
    ("asks", "ask"),
    ("insists", "insist"),
    ("appreciates", "appreciate"),
    ("can't", "can't"),
    ("cannot", "cannot"),
    ("has", "have"),
    ("is", "am"),
    ("was", "was"),
    ("does", "do"),
    ("doesn't", "don't"),
    ("isn't", "am not"),
    ("always", "always"),
    ("never", "never"),
    ("usually", "usually"),
];

fn is_verb_of_another(word: &str) -> bool {
    VERBS.iter().any(|(verb, own)| *verb == word && verb != own)
}

/// "User doesn't like emojis" as the user would say it: "I don't like emojis".
fn in_the_persons_mouth(text: &str) -> String {
    let text = text.trim();
    let plain = text.replace('’', "'");
    if let Some(rest) = plain.strip_prefix("用户") {
        return format!("我{}", rest.trim_start());
    }
    let lower = plain.to_lowercase();
    let named = NAMES
        .iter()
        .find(|name| lower.starts_with(**name) && plain.is_char_boundary(name.len()))
        .and_then(|name| plain.get(name.len()..));
    let Some(rest) =
        named.or_else(|| is_verb_of_another(first_word(&lower)).then_some(plain.as_str()))
    else {
        return text.to_owned();
    };
    let mut said = String::from("I");
    let mut words = rest.split_whitespace().peekable();
    for word in words.by_ref() {
        let lower = word.to_lowercase();
        let known = VERBS.iter().find(|(verb, _)| *verb == lower);
        said.push(' ');
        said.push_str(known.map_or(word, |(_, own)| own));
        // "usually prefers": the verb comes behind the adverb.
        let is_adverb = lower.ends_with("ly")
            || matches!(
                lower.as_str(),
                "always" | "never" | "also" | "often" | "really"
            );
        if !is_adverb {
            break;
        }
    }
    for word in words {
        said.push(' ');
        said.push_str(match word {
            "their" | "his" => "my",
            "them" | "him" => "me",
            other => other,
        });
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("User prefers dark mode", "I prefer dark mode")]
    #[case("The user doesn’t like emojis.", "I don't like emojis.")]
    #[case("Likes their code concise", "I like my code concise")]
    #[case("User usually prefers tabs", "I usually prefer tabs")]
    #[case("用户喜欢简洁的回答", "我喜欢简洁的回答")]
    #[case("Is allergic to nuts", "I am allergic to nuts")]
    #[case("Use tabs", "Use tabs")]
    #[case("Üser", "Üser")]
    fn a_memory_is_put_into_the_persons_mouth(#[case] text: &str, #[case] said: &str) {
        assert_eq!(in_the_persons_mouth(text), said);
    }

    #[rstest]
    #[case("User prefers dark mode over light mode", Voice::AboutThePerson, None, &[("dark mode", false), ("light mode", true)])]
    #[case("User hates long meetings", Voice::AboutThePerson, None, &[("long meetings", true)])]
    #[case("Never force-push to main.", Voice::ThePerson, None, &[("force-push to main", true)])]
    #[case("force-push to main", Voice::ThePerson, Some(Heading::Never), &[("force-push to main", true)])]
    #[case("commit secrets", Voice::ThePerson, Some(Heading::Never), &[("commit secrets", true)])]
    #[case("User is learning Japanese", Voice::AboutThePerson, None, &[])]
    #[case("The capital of France is Paris", Voice::AboutThePerson, None, &[])]
    fn what_it_says_is_found(
        #[case] text: &str,
        #[case] voice: Voice,
        #[case] under: Option<Heading>,
        #[case] expected: &[(&str, bool)],
    ) {
        let told = Told {
            under,
            ..Told::new(text.to_owned(), voice)
        };
        let found = candidates(&told);
        let found: Vec<(&str, bool)> = found
            .iter()
            .map(|one| (one.item.as_str(), one.score < 4.0))
            .collect();
        assert_eq!(found, expected);
    }
}
