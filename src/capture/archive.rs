//! Exports as they are downloaded: a zip file of which the members `conversations*.json` count.

use std::fs::File;
use std::io::{self, BufReader};

use zip::ZipArchive;
use zip::result::ZipError;

/// The members of an export that hold conversations, in the order of their names.
pub(super) struct Archive {
    archive: ZipArchive<BufReader<File>>,
    pub(super) members: Vec<String>,
}

impl Archive {
    /// Opens an export; nothing comes back where it is damaged.
    pub(super) fn open(file: File) -> io::Result<Option<Self>> {
        let archive = match ZipArchive::new(BufReader::new(file)) {
            Ok(archive) => archive,
            Err(ZipError::Io(error)) if error.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(error);
            }
            Err(_) => return Ok(None),
        };
        let mut members: Vec<String> = archive
            .file_names()
            .filter_map(|name| Some(name.ok()?.into_owned()))
            .filter(|name| is_conversations(name))
            .collect();
        members.sort();
        Ok(Some(Archive { archive, members }))
    }

    /// A member's content; nothing where it cannot be unpacked.
    pub(super) fn member(&mut self, name: &str) -> Option<impl io::Read + '_> {
        self.archive.by_name(name).ok()
    }
}

fn is_conversations(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.to_lowercase();
    name.starts_with("conversations") && name.ends_with(".json")
}
