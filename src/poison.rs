//! Tells whether a text from outside speaks to the model instead of about the user: "ignore previous instructions", the tags
//! and tokens of a chat's own format, calls of tools, what is hidden or written in code, addresses that carry something away.
//! Pure. It decides nothing: a text with a suspicion waits for a person, who is shown the reason.
//!
//! It knows the usual forms, and no more: an order in plain words of its own is not told from a wish.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::model::{fold, is_hidden_in};
use crate::recall::fold_accents;

const UNSEEN: &str = "it holds characters that nobody sees";
const MIXED: &str = "letters of another script stand in its words";
const OVERRIDES: &str = "it tells the model to drop its instructions";
const REVEALS: &str = "it asks the model for its instructions";
const ANOTHER: &str = "it tells the model to be another one";
const CONCEALS: &str = "it tells the model to keep something from the user";
const ROLES: &str = "it holds marks of a chat's own format";
const CALLS: &str = "it looks like a call of a tool";
const RUNS: &str = "it runs something from the network";
const CODED: &str = "it holds something in code";
const CARRIES: &str = "it holds an address with parameters";

const ALL: [&str; 11] = [
    UNSEEN, MIXED, OVERRIDES, REVEALS, ANOTHER, CONCEALS, ROLES, CALLS, RUNS, CODED, CARRIES,
];

/// Whether this is a reason that [`suspicion`] gives.
pub fn is_suspicion(why: &str) -> bool {
    ALL.contains(&why)
}

/// Why a text may be meant for the model and not for the user's profile; nothing where it reads like any other.
pub fn suspicion(text: &str) -> Option<&'static str> {
    if holds_unseen(text) {
        return Some(UNSEEN);
    }
    if text.split(|c: char| !c.is_alphabetic()).any(mixes_scripts) {
        return Some(MIXED);
    }
    let folded = fold(text);
    let words: Vec<&str> = folded.split_whitespace().collect();
    let spaced = words.join(" ");
    let plain = without_apostrophes(&spaced);
    if folded.lines().any(speaks_for_another) {
        return Some(ROLES);
    }
    if FENCES.iter().any(|fence| folded.contains(fence)) {
        return Some(CALLS);
    }
    by_rules(&plain)
        .or_else(|| by_rules(&joined_letters(&plain)))
        .or_else(|| in_other_letters(&plain))
        .or_else(|| is_coded(text).then_some(CODED))
}

/// How blocks of code begin that a model runs.
const FENCES: [&str; 3] = ["```tool_code", "```tool_call", "```tool_output"];

/// The same of a text without accents, with its entities read, and with letters for the digits that look like them.
fn in_other_letters(text: &str) -> Option<&'static str> {
    let bare = fold_accents(text);
    let read = bare
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    let looks = |c: char| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    let alike: String = bare.chars().map(looks).collect();
    let differs = |other: &&String| other.as_str() != text;
    let others = [&bare, &read, &alike];
    others
        .into_iter()
        .filter(differs)
        .find_map(|other| by_rules(other))
}

/// The same of the names of conversations and files, which may look like code.
pub fn suspicion_of_places(text: &str) -> Option<&'static str> {
    suspicion(text).filter(|why| *why != CODED)
}

/// Controls, bidirectional and zero-width characters, and rows of those that ordinary writing has one by one.
fn holds_unseen(text: &str) -> bool {
    /// An emoji of a family has four; a row of selectors or joiners is a message in them.
    const LONGEST_ROW: usize = 3;
    let mut row = 0;
    for (at, c) in text.char_indices() {
        let joins = matches!(c as u32, 0x200C | 0x200D | 0xFE00..=0xFE0F | 0xE0100..=0xE01EF);
        row = if joins { row + 1 } else { 0 };
        if row > LONGEST_ROW || is_hidden_in(text, at, c) && !matches!(c, '\n' | '\r' | '\t') {
            return true;
        }
    }
    false
}

/// Whether a word has Latin letters and, in front of them or among them, ones of a script whose letters look like them. An ending
/// of another script is how some languages inflect foreign words.
fn mixes_scripts(word: &str) -> bool {
    const SHORTEST: usize = 4;
    let is_foreign = |c: char| {
        // Micro, Ohm and other units are Greek letters.
        matches!(c as u32, 0x0400..=0x052F | 0x0391..=0x03A8 | 0x03B1..=0x03BB)
    };
    let kinds: Vec<bool> = word
        .chars()
        .filter(|&c| c.is_ascii_alphabetic() || is_foreign(c))
        .map(is_foreign)
        .collect();
    let switches = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    kinds.len() >= SHORTEST && (switches > 1 || switches == 1 && kinds[0])
}

