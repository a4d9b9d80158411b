// The words of the page in both languages, and how numbers and dates are written.

const WORDS = {
  "skip": ["Skip to the content", "跳到正文"],
  "profile": ["Profile", "档案"],
  "agent": ["What an agent sees", "智能体所见"],
  "review": ["Review", "待确认"],
  "history": ["History", "变更记录"],
  "state": ["State", "状态"],
  "read.only": ["read-only", "只读"],
  "read.only.why": ["Start aizo web with --write to change things here", "要在这里修改，请用 aizo web --write 启动"],
  "theme": ["Light or dark", "浅色或深色"],
  "theme.auto": ["as the system", "跟随系统"],
  "theme.light": ["light", "浅色"],
  "theme.dark": ["dark", "深色"],
  "language": ["中文", "English"],

  "key.missing": ["This page needs its key", "这个页面需要钥匙"],
  "key.missing.hint": [
    "Open the address that aizo web has printed, with everything behind the #. Each start makes a new one.",
    "请打开 aizo web 打印的地址，包括 # 后面的全部内容。每次启动都会换新的。",
  ],
  "unreachable": ["aizo web does not answer. Trying again…", "aizo web 没有回应，正在重试……"],
  "loading": ["Reading the store…", "正在读取……"],
  "cut": [
    "Only the {0} strongest are listed here; aizo recall WORDS finds every one.",
    "这里只列出最强的 {0} 条；其余的用 aizo recall WORDS 查找。",
  ],
  "empty": ["Nothing is stored yet", "还没有任何条目"],
  "empty.add": ["stores a preference", "添加一条偏好"],
  "empty.analyze": ["learns from what you said to agents on this machine", "从你在本机对智能体说过的话中学习"],
  "empty.import": ["takes over an export, a CLAUDE.md, or what another program knows", "导入导出文件、CLAUDE.md 或其他程序的记忆"],
  "empty.install": ["lets the agents on this machine call aizo", "让本机的智能体调用 aizo"],

  "limits": ["Hard limits", "硬性限制"],
  "limits.none": ["No hard limit is set. A score of 0 to 1.5 makes one.", "还没有硬性限制。分数在 0 到 1.5 之间的条目就是。"],
  "limits.about": ["{0} in force, whatever they weigh", "{0} 条生效，不受权重影响"],
  "limits.all": ["Show all {0}", "显示全部 {0} 条"],
  "limits.few": ["Show fewer", "收起"],
  "scores": ["Scores", "分数分布"],
  "scores.about": ["Scores of all entries: {0}", "全部条目的分数：{0}"],
  "scores.bar": ["{0} to {1}: {2}", "{0} 到 {1} 分：{2} 条"],
  "band.taboo": ["taboo", "禁忌"],
  "band.aversion": ["aversion", "反感"],
  "band.habit": ["habit", "习惯"],
  "band.style": ["style", "风格"],
  "band.preference": ["preference", "喜好"],
  "bands": ["Show only", "只看"],
  "search": ["Filter by words", "按文字筛选"],
  "scenario": ["Scenario", "场景"],
  "scenario.all": ["every scenario", "全部场景"],
  "scenario.count": ["{0} ({1})", "{0}（{1}）"],
  "sort": ["Sort by", "排序"],
  "entries": ["{0} entries", "{0} 条"],
  "entries.some": ["{0} of {1} entries", "{1} 条中的 {0} 条"],
  "entries.none": ["No entry is like that", "没有符合的条目"],
  "clear.filters": ["Show all", "显示全部"],
  "add": ["Add", "添加"],
  "table": ["Entries", "条目"],
  "col.item": ["Item", "条目"],
  "col.scenarios": ["Scenarios", "场景"],
  "col.base_score": ["Score", "分数"],
  "col.effective_weight": ["Weight", "权重"],
  "col.fade": ["Half a year on", "未来半年"],
  "col.last_seen": ["Last seen", "最近出现"],
  "col.touch_count": ["Used", "使用"],
  "never.fades": ["in force", "始终有效"],

  "close": ["Close", "关闭"],
  "previous": ["Previous entry", "上一条"],
  "next": ["Next entry", "下一条"],
  "gone": ["This entry is not there any more", "这一条已经不在了"],
  "now": ["now", "现在"],
  "days.ahead": ["+{0} days", "+{0} 天"],
  "fade.limit": ["A hard limit: it holds whatever it weighs, and time does not lift it.", "硬性限制：不论权重多少都有效，时间不会让它失效。"],
  "fade.never": ["A score of 10 never fades.", "10 分永不衰减。"],
  "fade.curve": [
    "Weighs {0} now, {1} in 30 days, {2} in 180, and never less than {3}, unless it is seen again.",
    "当前权重 {0}；如果不再出现，30 天后 {1}，180 天后 {2}，最低 {3}。",
  ],
  "seen": ["last seen", "最近出现"],
  "added": ["added", "添加于"],
  "used": ["used", "使用"],
  "times": ["{0} times", "{0} 次"],
  "once": ["once", "1 次"],
  "never": ["never", "从未"],
  "keywords": ["keywords", "关键词"],
  "scenarios": ["scenarios", "场景"],
  "pattern": ["pattern", "模式"],
  "source": ["source", "来源"],
  "origin.user": ["stated by you", "你亲口说的"],
  "origin.agent": ["said by an agent", "智能体写入"],
  "origin.analysis": ["inferred", "推断得出"],
  "origin.import": ["imported", "导入"],
  "evidence": ["Evidence", "依据"],
  "evidence.none": ["None: the entry was there before aizo kept evidence.", "没有：这一条早于依据的记录。"],
  "evidence.confirmed": ["confirmed without a word", "确认过一次，没有说话"],
  "score.of": ["score {0}", "{0} 分"],
  "confidence": ["understood with confidence {0}", "把握 {0}"],

  "edit": ["Edit", "修改"],
  "touch": ["Still true", "仍然如此"],
  "remove": ["Remove", "删除"],
  "undo": ["Undo", "撤销"],
  "save": ["Save", "保存"],
  "cancel": ["Cancel", "取消"],
  "edit.title": ["Edit an entry", "修改条目"],
  "add.title": ["Add an entry", "添加条目"],
  "edit.waiting": ["Edit before deciding", "先修改再决定"],
  "field.item": ["Item", "条目"],
  "field.reason": ["Reason", "理由"],
  "field.score": ["Score", "分数"],
  "field.keywords": ["Keywords, with commas between", "关键词，用逗号分隔"],
  "field.scenarios": ["Scenarios, with commas between", "场景，用逗号分隔"],
  "field.pattern": ["Patterns that break it, one a line", "违反它的模式，每行一个"],
  "score.scale": ["0 never · 2.5 a complaint · 5 a habit · 7.5 liked · 10 always", "0 绝不 · 2.5 抱怨 · 5 习惯 · 7.5 喜欢 · 10 总是"],
  "nothing.changed": ["Nothing was changed.", "没有改动。"],
  "changed.meanwhile": ["This entry was changed elsewhere meanwhile. Only what you change here is saved.", "这一条刚在别处改过。这里只会保存你改动的字段。"],

  "result.added": ["added", "已添加"],
  "result.merged": ["merged", "已合并"],
  "result.limited": ["is a hard limit now", "已成为硬性限制"],
  "result.kept": ["kept as it was", "保持不变"],
  "result.pending": ["waits for review", "等待确认"],
  "result.updated": ["updated", "已修改"],
  "result.touched": ["fresh again", "已刷新"],
  "result.cooldown": ["was fresh already", "刚刷新过"],
  "result.removed": ["removed", "已删除"],
  "result.not_found": ["not found", "没有找到"],
  "result.rejected": ["rejected", "已拒绝"],
  "result.undone": ["undone", "已撤销"],

  "agent.about": [
    "The block that an agent reads before it works: every hard limit, what concerns the task, and the strongest of the rest.",
    "智能体动手之前读到的内容：全部硬性限制、与任务有关的偏好，再加上其余最强的。",
  ],
  "task": ["Task", "任务"],
  "task.example": ["write the release notes", "写发布说明"],
  "scenario.auto": ["nearest to the task", "自动选择"],
  "scenario.no": ["none", "不限"],
  "budget": ["Budget in tokens", "预算（token）"],
  "spent": ["about {0} of {1} tokens", "约 {0} / {1} token"],
  "scenario.is": ["scenario: {0}", "场景：{0}"],
  "group.hard_limits": ["Hard limits", "硬性限制"],
  "group.avoid": ["Disliked", "不喜欢"],
  "group.prefer": ["Preferred", "喜欢"],
  "group.habits": ["Habits", "习惯"],
  "why.limit": ["always there", "始终列出"],
  "why.keyword": ["holds “{0}”", "含有“{0}”"],
  "why.keyword.bare": ["holds the words", "含有这些词"],
  "why.scenario": ["scenario {0}", "场景 {0}"],
  "why.related": ["close in meaning, {0}", "意思相近，{0}"],
  "why.strong": ["strongly felt, score {0}", "好恶强烈，{0} 分"],
  "and": ["{0}, {1}", "{0}，{1}"],
  "said.shortened": ["reason shortened", "理由已缩短"],
  "said.item": ["reason left out", "理由已省略"],
  "limits.shortened": ["The limits alone exceed the budget: they are all there, their reasons are not.", "仅硬性限制就超出了预算：限制都在，理由省略了。"],
  "limits.left.out": ["{0} hard limits found no room at all.", "有 {0} 条硬性限制完全放不下。"],
  "nothing.to.say": ["An agent would be told nothing.", "智能体什么也不会看到。"],
  "as.text": ["Word for word", "原文"],
  "left.out": ["Left out", "未列入"],
  "left.out.none": ["Nothing: all of it is in the block.", "没有：全部都在。"],
  "left.out.about": ["{0} entries. First those that come closest to the task:", "{0} 条。最接近任务的排在前面："],
  "left.out.bare": ["{0} entries, the strongest first:", "{0} 条，最强的排在前面："],
  "left.out.more": ["and {0} more", "另有 {0} 条"],

  "review.about": ["What aizo would not decide by itself.", "aizo 不会自行决定的内容。"],
  "review.none": ["Nothing waits.", "没有等待确认的内容。"],
  "waits": ["It waits:", "等待的原因："],
  "accept": ["Accept", "采纳"],
  "reject": ["Reject", "拒绝"],

  "history.about": ["Every change, newest first. An undo is a change too, and can be undone.", "全部变更，最新的在前。撤销本身也是一次变更，可以再撤回来。"],
  "history.none": ["Nothing was changed yet.", "还没有任何变更。"],
  "history.more": ["Show earlier changes", "显示更早的变更"],
  "undone": ["undone", "已撤销"],
  "undoes": ["took back change {0}", "撤回了变更 {0}"],
  "elsewhere": ["on device {0}", "在设备 {0} 上"],
  "not.taken": ["score {0} was not taken", "{0} 分未被采用"],
  "more.lines": ["{0} more in the same change", "同一次变更中还有 {0} 条"],
  "none": ["none", "无"],
  "op.add": ["added", "添加"],
  "op.merge": ["merged", "合并"],
  "op.limit": ["made a hard limit", "设为硬性限制"],
  "op.keep": ["confirmed", "确认"],
  "op.update": ["updated", "修改"],
  "op.touch": ["refreshed", "刷新"],
  "op.apply": ["used", "使用"],
  "op.remove": ["removed", "删除"],
  "op.undo": ["undid", "撤销"],
  "op.propose": ["proposed", "提出"],
  "op.accept": ["accepted", "采纳"],
  "op.reject": ["rejected", "拒绝"],
  "op.tag": ["tagged", "改关键词"],
  "op.clear": ["cleared", "清空"],
  "op.baseline": ["was there", "原有"],
  "op.adopt": ["taken over", "接收"],
  "op.config": ["set", "设置"],
  "op.forget": ["forgotten", "遗忘"],
  "field.base_score": ["score", "分数"],

  "store": ["Store", "数据文件"],
  "path": ["file", "文件"],
  "size": ["size", "大小"],
  "bands.count": ["entries", "条目"],
  "changes": ["changes", "变更"],
  "observations": ["observations", "依据"],
  "sessions": ["conversations analysed", "分析过的对话"],
  "version": ["version", "版本"],
  "decay": ["Fading", "衰减"],
  "half.life": ["half-life", "半衰期"],
  "days": ["{0} days", "{0} 天"],
  "floor": ["floor", "下限"],
  "sync": ["Sync", "同步"],
  "sync.off": ["No repository is named yet: aizo sync init URL", "还没有指定仓库：aizo sync init URL"],
  "repository": ["repository", "仓库"],
  "branch": ["branch", "分支"],
  "to.push": ["waiting to be pushed", "等待推送"],
  "lines": ["{0} lines", "{0} 行"],
  "devices": ["devices", "设备"],
  "device.this": ["this one", "本机"],
  "device.behind": ["has more that is not here", "还有内容未拉取"],
  "doctor": ["Doctor", "体检"],
  "doctor.about": ["What aizo doctor has found, what matters most first.", "aizo doctor 发现的问题，最要紧的在前。"],
  "doctor.none": ["{0} checks, and nothing was found.", "做了 {0} 项检查，没有发现问题。"],
  "level.error": ["error", "错误"],
  "level.warning": ["warning", "警告"],
  "level.note": ["note", "提示"],
  "odd": ["Worth a look", "值得留意"],
  "odd.none": ["Nothing odd was found.", "没有发现异常。"],
  "odd.outside": ["{0} rows were written by another program; the next change takes them over", "有 {0} 行由别的程序写入，下次变更时接收"],
  "odd.future": ["last seen in the future: {0}", "最近出现的时间在未来：{0}"],
  "odd.times": ["a time that cannot be read: {0}", "时间无法读取：{0}"],
  "odd.scores": ["a score that is no number: {0}", "分数不是数字：{0}"],
  "odd.decay": ["The stored decay settings are out of range; the defaults count", "存储的衰减参数超出范围，按默认值计算"],
};

