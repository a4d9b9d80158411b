//! Whether an item forbids something under a condition only, or with an exception: "force-push without asking", "rm -rf
//! anything outside of build". What is found then may be allowed.

use super::detector::Detector;

/// Words that set a condition or except something, in languages with spaces between words.
const WORDS: &[&str] = &[
    " unless ",
    " except ",
    " excepting ",
    " excluding ",
    " without ",
    " when ",
    " whenever ",
    " while ",
    " if ",
    " until ",
    " till ",
    " before ",
    " after ",
    " during ",
    " outside ",
    " besides ",
    " but ",
    " other than ",
    " apart from ",
    " as long as ",
    " only in ",
    " only on ",
    " only to ",
    " only for ",
    " only with ",
    " only by ",
    " at night ",
    " at weekends ",
    " on weekends ",
    " on monday",
    " on tuesday",
    " on wednesday",
    " on thursday",
    " on friday",
    " on saturday",
    " on sunday",
    " sans ",
    " sauf ",
    " si ",
    " quand ",
    " lorsque ",
    " avant ",
    " après ",
    " ohne ",
    " außer ",
    " wenn ",
    " falls ",
    " bevor ",
    " nachdem ",
    " solange ",
    " salvo ",
    " excepto ",
    " cuando ",
    " antes ",
    " después ",
    " без ",
    " кроме ",
    " если ",
    " когда ",
    " пока ",
    " после ",
];

/// The same in languages without them.
const PARTS: &[&str] = &[
    "除非",
    "除了",
    "以外",
    "之外",
    "未经",
    "未获",
    "没经",
    "不经",
    "如果",
    "要是",
    "的时候",
    "之前",
    "以前",
    "期间",
    "时不",
    "时别",
    "时禁",
    "前不",
    "前别",
    "前禁",
    "を除",
    "なしで",
    "なしに",
    "ない限り",
    "なければ",
    "場合",
    "とき",
    "時は",
    "前に",
    "後に",
    "없이",
    "제외",
    "외에",
    "경우",
    "전에",
    "후에",
    "않는 한",
];

/// What sounds like one and says that there is none.
const WHATEVER: &[&str] = &[
    " even if ",
    " even when ",
    " even after ",
    " even before ",
    " even during ",
    " even while ",
    " even without ",
    " without exception ",
    " without exceptions ",
    " without any exception ",
    " without any exceptions ",
    " no matter if ",
    " no matter when ",
    " nothing but ",
    " sans exception ",
    " ohne ausnahme ",
    " без исключений ",
    "什么时候",
    "任何时候",
    "どんな場合も",
    "どんなとき",
    "いかなる場合",
    "어떤 경우에도",
];

/// Whether an item holds under a condition only, or has an exception.
pub fn is_conditional(item: &str) -> bool {
    let mut words = String::from(" ");
    for word in item.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        if !word.is_empty() {
            words.push_str(&word.to_lowercase());
            words.push(' ');
        }
    }
    for phrase in WHATEVER {
        if words.contains(phrase) {
            words = words.replace(phrase, " ");
        }
    }
    // "Messages without emojis" says what is forbidden, and not when.
    if let Some((before, after)) = words.split_once(" without ")
        && Detector::ALL.iter().any(|detector| detector.begins(after))
    {
        words = format!("{before} {after}");
    }
    let mut all = WORDS.iter().chain(PARTS);
    all.any(|phrase| words.contains(phrase)) || words.contains("没有") && words.contains('就')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("never force-push without asking me", true)]
    #[case("Unless I say so, never force-push", true)]
    #[case("rm -rf anything outside of build", true)]
    #[case("force-push to any branch except my own", true)]
    #[case("force-push while others work on it", true)]
    #[case("never force-push on Fridays", true)]
    #[case("未经同意强制推送", true)]
    #[case("没有评审就强制推送", true)]
    #[case("除了 build 以外执行 rm -rf", true)]
    #[case("確認なしに強制プッシュ", true)]
    #[case("Не делай force push без спроса", true)]
    #[case("force-push to main", false)]
    #[case("never force-push to main, without exception", false)]
    #[case("never force-push, even if it is red", false)]
    #[case("emojis in commit messages", false)]
    #[case("commit messages without emojis", false)]
    #[case("不要强制推送到 main 分支", false)]
    #[case("任何时候都不要强制推送", false)]
    fn a_condition_is_told_from_a_plain_ban(#[case] item: &str, #[case] is: bool) {
        assert_eq!(is_conditional(item), is);
    }
}
