//! One binary for all integration tests: it links once and shares its helpers.

mod common;

mod adding;
mod analyze;
mod backups;
mod beating;
mod beside;
mod capture;
mod changing;
mod checking;
mod context;
mod contract;
mod docs;
mod doctor;
mod export;
mod finding;
mod forgetting;
mod hooks;
mod importing;
mod install;
mod llm;
mod mcp;
mod meaning;
mod output;
mod outside;
mod processes;
mod readme;
mod review;
mod secrets;
mod skill;
mod smoke;
mod stores;
mod sync;
#[cfg(unix)]
mod terminal;
mod web;
