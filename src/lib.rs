//! aizo (爱憎): a preference memory for AI agents. One binary, one SQLite file.
//!
//! It keeps what a user likes, dislikes, habitually does and must never see, each with a score from 0 to
//! 10; lets old things fade; and hands an agent the right ones for the task at hand.
//!
//! # The map
//!
//! ```text
//! capture → extract → merge → storage → scoring → recall → present → apply → sync
//! ```
//!
//! | module | does | knows SQLite, clock, files? |
//! |---|---|---|
//! | [`model`] | the nouns: preference, score, band, evidence, change, turn | no |
//! | [`capture`] | transcripts of agents and exports of chats → what a person said in them | files |
//! | [`extract`] | what a person said → the preferences in it | no |
//! | [`analysis`] | what was heard in conversations → what is learned, what waits, what is left alone | no |
//! | [`scoring`] | the formulas: decay, weight, smoothing | no |
//! | [`merge`] | an observation and what is stored → a change | no |
//! | [`recall`] | a request and the candidates → what is chosen and why; the block for an agent | no |
//! | [`check`] | limits and a plan, command, patch or draft → which of them it breaks | no |
//! | [`redact`] | a text → the same without its secrets | no |
//! | [`scenarios`] | `scenarios.yaml`: kinds of task and their keywords | reads one file |
//! | [`storage`] | open, migrate, read, apply changes, journal, undo, search index | SQLite |
//! | [`llm`] | what a language model is asked, and what of its answer counts | network |
//! | [`sync`] | the journals of several devices ↔ one append-only file each in a git repository | files, git |
//! | [`install`] | what belongs into the settings of agents' hosts, and how it is put there and taken out | no |
//! | [`export`] | the profile → a block in a context file, put in and taken out byte for byte | no |
//! | [`portable`] | the profile on its way between stores, and what else `import` reads | streams |
//! | [`poison`] | a text → why it may be meant for the model and not for the profile | no |
//! | [`files`] | other programs' files: as they were found, written at once, what changes in them | files |
//! | [`mcp`] | the Model Context Protocol: what is asked in its words, and answered | runtime, streams |
//! | [`web`] | the page of `aizo web`: who may ask for what, and how it is answered | no |
//! | [`present`] | text, JSON, colour, width, closed pipes | terminal |
//! | [`commands`] | one file per verb | edge |
//! | [`settings`], [`error`] | what enters from outside; how it ends | edge |
//!
//! A preference's way: `commands/add.rs` makes an observation of it, [`merge`] a change, [`storage`] writes rows,
//! journal and index together; `commands/recall.rs` and `commands/context.rs` make a request, `storage` finds the
//! candidates, [`recall`] judges, weighs and orders them, [`present`] shows them. `commands/analyze` lets [`capture`] read
//! transcripts, [`extract`] find candidates in them, [`analysis`] choose, and [`merge`] decide. Four call other
//! verbs: `demo`, which shows them at work, the doors `hook` and `mcp`, which answer an agent's host, and `web`, which answers a page.
//!
//! Dependencies point from `commands` through `storage` and `present` to the pure middle, which knows nobody.
//! Only `storage` knows SQL, only `present` prints (and `mcp` its protocol), only `error` knows exit codes. The clock is read once a
//! run, in `settings`, and passed as a value.
//!
//! Good first reading: [`model::Change`], [`scoring`], `commands/recall.rs`, [`storage`], `storage/search.rs`.
//!
//! # Deliberately absent
//!
//! A daemon, a network connection that nobody asked for, a model to download, stored scores that depend on time, a
//! second way to alter the store beside [`model::Change`], and any write on the way of a read.

pub mod analysis;
pub mod capture;
pub mod check;
pub mod commands;
pub mod error;
pub mod export;
pub mod extract;
pub mod files;
pub mod install;
pub mod llm;
pub mod mcp;
pub mod merge;
pub mod model;
pub mod poison;
pub mod portable;
pub mod present;
pub mod recall;
pub mod redact;
pub mod scenarios;
pub mod scoring;
pub mod settings;
pub mod storage;
pub mod sync;
pub mod web;
