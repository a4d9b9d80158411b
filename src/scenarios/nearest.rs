//! The kind of task that a task is nearest to: by the words of a scenario that occur in it, else by what it is about.

use std::collections::BTreeMap;

use super::{Scenario, Scenarios};
use crate::model::item_key;
use crate::recall::meaning::{Vector, embed};
use crate::recall::{Folded, Words};

/// Below this a task without any word of a scenario is near none.
const NEAR: f32 = 0.22;
/// So much nearer than to the next scenario such a task has to be.
const CLEARLY: f32 = 0.05;
/// What the words of a scenario count for: its own name, a keyword, another name. What a task is about counts less than
/// any two of them, so that it decides between scenarios with as many words.
const OWN_NAME: f32 = 1.25;
const KEYWORD: f32 = 1.0;
const OTHER_NAME: f32 = 0.6;
/// What is done in tasks of every kind: "write" is in "write a function" as in "write an essay". These tell a kind only
/// where nothing else does.
const GENERIC: &[&str] = &[
    "write", "writing", "wrote", "read", "reading", "plan", "planning", "make", "work", "help",
];
const GENERIC_CHINESE: &[&str] = &["帮我", "写", "读", "做", "计划", "安排"];

impl Scenarios {
    /// The scenario nearest to a task; none where none is near.
    pub fn nearest(&self, task: &str) -> Option<&Scenario> {
        let texts = [Folded::new(task)];
        let about = embed(&without_generic(task));
        let near = |scenario: &Scenario| closeness(scenario, about.as_ref());
        let by_words = self.best(|scenario| {
            let words = words(scenario, &texts, |word| !is_generic(word));
            (words > 0.0).then(|| words + near(scenario))
        });
        if let Some((_, scenario)) = by_words {
            return Some(scenario);
        }
        if about.is_none() {
            // Nothing but "write".
            let generic = |scenario: &Scenario| words(scenario, &texts, is_generic);
            return self
                .best(|scenario| Some(generic(scenario)).filter(|words| *words > 0.0))
                .map(|(_, scenario)| scenario);
        }
        let (nearest, scenario) = self.best(|scenario| Some(near(scenario)))?;
        let others = self.list.iter().filter(|other| other.name != scenario.name);
        let next = others.map(near).fold(0.0, f32::max);
        (nearest >= NEAR && nearest - next >= CLEARLY).then_some(scenario)
    }

    /// The scenario that is judged best; of two that are as good, the first in the file.
    fn best(&self, judge: impl Fn(&Scenario) -> Option<f32>) -> Option<(f32, &Scenario)> {
        let judged = self.list.iter().rev();
        judged
            .filter_map(|scenario| Some((judge(scenario)?, scenario)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// What the words of a scenario count for that occur whole in a task, of those that are asked for.
fn words(scenario: &Scenario, task: &[Folded], asked_for: impl Fn(&str) -> bool) -> f32 {
    let mut all: BTreeMap<String, f32> = BTreeMap::new();
    all.extend(
        scenario
            .aliases
            .iter()
            .map(|word| (item_key(word), OTHER_NAME)),
    );
    all.extend(
        scenario
            .keywords
            .iter()
            .map(|word| (item_key(word), KEYWORD)),
    );
    all.insert(item_key(&scenario.name), OWN_NAME);
    all.into_iter()
        .filter(|(word, _)| asked_for(word))
        .filter(|(word, _)| {
            let word = Words::keyword(word);
            !word.is_empty() && word.occur_in(task)
        })
        .map(|(_, counts)| counts)
        .sum()
}

/// How close what a task is about is to a scenario.
fn closeness(scenario: &Scenario, about: Option<&Vector>) -> f32 {
    let Some(about) = about else { return 0.0 };
    [
        &scenario.description,
        &scenario.keywords.join(" "),
        &scenario.name,
    ]
    .into_iter()
    .filter_map(|text| embed(text))
    .map(|text| about.cosine(&text))
    .fold(0.0, f32::max)
}

fn is_generic(word: &str) -> bool {
    GENERIC.contains(&word) || GENERIC_CHINESE.contains(&word)
}

/// A task without what is done in tasks of every kind.
fn without_generic(task: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for word in task.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if !GENERIC.contains(&bare.to_lowercase().as_str()) {
            kept.push(word);
        }
    }
    GENERIC_CHINESE
        .iter()
        .fold(kept.join(" "), |task, word| task.replace(word, " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("write a python function", "coding")]
    #[case("write a commit message", "coding")]
    #[case("write SQL", "coding")]
    #[case("写一个Python函数", "coding")]
    #[case("写提交信息", "coding")]
    #[case("写一封邮件给老板", "communication")]
    #[case("plan Saturday", "")]
    #[case("write unit tests for the parser", "coding")]
    #[case("fix the login bug", "coding")]
    #[case("refactor the payment module", "coding")]
    #[case("implement a CSV parser in Rust", "coding")]
    #[case("帮我写一段代码", "coding")]
    #[case("调试这个程序", "coding")]
    #[case("add a git hook", "coding")]
    #[case("写单元测试", "coding")]
    #[case("write a blog article about gardening", "writing")]
    #[case("write an essay on Rome", "writing")]
    #[case("写一篇文章", "writing")]
    #[case("改一下这段话的措辞", "writing")]
    #[case("fix the grammar in this paragraph", "writing")]
    #[case("draft the readme", "writing")]
    #[case("reply to the customer's email", "communication")]
    #[case("write an email to my landlord", "communication")]
    #[case("写一封道歉邮件", "communication")]
    #[case("回复客户的邮件", "communication")]
    #[case("prepare the meeting with Anna", "communication")]
    #[case("choose a font for the poster", "design")]
    #[case("change the button color", "design")]
    #[case("设计一个登录界面", "design")]
    #[case("pick a colour palette", "design")]
    #[case("review this pull request", "review")]
    #[case("code review of the auth service", "review")]
    #[case("审查这段代码", "review")]
    #[case("proofread the contract", "review")]
    #[case("find papers about sleep", "research")]
    #[case("查找关于睡眠的论文", "research")]
    #[case("write a literature survey", "research")]
    #[case("write a PRD for the new product", "business")]
    #[case("plan the budget for next year", "business")]
    #[case("分析竞品的定价", "business")]
    #[case("write the product roadmap", "business")]
    #[case("buy a birthday present for mom", "")]
    #[case("cook dinner tonight", "")]
    #[case("book a table for Friday", "")]
    #[case("今晚吃什么", "")]
    #[case("plan a trip to Lisbon", "")]
    #[case("read me a bedtime story", "")]
    #[case("周末去哪里玩", "")]
    #[case("water the plants", "")]
    #[case("fix the failing build", "coding")]
    #[case("write", "writing")]
    #[case("write a polite reply", "communication")]
    #[case("重新设计图标的配色", "design")]
    fn a_task_is_near_the_kind_that_its_words_tell(#[case] task: &str, #[case] name: &str) {
        let known = Scenarios::built_in();
        let nearest = known.nearest(task);
        assert_eq!(nearest.map_or("", |scenario| scenario.name.as_str()), name);
    }

    #[test]
    fn where_no_scenario_is_known_none_is_near() {
        let none = Scenarios {
            list: Vec::new(),
            ..Scenarios::built_in()
        };
        assert!(none.nearest("write a function").is_none());
    }
}
