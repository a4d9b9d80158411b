//! Which language a turn is written in, as far as it decides which cue table is read.

use std::io::Read;

use super::tokens::{Token, is_character};
use super::weights::{self, Feature, Group, Section};

/// The languages that have a cue table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "they are their names")]
pub enum Language {
    English,
    Chinese,
    Spanish,
    French,
    German,
    Portuguese,
    Italian,
    Dutch,
    Polish,
    Turkish,
    Russian,
    Japanese,
    Korean,
    Arabic,
    Hindi,
}

macro_rules! languages {
    ($($language:ident $code:literal),* $(,)?) => {
        impl Language {
            /// All of them.
            pub const ALL: &'static [Language] = &[$(Language::$language),*];

            /// The code of ISO 639-1.
            pub fn code(self) -> &'static str {
                match self { $(Language::$language => $code),* }
            }

            /// Its cue table, packed by the build script.
            fn packed_cues(self) -> &'static [u8] {
                match self {
                    $(Language::$language => {
                        include_bytes!(concat!(env!("OUT_DIR"), "/", $code, ".cues"))
                    }),*
                }
            }

            /// Its plain forms, packed by the build script.
            fn packed_forms(self) -> &'static [u8] {
                match self {
                    $(Language::$language => {
                        include_bytes!(concat!(env!("OUT_DIR"), "/", $code, ".forms"))
                    }),*
                }
            }
        }
    };
}

languages! {
    English "en", Chinese "zh", Spanish "es", French "fr", German "de", Portuguese "pt", Italian "it", Dutch "nl",
    Polish "pl", Turkish "tr", Russian "ru", Japanese "ja", Korean "ko", Arabic "ar", Hindi "hi",
}

impl Language {
    /// The text of its cue table.
    pub fn cues(self) -> String {
        unpacked(self.packed_cues())
    }

    /// The text of its plain forms.
    pub fn forms(self) -> String {
        unpacked(self.packed_forms())
    }

    /// The language with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        Language::ALL
            .iter()
            .copied()
            .find(|language| language.code() == code)
    }

    /// Those that are told apart by their words; the others by their script.
    pub const BY_WORDS: [Language; 10] = [
        Language::English,
        Language::Spanish,
        Language::French,
        Language::German,
        Language::Portuguese,
        Language::Italian,
        Language::Dutch,
        Language::Polish,
        Language::Turkish,
        Language::Hindi,
    ];

    /// The language of a text: by its script, else by its words.
    pub fn of(text: &str, tokens: &[Token]) -> Self {
        match by_script(text) {
            Some(language) => language,
            None => {
                let scores = weights::score(Section::Language, &features(tokens));
                let best = (0..Language::BY_WORDS.len())
                    .max_by(|&a, &b| scores[a].total_cmp(&scores[b]))
                    .unwrap_or(0);
                Language::BY_WORDS[best]
            }
        }
    }
}

fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::ZlibDecoder::new(packed)
        .read_to_string(&mut text)
        .expect("the build script has packed it");
    text
}

/// The language that a script alone decides. Some words of Latin letters stand in all of them.
pub fn by_script(text: &str) -> Option<Language> {
    let mut counts = [0usize; 6];
    let mut latin = 0;
    for c in text.chars() {
        match c as u32 {
            0x3041..=0x30FF => counts[0] += 1,
            0x1100..=0x11FF | 0xAC00..=0xD7AF => counts[1] += 1,
            0x400..=0x4FF => counts[2] += 1,
            0x600..=0x6FF => counts[3] += 1,
            0x900..=0x97F => counts[4] += 1,
            _ if is_character(c) => counts[5] += 1,
            _ if c.is_alphabetic() => latin += 1,
            _ => {}
        }
    }
    const SCRIPTS: [Language; 6] = [
        Language::Japanese,
        Language::Korean,
        Language::Russian,
        Language::Arabic,
        Language::Hindi,
        Language::Chinese,
    ];
    let most = (0..6)
        .max_by_key(|&script| counts[script])
        .filter(|&script| counts[script] > 0)?;
    // A character says more than a letter.
    let other: usize = counts.iter().sum();
    if other * 6 < latin {
        return None;
    }
    // Kana stand beside Han in Japanese and nowhere else.
    if most == 5 && counts[0] * 8 > counts[5] {
        return Some(Language::Japanese);
    }
    Some(SCRIPTS[most])
}

/// What the words of a text tell of its language. The first ones tell enough.
pub fn features(tokens: &[Token]) -> Vec<u32> {
    const ENOUGH: usize = 60;
    let mut found = vec![weights::feature(Group::Layout, &["l"])];
    let mut characters: Vec<char> = Vec::new();
    for token in tokens.iter().take(ENOUGH) {
        found.push(weights::feature(Group::Word, &["lw", &token.folded]));
        characters.clear();
        characters.push('^');
        characters.extend(token.folded.chars());
        characters.push('$');
        for size in [2, 3, 4] {
            for window in characters.windows(size) {
                let feature = Feature::new(Group::Sequence).part("lc").characters(window);
                found.push(feature.number());
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