fn without_apostrophes(text: &str) -> String {
    text.replace(['\'', '’', '‘', '`'], "")
}

/// The text with letters put together that stand one by one: "i g n o r e".
fn joined_letters(text: &str) -> String {
    const SHORTEST_ROW: usize = 5;
    let mut joined = String::with_capacity(text.len());
    let mut row = String::new();
    let flush = |row: &mut String, joined: &mut String| {
        if row.chars().count() >= SHORTEST_ROW {
            joined.push_str(row);
        } else {
            row.chars().for_each(|c| joined.extend([c, ' ']));
        }
        row.clear();
    };
    for word in text.split([' ', '.', '-', '_', '*']) {
        let mut letters = word.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => row.push(letter),
            _ => {
                flush(&mut row, &mut joined);
                joined.push_str(word);
                joined.push(' ');
            }
        }
    }
    flush(&mut row, &mut joined);
    joined
}

struct Rule {
    why: &'static str,
    /// One of these stands in every text that a form fits: looking for them is much faster.
    needs: &'static [&'static str],
    forms: Vec<Regex>,
}

impl Rule {
    fn new(why: &'static str, needs: &'static [&'static str], forms: &[&str]) -> Self {
        let forms = forms
            .iter()
            .map(|form| Regex::new(form).expect("the forms are tested"))
            .collect();
        Rule { why, needs, forms }
    }

    fn fits(&self, text: &str) -> bool {
        self.needs.iter().any(|needed| text.contains(needed))
            && self.forms.iter().any(|form| form.is_match(text))
    }
}

/// What a folded text is held against, one after the other.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    vec![
        Rule::new(
            OVERRIDES,
            &[
                "ignor",
                "disregard",
                "forget",
                "overr",
                "bypass",
                "discard",
                "drop",
                "skip",
                "follow",
                "obey",
                "comply",
                "heed",
                "instruc",
                "directive",
                "orders",
                "end of",
                "忽略",
                "无视",
                "無視",
                "忘",
                "绕过",
                "不要",
                "别",
                "무시",
                "잊",
                "игнор",
                "забуд",
                "vergiss",
                "olvid",
                "oubli",
                "dimentica",
                "esque",
                "apply",
                "hold",
                "count",
                "limits",
                "told",
                "neger",
                "negeer",
                "vergeet",
                "glöm",
                "abaikan",
                "lupakan",
                "talimat",
                "bỏ qua",
                "quên",
                "تجاهل",
                "انس",
                "התעלם",
                "निर्देश",
            ],
            &[
                r"\b(instructions|guidelines|hard limits)\W+(\w+\W+){0,2}(no longer|do not|dont) (apply|hold|count)\b",
                r"\bhard limits\W+(\w+\W+){0,3}(ignored|lifted|overridden|outdated|void|disabled)\b",
                r"\b(ignore|disregard|forget|bypass|lift)\W+(\w+\W+){0,2}(hard limits|limits (above|below))\b",
                r"\b(ignore|disregard|forget)\W+what you (were|have been|had been) told\b",
                r"\b(ignorera|glöm|negeer|vergeet|zignoruj|ignoruj|abaikan|lupakan)\W+(\w+\W+){0,4}(instruktioner|instructies|instrukcje|polecenia|instruksi|perintah)\b",
                r"talimat[^.!?\n]{0,24}(yok say|unut|görmezden gel)",
                r"(bỏ qua|quên)[^.!?\n]{0,24}(hướng dẫn|chỉ thị|chỉ dẫn)",
                r"(تجاهل|انس)[^.!?\n]{0,24}(تعليمات|أوامر)",
                r"התעלם[^.!?\n]{0,24}הוראות|הוראות[^.!?\n]{0,24}התעלם",
                r"(निर्देश|आदेश)[^.!?\n]{0,24}(अनदेखा|नज़रअंदाज़|भूल)",
                r"\b(ignore|ignoring|disregard|disregarding|forget|override|overrule|bypass|discard|drop|skip)\W+(\w+\W+){0,4}(previous|prior|above|earlier|preceding|former|existing|original|initial|system|developer|safety|your|yours)\W+(\w+\W+){0,3}(instructions?|prompts?|directives?|directions|guidelines|guardrails|restrictions|training|programming|constraints|orders|safeguards|rules|context|messages?)\b",
                r"\b(ignore|disregard|forget)\W+(everything|anything|all)\W+(\w+\W+){0,3}(above|before|previously|earlier|so far|told|said)\b",
                r"ignore ?(all ?)?(previous|prior) ?(instructions|rules)",
                r"\b(do not|dont|never|stop)\W+(follow|following|obey|obeying|heed|comply with|complying with)\W+(\w+\W+){0,2}(previous|prior|above|earlier|existing|original|initial|system|safety|your)\W+(\w+\W+){0,2}(instructions?|prompts?|directives?|guidelines|restrictions|constraints|orders|rules)\b",
                r"\b(system|admin|administrator|root|developer)\W+override\b",
                r"\b(new|updated|real|actual)\W+(system\W+)?(instructions?|directives?|orders)\W*(follow|:|are\b|from the (developer|system|admin))",
                r"\bend of (system )?(prompt|instructions|user input)\b",
                r"\b(ignor(a|e|ez|iere|iert)|vergiss|vergessen sie|olvid(a|e|en)|oubli(e|ez)|dimentica|esque[cç]a)\W+(\w+\W+){0,4}(instrucciones|instructions|instruções|instrucoes|istruzioni|anweisungen|befehle|consignes)\b",
                r"(忽略|无视|無視|忘记|忘掉|绕过|(不要|别|勿)(理会|遵守|遵循|听从|服从))[^。！？\n]{0,12}(指令|指示|命令|提示词|系统提示|设定|約束|限制|规则|規則)",
                r"(忽略|无视|忘记|忘掉)(上面|以上|之前|前面)的?(所有|全部|一切)?(的)?(内容|文字|信息|消息|话)",
                r"(指示|命令|ルール|プロンプト)(を|は)?(すべて|全て)?(無視|忘れ)",
                r"(지시|명령|규칙|프롬프트)[^.!?\n]{0,6}(무시|잊)",
                r"(игнорируй|игнорируйте|забудь|забудьте)[^.!?\n]{0,24}(инструкци|указани|правил)",
            ],
        ),
        Rule::new(
            REVEALS,
            &["prompt", "instruction", "message", "above", "提示", "指令"],
            &[
                r"\b(reveal|print|show|repeat|output|leak|disclose|display|tell me|dump|recite)\W+(\w+\W+){0,4}(system|initial|hidden|secret|developer|original)\W+(prompt|instructions?|message)\b",
                r"\brepeat\W+(\w+\W+){0,3}(everything|the words|the text)\W+above\b",
                r"(输出|显示|告诉我|泄露|打印|重复)[^。！？\n]{0,8}(系统提示|提示词|系统指令|系統提示)",
            ],
        ),
        Rule::new(
            ANOTHER,
            &[
                "you are",
                "you will",
                "you act",
                "you must",
                "you have",
                "youre",
                "obey",
                "act as if",
                "to be",
                "jailbr",
                "anything now",
                "mode",
                "guidelines",
                "restrictions",
                "filter",
                "limits",
                "as an ai",
                "assistant",
                "the model",
                "agent",
                "the ai",
                "llm",
                "polic",
                "你现在是",
                "你不再受",
                "服从",
                "听命",
                "模式",
                "解除",
                "あなたは",
                "制限",
                "開発者",
                "지금부터",
                "개발자",
            ],
            &[
                r"\byou are now\W+(a|an|in|dan|the|free|no longer|going|unrestricted|jailbroken)\b",
                r"\bfrom now on,?\W+you (are|will be|will act|act|must act)\b",
                r"\bact as if\W+(you|there)\W+(have|had|are|were)\W+(no|without)\b",
                r"\byou (have been|are|were)\W+(now\W+)?granted\W+(\w+\W+){0,2}(access|permissions?|rights|privileges)\b",
                r"\byou (must|will|shall)\W+(now\W+|always\W+)?(obey|comply)\b",
                r"\b(the|an?)\W+(assistant|ai|model|agent|llm)\W+(must|should|shall|will)\W+(now\W+|always\W+)?(approve|comply|obey)\b",
                r"\bas an ai,?\W+you (must|should|will|shall)\b",
                r"你(必须|要|得)?(无条件)?(服从|听命于)我",
                r"\b(pretend|imagine)\W+(that )?(to be|you are|youre)\W+(\w+\W+){0,4}(ai|assistant|model|bot|admin|root|developer|unrestricted|without)\b",
                r"\b(jailbreak|jailbroken|do anything now|developer mode (enabled|on)|god mode|dan mode|sudo mode)\b",
                r"\b(without|no)\W+(any\W+)?(ethical|safety|moral|content)\W+(guidelines|restrictions|filters?|limits|policy|policies)\b",
                r"你现在是(一个|一名|不受|没有|dan|管理员|开发者)|你不再受|开发者模式|越狱模式|解除(所有|一切)?(限制|约束)",
                r"あなたは(今|これ)から|制限のない|開発者モード|지금부터 (너는|당신은)|개발자 모드",
            ],
        ),
        Rule::new(
            CONCEALS,
            &[
                "user",
                "human",
                "person",
                "owner",
                "用户",
                "ユーザー",
                "사용자",
            ],
            &[
                r"\b(do not|dont|never|must not|should not|shouldnt)\W+(\w+\W+){0,2}(tell|inform|alert|notify|warn|disclose|reveal|mention)\W+(\w+\W+){0,4}(to )?the (user|human|person|owner)\b",
                // What is shown to the user of a program, and what not, is a rule like others.
                r"\b(do not|dont|never|must not|should not|shouldnt)\W+(\w+\W+){0,2}show\W+(the user\W+)?(this|that|it|these|them)\b",
                r"\bwithout\W+(\w+\W+){0,2}(telling|asking|informing|notifying|alerting|warning)\W+the (user|human|person|owner)\b",
                r"\b(without|behind)\W+the (user|human|person|owner)s?\W+(knowledge|knowing|consent|noticing|back)\b",
                r"\b(hide|conceal|keep)\W+(all (of )?)?(this|that|it|these|them|everything|what you)\W+(\w+\W+){0,4}from the (user|human|person|owner)\b",
                r"(不要|别|勿|不得|不能)(告诉|通知|提醒|告知|让)用户|(瞒着|背着)用户|不让用户知道",
                r"ユーザーに(は)?(知らせ|言わ|伝え)(ない|ず)|사용자에게 (알리지|말하지)",
            ],
        ),
        Rule::new(
            ROLES,
            &[
                "<",
                "◁",
                "[",
                "#",
                "\"role\"",
                "system",
                "assistant",
                "developer",
                "系统",
                "助手",
                "系統",
            ],
            &[
                r"<\|[a-z_ ▁]+\|>",
                r"<(start|end)_of_(turn|text|image)>|</?(eos|bos)>",
                r"^[^<]*</s>|</s>\s*<s>",
                r"</?think(ing)?>|◁/?[a-z]+▷",
                r"</?(system|developer|assistant|user)_(messages?|prompts?|instructions?|info|rules)\s*>",
                r"</?(environment_details|local-command-stdout|command-message|command-name)>",
                r"\[/?inst\]|<</?sys>>|<\|?(endoftext|eot_id|begin_of_text)\|?>",
                r"</?(system|assistant|system-reminder|system_prompt|developer|instructions|user_query|im_start|im_end)\s*/?>",
                r"</(user|human|tool|prompt|context|memory|result)\s*>",
                r"</?aizo[a-z-]*|<!--\s*aizo:",
                r"#{2,}\s*(system|instructions?|assistant|response)\s*:",
                r#""role"\s*:\s*"(system|assistant|developer|tool)""#,
            ],
        ),
        Rule::new(
            CALLS,
            &["<", "\"", "[", "tool", "function", "aizo"],
            &[
                r"\[/?(tool_calls|tool_results|tool_content|available_tools|function_calls)\]",
                r"<(function|parameter)=[a-z_]",
                r"</?(execute_command|use_mcp_tool|access_mcp_resource|read_file|write_to_file|replace_in_file|apply_diff|attempt_completion|ask_followup_question|new_task|run_terminal_cmd)\s*>",
                r"</?(bash|bash-input|bash-stdout|bash-stderr|tool_code)>|<tool\s+name\s*=",
                r"\baizo (remove|forget|clear|undo|update|restore)\b",
                r"</?(tool_call|tool_calls|tool_use|tool_result|tool_response|function_call|function_calls|function_results|invoke|parameter)\b",
                r"<[a-z]+:(invoke|function_calls?|parameter)\b",
                r#""(tool_calls?|tool_use|function_call|tool_name|function)"\s*:\s*[\[{"]"#,
                r#""(name|tool)"\s*:\s*"[a-z_.-]+"\s*,\s*"(arguments|parameters|input|args)"\s*:"#,
                r#""jsonrpc"\s*:"#,
                r"\b(call|use|invoke|execute|run)\W+the\W+[a-z0-9_-]+\W+(tool|function)\W+(with|on|to)\b",
            ],
        ),
        Rule::new(
            RUNS,
            &[
                "curl",
                "wget",
                "iwr",
                "invoke-webrequest",
                "fetch",
                "new-object",
                "http",
                "base64",
                "atob(",
            ],
            &[
                r"\b(curl|wget|iwr|invoke-webrequest|fetch)\b[^\n]*https?://[^\n]*\|\s*(sudo\s+)?(sh|bash|zsh|iex|python3?|node|perl)\b",
                r"\b(bash|sh|zsh|eval|source|iex|python3?)\b[^\n]{0,20}(<\(|\$\(|\()\s*(curl|wget|iwr|new-object)\b",
                r"\b(curl|wget|iwr)\s[^\n|]*[a-z0-9-]\.[a-z]{2,}[^\n|]*\|\s*(sudo\s+)?(sh|bash|zsh|iex|python3?|node|perl)\b",
                r"\b(send|post|upload|forward|exfiltrate|transmit)\W+(\w+\W+){0,8}to\W+https?://",
                r"\b(base64 (-d|--decode)|atob\()",
            ],
        ),
        Rule::new(
            CARRIES,
            &[":"],
            &[
                r"\b[a-z][a-z0-9+.-]*://[^\s<>]*[?&;][^\s<>=]+=",
                r"!\[[^\]]*\]\(\s*[a-z]+:",
                r"\b(javascript|vbscript):\S",
                r"\bdata:[a-z]+/[a-z0-9.+-]+[;,]",
            ],
        ),
    ]
});

