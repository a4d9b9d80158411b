//! One binary for all integration tests: it links once and shares its helpers.

mod common;

mod smoke;
mod stores;
