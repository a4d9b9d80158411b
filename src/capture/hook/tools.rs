//! The tools of the hosts by their names: which run a command line, which write into files, and which only read.

/// A name in small letters and digits alone: hosts spell one tool `ReadFile`, `read_file` and `read-file`.
pub(super) fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Tools that write into files.
const WRITERS: &[&str] = &[
    "write",
    "writefile",
    "edit",
    "editfile",
    "multiedit",
    "notebookedit",
    "editnotebook",
    "create",
    "createfile",
    "insert",
    "strreplace",
    "strreplaceeditor",
    "strreplacebasededittool",
    "searchreplace",
    "replace",
    "applypatch",
    "patch",
];

/// Tools that run a command line.
const SHELLS: &[&str] = &[
    "bash",
    "shell",
    "localshell",
    "powershell",
    "exec",
    "execcommand",
    "executecommand",
    "runcommand",
    "runshellcommand",
    "runterminalcmd",
    "runterminalcommand",
    "runinterminal",
    "terminal",
];

/// Tools that neither write into files nor say anything to others: they read, search, plan, remember, ask, or hand work on to
/// an agent whose tools are looked at when it uses them.
const READERS: &[&str] = &[
    "read",
    "readfile",
    "readmanyfiles",
    "readlints",
    "notebookread",
    "view",
    "viewfile",
    "viewimage",
    "showfile",
    "open",
    "glob",
    "globsearch",
    "grep",
    "grepsearch",
    "search",
    "searchfiles",
    "searchfilecontent",
    "filesearch",
    "codesearch",
    "codebasesearch",
    "semanticsearch",
    "toolsearch",
    "memorysearch",
    "memoryget",
    "savememory",
    "storememory",
    "find",
    "findfiles",
    "list",
    "ls",
    "listdir",
    "listdirectory",
    "listfiles",
    "listmcpresources",
    "listmcpresourcestool",
    "readmcpresource",
    "readmcpresourcetool",
    "fetch",
    "webfetch",
    "websearch",
    "googlewebsearch",
    "lsp",
    "bashoutput",
    "readbash",
    "listbash",
    "stopbash",
    "killbash",
    "killshell",
    "sessionslist",
    "sessionshistory",
    "sessionstatus",
    "agentslist",
    "todoread",
    "todowrite",
    "writetodos",
    "updatetodo",
    "updateplan",
    "enterplanmode",
    "exitplanmode",
    "reportintent",
    "task",
    "taskcreate",
    "taskget",
    "tasklist",
    "taskoutput",
    "taskstop",
    "taskupdate",
    "agent",
    "spawnagent",
    "skill",
    "activateskill",
    "askuser",
    "askuserquestion",
    "question",
    "wait",
    "sleep",
];

/// The tools of `aizo mcp`, and the command that each is.
const OWN: [(&str, &str); 8] = [
    ("preferencecontext", "context"),
    ("preferencerecall", "recall"),
    ("preferenceadd", "add"),
    ("preferenceapply", "apply"),
    ("preferencecheck", "check"),
    ("preferenceupdate", "update"),
    ("preferenceremove", "remove"),
    ("preferencewhy", "why"),
];

/// Whether a tool, by its plain name, writes into files.
pub(super) fn writes(tool: &str) -> bool {
    WRITERS.contains(&tool)
}

/// Whether what it writes is a patch.
pub(super) fn patches(tool: &str) -> bool {
    matches!(tool, "applypatch" | "patch")
}

/// Whether it runs a command line.
pub(super) fn is_shell(tool: &str) -> bool {
    SHELLS.contains(&tool)
}

/// Whether it changes nothing and says nothing to others.
pub(super) fn only_reads(tool: &str) -> bool {
    READERS.contains(&tool)
}

/// The command of aizo that it is, whatever a host puts before the names of a server's tools.
pub(super) fn own(tool: &str) -> Option<&'static str> {
    let found = OWN.iter().find(|(name, _)| tool.ends_with(name));
    found.map(|(_, verb)| *verb)
}

/// Whether a name, as the host spells it, says that the tool is one of a server: `mcp__chat__send`, `MCP:send`.
pub(super) fn is_of_a_server(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower
        .strip_prefix("mcp")
        .is_some_and(|rest| rest.starts_with(|c: char| !c.is_alphanumeric()))
}
