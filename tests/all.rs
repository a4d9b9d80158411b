//! One binary for all integration tests: it links once and shares its helpers.

mod common;

mod processes;
mod smoke;
mod stores;
