//! Exports as they are downloaded: a zip file of which the members `conversations*.json` count.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

/// The signatures of the parts of an archive.
const END: &[u8] = b"PK\x05\x06";
const LARGE_END: &[u8] = b"PK\x06\x06";
const LARGE_LOCATOR: &[u8] = b"PK\x06\x07";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";

/// The longest list of members that is read, in bytes.
const LONGEST_LIST: u64 = 64 << 20;

/// A downloaded export.
pub(super) struct Archive {
    file: File,
    /// The members that hold conversations, in the order of their names.
    pub(super) members: Vec<Member>,
}

/// A member of an archive.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    encrypted: bool,
    method: u16,
    packed: u64,
    /// Where its own header stands.
    start: u64,
}

impl Archive {
    /// Opens an export; nothing comes back where its list of members cannot be read.
    pub(super) fn open(mut file: File) -> io::Result<Option<Self>> {
        let Some(list) = read_list(&mut file)? else {
            return Ok(None);
        };
        let mut members = parse_list(&list);
        members.retain(|member| is_conversations(&member.name));
        members.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Some(Archive { file, members }))
    }

    /// A member's content; nothing where it is damaged or packed in a way that is not known.
    pub(super) fn content(&mut self, member: &Member) -> io::Result<Option<Box<dyn Read + '_>>> {
        let Some(header) = read_at(&mut self.file, member.start, 30)? else {
            return Ok(None);
        };
        if !header.starts_with(LOCAL) || member.encrypted {
            return Ok(None);
        }
        let names = u64::from(short(&header, 26)) + u64::from(short(&header, 28));
        self.file.seek(SeekFrom::Start(member.start + 30 + names))?;
        let packed = Read::take(&self.file, member.packed);
        Ok(match member.method {
            0 => Some(Box::new(packed)),
            8 => Some(Box::new(DeflateDecoder::new(packed))),
            _ => None,
        })
    }
}

/// Reads the list at the end of an archive.
fn read_list(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    /// The end and the longest comment behind it.
    const LONGEST_END: u64 = 22 + 0xFFFF;
    let size = file.metadata()?.len();
    let from = size.saturating_sub(LONGEST_END);
    let Some(last) = read_at(file, from, (size - from) as usize)? else {
        return Ok(None);
    };
    let Some(at) = memchr::memmem::rfind(&last, END) else {
        return Ok(None);
    };
    let end = &last[at..];
    if end.len() < 22 {
        return Ok(None);
    }
    let (mut length, mut start) = (u64::from(word(end, 12)), u64::from(word(end, 16)));
    if length == u64::from(u32::MAX) || start == u64::from(u32::MAX) {
        // Larger than four gigabytes: the numbers stand in an end of another kind.
        let locator = at.checked_sub(20).map(|at| &last[at..at + 20]);
        let Some(locator) = locator.filter(|locator| locator.starts_with(LARGE_LOCATOR)) else {
            return Ok(None);
        };
        let Some(end) = read_at(file, long(locator, 8), 56)? else {
            return Ok(None);
        };
        if !end.starts_with(LARGE_END) {
            return Ok(None);
        }
        (length, start) = (long(&end, 40), long(&end, 48));
    }
    if length > LONGEST_LIST {
        return Ok(None);
    }
    read_at(file, start, length as usize)
}

fn parse_list(list: &[u8]) -> Vec<Member> {
    let mut members = Vec::new();
    let mut rest = list;
    while rest.len() >= 46 && rest.starts_with(ENTRY) {
        let lengths = [28, 30, 32].map(|at| usize::from(short(rest, at)));
        let [name, extra, _comment] = lengths;
        let Some(names) = rest.get(46..46 + name + extra) else {
            break;
        };
        let (name, extra) = names.split_at(name);
        let mut sizes = [24, 20, 42].map(|at| u64::from(word(rest, at)));
        let mut large = large_sizes(extra);
        for size in &mut sizes {
            // Only what did not fit stands there.
            if *size == u64::from(u32::MAX)
                && let Some((first, others)) = large.split_at_checked(8)
            {
                *size = long(first, 0);
                large = others;
            }
        }
        let [_unpacked, packed, start] = sizes;
        members.push(Member {
            name: String::from_utf8_lossy(name).into_owned(),
            encrypted: short(rest, 8) & 1 != 0,
            method: short(rest, 10),
            packed,
            start,
        });
        let whole = 46 + lengths.iter().sum::<usize>();
        rest = rest.get(whole..).unwrap_or_default();
    }
    members
}

/// The sizes of a member that do not fit into the list.
fn large_sizes(mut extra: &[u8]) -> &[u8] {
    while extra.len() >= 4 {
        let (head, rest) = extra.split_at(4);
        let length = usize::from(short(head, 2)).min(rest.len());
        if short(head, 0) == 1 {
            return &rest[..length];
        }
        extra = &rest[length..];
    }
    &[]
}

/// So many bytes from there; nothing where the file ends before.
fn read_at(file: &mut File, position: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
    file.seek(SeekFrom::Start(position))?;
    let mut bytes = Vec::new();
    Read::take(file, length as u64).read_to_end(&mut bytes)?;
    Ok((bytes.len() == length).then_some(bytes))
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from(short(bytes, at)) | u32::from(short(bytes, at + 2)) << 16
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

fn is_conversations(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.to_lowercase();
    name.starts_with("conversations") && name.ends_with(".json")
}
