//! Packs what is embedded: the cue tables, the plain forms and the page of `aizo web`, which are texts to be edited and read
//! by one command alone, and the pieces of the embedding table (four hundred kilobytes less). And it tells the linker what
//! keeps a released binary small.

#![allow(clippy::print_stdout, reason = "cargo listens there")]

mod table;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

const FOLDERS: [&str; 3] = ["src/extract/cues", "src/extract/forms", "src/web/page"];
const ENDINGS: [&str; 6] = ["cues", "forms", "html", "css", "js", "svg"];
const TABLE: &str = "src/recall/table/recall.azse";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/pack");
    println!("cargo::rerun-if-changed={TABLE}");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo names OUT_DIR"))?;
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
                pack(&path, &Path::new(&out).join(file_name(&path)?))?;
            }
        }
    }
    let packed = table::pack(&fs::read(TABLE)?);
    fs::write(Path::new(&out).join("recall.table"), packed)?;
    link_small(Path::new(&out))
}

/// Leaves out what nothing reads in a program that ends with the first panic: the tables to unwind its stack. The objects
/// that a static program begins and ends with refer to theirs.
const WITHOUT_UNWIND_TABLES: &str = "SECTIONS { /DISCARD/ : {
    *(EXCLUDE_FILE(*crtbegin*.o *crtend*.o) .eh_frame) *(.eh_frame.*)
} } INSERT AFTER .text;\n";

/// What makes a released binary smaller on Linux: no tables to unwind stacks with, and relocations in the packed form that
/// glibc 2.36 and musl 1.2.4 brought. A linker of one's own choice may not know these, and gets none of them.
fn link_small(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_own_linker = env::var_os("RUSTC_LINKER").is_some()
        || ["linker", "fuse-ld"]
            .iter()
            .any(|word| flags.contains(word));
    let is_usual = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ARCH", "x86_64");
    if !is_usual || !is("PROFILE", "release") || is_own_linker {
        return Ok(());
    }
    let script = out.join("without-unwind-tables.ld");
    fs::write(&script, WITHOUT_UNWIND_TABLES)?;
    println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
    let is_for_here = env::var("HOST") == env::var("TARGET");
    if is("CARGO_CFG_TARGET_ENV", "musl") || is_for_here && reads_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    Ok(())
}

/// Whether the C library of this machine reads packed relocations.
fn reads_packed_relocations() -> bool {
    let Ok(said) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else {
        return false;
    };
    let said = String::from_utf8_lossy(&said.stdout);
    let version = said.trim().strip_prefix("glibc 2.");
    version
        .and_then(|minor| minor.split('.').next()?.parse::<u32>().ok())
        .is_some_and(|minor| minor >= 36)
}

fn file_name(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("a file has a name"))?;
    Ok(PathBuf::from(name))
}

fn pack(from: &Path, to: &Path) -> io::Result<()> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&fs::read(from)?)?;
    fs::write(to, packed.finish()?)
}
