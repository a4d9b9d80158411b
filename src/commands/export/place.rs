//! The file into which a block is put: with it, and without it.

use std::path::{Path, PathBuf};

use super::reply::{File, Kept};
use crate::error::Failure;
use crate::export::{Block, Format, Managed, Offer, compose, find, put, rest, take_out};
use crate::files::{Fault, Found, newline};

/// The file as it was found.
pub(super) struct Place {
    pub(super) into: PathBuf,
    found: Found,
    pub(super) managed: Option<Managed>,
}

impl Place {
    /// Reads it.
    ///
    /// # Errors
    /// The markers in it are broken, or it cannot be read.
    pub(super) fn at(into: PathBuf) -> Result<Self, Failure> {
        let found = Found::at(&into)?;
        let managed = find(found.bytes.as_deref().unwrap_or_default())
            .map_err(|fault| broken(&into, &fault))?;
        Ok(Place {
            into,
            found,
            managed,
        })
    }

    /// The block that fits beside what else stands there.
    pub(super) fn block(&self, format: Format, offer: Offer<'_>) -> Result<Block, Failure> {
        let before = self.found.bytes.as_deref();
        let beside = rest(before, format).map_err(|fault| broken(&self.into, &fault))?;
        let room = match format.read() {
            Some(read) => format.room().and(read.beside(beside)),
            None => format.room(),
        };
        let line_end = newline(&String::from_utf8_lossy(before.unwrap_or_default())).len();
        Ok(compose(format, offer, room, line_end))
    }

    /// The file with the block. Without anything to say there is no reason for one; but one that is there is emptied and not
    /// kept.
    pub(super) fn with(self, format: Format, block: &Block) -> Result<File, Failure> {
        let after = if block.is_empty() && self.managed.is_none() {
            self.found.bytes.clone()
        } else {
            let before = self.found.bytes.as_deref();
            let after = put(before, block, format.head());
            Some(after.map_err(|fault| broken(&self.into, &fault))?)
        };
        let kept = self.kept();
        Ok(File::planned(self.into, self.found, after).keeping(kept))
    }

    /// The file without the block, where there is one.
    pub(super) fn without(self) -> Result<File, Failure> {
        let before = self.found.bytes.as_deref().unwrap_or_default();
        let taken = take_out(before).map_err(|fault| broken(&self.into, &fault))?;
        let after = taken.unwrap_or_else(|| self.found.bytes.clone());
        let kept = match self.kept() {
            Kept::OwnText => Kept::OwnText,
            Kept::Before | Kept::Nothing => Kept::Nothing,
        };
        Ok(File::planned(self.into, self.found, after).keeping(kept))
    }

    /// Of what a copy is kept when the block is put in.
    fn kept(&self) -> Kept {
        match (&self.managed, &self.found.bytes) {
            (Some(managed), _) if managed.is_as_written => Kept::Nothing,
            (Some(managed), Some(bytes))
                if !bytes[managed.body.clone()].trim_ascii().is_empty() =>
            {
                Kept::OwnText
            }
            _ => Kept::Before,
        }
    }
}

fn broken(path: &Path, fault: &Fault) -> Failure {
    fault.in_file(path).hint(
        "put it right, or delete the marker lines and what is between them; then say it again",
    )
}