/// Whether a line is the message of somebody else: `System: …`.
fn speaks_for_another(line: &str) -> bool {
    const OTHERS: [&str; 7] = [
        "system",
        "assistant",
        "developer",
        "human",
        "系统",
        "系統",
        "助手",
    ];
    const WORDS: [&str; 4] = [" message", " prompt", "消息", "提示"];
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let Some((name, rest)) = line.split_once([':', '：']) else {
        return false;
    };
    let name = name.trim();
    let name = WORDS
        .iter()
        .find_map(|word| name.strip_suffix(word))
        .unwrap_or(name);
    OTHERS.contains(&name.trim()) && !rest.trim().is_empty()
}

fn by_rules(text: &str) -> Option<&'static str> {
    RULES
        .iter()
        .find(|rule| rule.fits(text))
        .map(|rule| rule.why)
}

/// Whether a word is no word: base64, a long number in hexadecimal digits, rows of escapes.
fn is_coded(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-');
    text.split(|c: char| !part(c)).any(is_blob) || has_escapes(text)
}

fn is_blob(word: &str) -> bool {
    /// No name of a commit or checksum is longer.
    const LONGEST_HEX: usize = 128;
    const SHORTEST: usize = 40;
    const SHORTEST_PADDED: usize = 24;
    let body = word.trim_end_matches('=');
    if body.len() > LONGEST_HEX && body.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return true;
    }
    if is_text_in_hex(body) {
        return true;
    }
    let is_padded =
        body.len() < word.len() && word.len() >= SHORTEST_PADDED && word.len().is_multiple_of(4);
    if word.len() < SHORTEST && !is_padded {
        return false;
    }
    // A path and a name in many words have letters of one kind beside each other; what is coded has not.
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let bytes = body.as_bytes();
    let switches = bytes
        .windows(2)
        .filter(|pair| class(pair[0]) != class(pair[1]));
    let has = |wanted: u8| bytes.iter().any(|&byte| class(byte) == wanted);
    let longest = body.split(['/', '-', '_']).map(str::len).max();
    has(0) && has(1) && longest >= Some(16) && switches.count() * 100 >= bytes.len() * 42
}

