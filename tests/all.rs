//! One binary for all integration tests: it links once and shares its helpers.

mod common;

mod adding;
mod changing;
mod contract;
mod finding;
mod output;
mod outside;
mod processes;
mod readme;
mod skill;
mod smoke;
mod stores;
