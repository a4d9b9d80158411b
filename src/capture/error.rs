//! What can go wrong with reading a conversation. What is wrong *in* a file is a [`Problem`](super::Problem).

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::host::Host;
use crate::storage::StorageError;

/// Why a file or stream could not be read.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// Nothing lies at a path that was given.
    #[error("{} does not exist", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// A file or folder cannot be opened or read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A stream without a name fails.
    #[error("cannot read the input: {cause}")]
    Stream {
        /// What the system said.
        cause: io::Error,
    },
    /// Another program's database cannot be read.
    #[error(transparent)]
    Database(#[from] StorageError),
    /// No host has that name.
    #[error("there is no agent “{name}” (known: {})", known())]
    UnknownAgent {
        /// The name that was given.
        name: String,
    },
}

impl CaptureError {
    pub(super) fn unreadable(path: &Path, cause: io::Error) -> Self {
        let path = path.to_path_buf();
        if cause.kind() == io::ErrorKind::NotFound {
            CaptureError::Missing { path }
        } else {
            CaptureError::Unreadable { path, cause }
        }
    }
}

fn known() -> String {
    let names: Vec<&str> = Host::all().map(Host::name).collect();
    names.join(", ")
}