/// Whether hexadecimal digits are letters of a text. A checksum has others among its bytes.
fn is_text_in_hex(digits: &str) -> bool {
    const SHORTEST: usize = 24;
    let is_letter = |at: usize| {
        let byte = digits.get(at..at + 2);
        let byte = byte.and_then(|two| u8::from_str_radix(two, 16).ok());
        byte.is_some_and(|byte| byte.is_ascii_alphabetic() || b" .,!?'-".contains(&byte))
    };
    digits.len() >= SHORTEST
        && digits.len().is_multiple_of(2)
        && (0..digits.len()).step_by(2).all(is_letter)
}

/// Letters that are written as escapes, one after the other.
fn has_escapes(text: &str) -> bool {
    const ROW: usize = 6;
    static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        [
            format!(r"(%[0-9A-Fa-f]{{2}}){{{ROW},}}"),
            format!(r"(\\x[0-9A-Fa-f]{{2}}){{{ROW},}}"),
            format!(r"(\\u[0-9A-Fa-f]{{4}}){{{ROW},}}"),
            format!(r"(&#x?[0-9A-Fa-f]+;){{{ROW},}}"),
        ]
        .iter()
        .map(|form| Regex::new(form).expect("the forms are tested"))
        .collect()
    });
    FORMS.iter().any(|form| form.is_match(text))
}

#[cfg(test)]
mod tests;
