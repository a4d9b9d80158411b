//! Packs the cue tables and the plain forms: they are texts to be edited, read by `analyze` alone, and a hundred kilobytes
//! smaller packed.

#![allow(clippy::print_stdout, reason = "cargo listens there")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FOLDERS: [&str; 2] = ["src/extract/cues", "src/extract/forms"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/extract/cues/pack.rs");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo names OUT_DIR"))?;
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let is_table = |ending: &std::ffi::OsStr| ending == "cues" || ending == "forms";
            if path.extension().is_some_and(is_table) {
                pack(&path, &Path::new(&out).join(file_name(&path)?))?;
            }
        }
    }
    Ok(())
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
