//! The files that hosts read by themselves: what they are called, how much of them is read, and what stands over the lines.

use crate::recall::context::Group;

/// A file that some host reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// CLAUDE.md: instructions of Claude Code
    ClaudeMd,
    /// AGENTS.md: instructions of Codex, OpenCode, OpenClaw, Cursor and others
    AgentsMd,
    /// MEMORY.md: an index of one line for each preference
    MemoryMd,
    /// USER.md: what OpenClaw knows of its user
    UserMd,
    /// SOUL.md: how an agent of OpenClaw behaves
    SoulMd,
    /// IDENTITY.md: who an agent of OpenClaw is, on a card
    IdentityMd,
    /// A rule of Cursor (.mdc)
    CursorRules,
}

/// Lines and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Lines.
    pub lines: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Room {
    /// What is left of it beside something else.
    pub fn beside(self, other: Room) -> Self {
        Room {
            lines: self.lines.saturating_sub(other.lines),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    /// What both leave.
    pub fn and(self, other: Room) -> Self {
        Room {
            lines: self.lines.min(other.lines),
            bytes: self.bytes.min(other.bytes),
        }
    }
}

/// Every host tells what it reads in a fresh conversation, so that a block of usual size takes little of it.
const USUAL: Room = Room {
    lines: 200,
    bytes: 10_000,
};

impl Format {
    /// All of them.
    pub const ALL: [Format; 7] = [
        Format::ClaudeMd,
        Format::AgentsMd,
        Format::MemoryMd,
        Format::UserMd,
        Format::SoulMd,
        Format::IdentityMd,
        Format::CursorRules,
    ];

    /// Its name on the command line and in the marker.
    pub fn name(self) -> &'static str {
        match self {
            Format::ClaudeMd => "claude-md",
            Format::AgentsMd => "agents-md",
            Format::MemoryMd => "memory-md",
            Format::UserMd => "user-md",
            Format::SoulMd => "soul-md",
            Format::IdentityMd => "identity-md",
            Format::CursorRules => "cursor-rules",
        }
    }

    /// The room of the block.
    pub fn room(self) -> Room {
        match self {
            Format::ClaudeMd | Format::AgentsMd | Format::UserMd | Format::CursorRules => USUAL,
            Format::MemoryMd => MEMORY,
            Format::SoulMd => Room {
                lines: 80,
                bytes: 5_000,
            },
            Format::IdentityMd => Room {
                lines: 20,
                bytes: 2_000,
            },
        }
    }

    /// How much of the whole file is read; none where nobody says.
    pub fn read(self) -> Option<Room> {
        match self {
            Format::ClaudeMd | Format::CursorRules => None,
            Format::MemoryMd => Some(MEMORY),
            // OpenClaw cuts each at 20,000 characters, and a character has a byte at least.
            Format::AgentsMd | Format::UserMd | Format::SoulMd | Format::IdentityMd => Some(Room {
                lines: usize::MAX,
                bytes: 20_000,
            }),
        }
    }

    /// The most bytes of a reason; none where reasons have no place.
    pub(super) fn longest_reason(self, group: Group) -> Option<usize> {
        match (self, group) {
            (Format::IdentityMd, _) => None,
            // One line each, which is looked over and not read.
            (Format::MemoryMd, _) => Some(100),
            (_, Group::HardLimits) => Some(300),
            _ => Some(200),
        }
    }

    /// What stands at the head of a file that is new: a rule needs it to be read at all.
    pub fn head(self) -> &'static str {
        match self {
            Format::CursorRules => {
                "---\ndescription: What the user likes, dislikes, habitually does and must never see\nglobs:\nalwaysApply: true\n---\n\n"
            }
            _ => "",
        }
    }

    /// What stands over the block.
    pub(super) fn title(self) -> &'static str {
        match self {
            Format::SoulMd => "How an agent suits the user",
            Format::IdentityMd => "Whom the agent works for",
            Format::MemoryMd => "Index of the user's preferences",
            _ => "The user's preferences",
        }
    }

    /// What the lines are.
    pub(super) fn introduction(self, has_files: bool) -> &'static str {
        match (self, has_files) {
            (Format::MemoryMd, true) => {
                "Each line states something about the user; the file that it names tells the rest."
            }
            (Format::MemoryMd, false) => {
                "Each line states something about the user; `aizo show ID` tells the rest."
            }
            (Format::SoulMd, _) => {
                "What the user has said about working with agents and about anything else, kept by aizo."
            }
            (Format::IdentityMd, _) => "",
            _ => {
                "What the user has said and shown, kept by aizo. Each line is a statement with its reason."
            }
        }
    }

    /// What stands over the lines of a group. Items may carry their own "no" or "never", so this says what they are.
    pub(super) fn heading(self, group: Group) -> &'static str {
        match (self, group) {
            (Format::SoulMd, Group::HardLimits) => "Limits that hold always",
            (Format::SoulMd, Group::Avoid) => "Does not suit the user",
            (Format::SoulMd, Group::Prefer) => "Suits the user",
            (Format::SoulMd, Group::Habits) => "What the user is used to",
            _ => group.heading(),
        }
    }
}

/// Claude Code loads 200 lines or 25 KB, whichever comes first.
const MEMORY: Room = Room {
    lines: 200,
    bytes: 25_000,
};
