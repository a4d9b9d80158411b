//! The scenarios that ship with the program: the same as in `scenarios.yaml`, as a table, since parsing YAML
//! would cost each start half a millisecond.

use super::Scenario;

/// A row of the built-in list; its words stand in one text, with commas between them.
pub(super) struct BuiltIn {
    name: &'static str,
    description: &'static str,
    keywords: &'static str,
    aliases: &'static str,
}

impl From<&BuiltIn> for Scenario {
    fn from(row: &BuiltIn) -> Self {
        let words = |text: &str| text.split(", ").map(str::to_owned).collect();
        Self {
            name: row.name.to_owned(),
            description: row.description.to_owned(),
            keywords: words(row.keywords),
            aliases: words(row.aliases),
        }
    }
}

/// The scenarios of [`TEMPLATE`](super::TEMPLATE) once more: parsing that text takes half a millisecond, which every
/// recall would pay. A test keeps the two the same.
pub(super) const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "coding",
        description: "Writing, changing, testing and debugging code, and the tools around it",
        keywords: "code, coding, function, variable, refactor, debug, compile, lint, \
            test, commit, git, repo, dependency, bug, script, api, sql, \
            代码, 编程, 函数, 变量, 重构, 调试, 编译, 测试, 提交, 仓库, 依赖, 注释, 脚本, 报错",
        aliases: "code, dev, development, programming, software, 编程, 代码, 开发, 写代码, 程序",
    },
    BuiltIn {
        name: "writing",
        description: "Documents, articles and other prose, from the outline to punctuation",
        keywords: "writing, prose, document, readme, article, essay, blog, paragraph, \
            heading, grammar, punctuation, markdown, \
            写作, 文档, 文章, 博客, 段落, 标题, 标点, 措辞, 文风, 排版, 草稿",
        aliases: "write, docs, documentation, prose, 写作, 文档, 写文章, 文案",
    },
    BuiltIn {
        name: "communication",
        description: "Replies, mail, chat and meetings: their tone, length and language",
        keywords: "communication, reply, email, chat, meeting, slack, tone, greeting, \
            polite, concise, apology, emoji, conversation, \
            沟通, 回复, 邮件, 聊天, 会议, 语气, 问候, 礼貌, 简洁, 道歉, 表情, 寒暄",
        aliases: "chat, email, mail, messaging, meeting, social, 沟通, 交流, 聊天, 邮件, 会议",
    },
    BuiltIn {
        name: "design",
        description: "How things look and feel, such as layout, colour, type, icons and interaction",
        keywords: "design, layout, color, colour, palette, font, typography, spacing, icon, button, \
            animation, theme, figma, ui, ux, \
            设计, 布局, 配色, 颜色, 字体, 间距, 图标, 按钮, 动画, 界面, 交互, 深色",
        aliases: "ui, ux, visual, graphics, 设计, 界面, 视觉, 交互",
    },
    BuiltIn {
        name: "review",
        description: "Reading the work of others and judging it, be it code, a text or a plan",
        keywords: "review, reviewer, feedback, approve, reject, nitpick, critique, diff, \
            pr, merge, audit, proofread, checklist, \
            评审, 审查, 审阅, 审核, 反馈, 批准, 驳回, 合并, 校对, 挑刺, 复核, 检查清单",
        aliases: "code-review, code review, pr, critique, audit, 评审, 审查, 审阅, 审核, 代码审查",
    },
    BuiltIn {
        name: "research",
        description: "Finding out, with papers, citations, evidence, experiments and comparisons",
        keywords: "research, citation, cite, paper, literature, evidence, survey, hypothesis, \
            experiment, methodology, dataset, statistic, bibliography, \
            研究, 调研, 论文, 文献, 引用, 出处, 证据, 综述, 课题, 实验, 统计, 考证",
        aliases: "study, investigation, academic, literature, 研究, 调研, 学术, 论文, 查资料",
    },
    BuiltIn {
        name: "business",
        description: "Products, requirements, markets, numbers and plans",
        keywords: "business, product, requirement, prd, roadmap, stakeholder, strategy, metric, kpi, \
            revenue, pricing, customer, competitor, budget, market, \
            业务, 商业, 产品, 需求, 路线图, 战略, 指标, 营收, 定价, 客户, 竞品, 预算, 市场",
        aliases: "biz, biz-analyze, product, pm, commercial, strategy, 业务, 商业, 产品, 商务",
    },
];