const kept = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

// Remembers a choice in this browser, where it lets us.
export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}
export { kept };

let language = kept("language") ?? (navigator.languages?.[0]?.toLowerCase().startsWith("zh") ? "zh" : "en");

export const locale = () => (language === "zh" ? "zh-CN" : "en-GB");

export function otherLanguage() {
  language = language === "zh" ? "en" : "zh";
  keep("language", language);
}

// What is said under a name, with values in the places of {0}, {1}…; the name itself where it has no words.
export function say(name, ...values) {
  const words = WORDS[name]?.[language === "zh" ? 1 : 0];
  if (words === undefined) return name.slice(name.indexOf(".") + 1).replaceAll("_", " ");
  return words.replace(/\{(\d)\}/g, (_, index) => values[index]);
}

// Puts words into everything that names them in the document itself.
export function sayAll(root) {
  document.documentElement.lang = locale();
  for (const node of root.querySelectorAll("[data-say]")) node.textContent = say(node.dataset.say);
  for (const node of root.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", say(node.dataset.label));
    node.title = say(node.dataset.label);
  }
}

export const count = (number) => new Intl.NumberFormat(locale()).format(number);

// A weight: two decimals.
export const short = (number) => number.toFixed(2);

// A score: at most two decimals, at least one, and more only where two would be a score of another band.
export function score(number) {
  const text = number.toFixed(2).replace(/0$/, "");
  const bounds = [1.5, 4, 6.5, 7];
  const side = (value) => bounds.map((bound, index) => (index ? value < bound : value <= bound)).join();
  return side(Number(text)) === side(number) ? text : String(number);
}

const parsed = (time) => (typeof time === "number" ? time : Date.parse(time));

// A day, short: “3 Nov 2026”; for `bare`, without the day.
export function date(time, bare) {
  const moment = parsed(time);
  if (!Number.isFinite(moment)) return typeof time === "string" ? time : say("never");
  const style = bare ? { month: "short", year: "numeric" } : { day: "numeric", month: "short", year: "numeric" };
  return new Intl.DateTimeFormat(locale(), style).format(moment);
}

// A moment to the minute.
export function moment(time) {
  const at = parsed(time);
  if (!Number.isFinite(at)) return String(time);
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(at);
}

// How long ago, in the largest unit that fits.
export function ago(time, now) {
  const at = parsed(time);
  if (!Number.isFinite(at)) return say("never");
  const days = (at - now) / 86_400_000;
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: Math.abs(days) < 2 ? "auto" : "always", style: "short" });
  for (const [unit, length] of [["year", 365], ["month", 30.4], ["week", 7], ["day", 1], ["hour", 1 / 24]]) {
    if (Math.abs(days) >= length * (unit === "week" ? 2 : 1)) return words.format(Math.trunc(days / length), unit);
  }
  return words.format(Math.trunc(days * 1440), "minute");
}
