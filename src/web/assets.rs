//! The files of the page, as they are in `page/`, packed into the program.

use std::io::Read;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of the page.
#[derive(Debug, PartialEq, Eq)]
pub struct Asset {
    path: &'static str,
    /// Its type.
    pub kind: &'static str,
    packed: &'static [u8],
}

macro_rules! asset {
    ($path:literal, $kind:expr) => {
        asset!(concat!("/", $path), $path, $kind)
    };
    ($path:expr, $file:literal, $kind:expr) => {
        Asset {
            path: $path,
            kind: $kind,
            packed: include_bytes!(concat!(env!("OUT_DIR"), "/", $file)),
        }
    };
}

static ASSETS: [Asset; 18] = [
    asset!("/", "index.html", HTML),
    asset!("style.css", "text/css; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
    asset!("main.js", SCRIPT),
    asset!("address.js", SCRIPT),
    asset!("agent.js", SCRIPT),
    asset!("decay.js", SCRIPT),
    asset!("draw.js", SCRIPT),
    asset!("entry.js", SCRIPT),
    asset!("forms.js", SCRIPT),
    asset!("history.js", SCRIPT),
    asset!("profile.js", SCRIPT),
    asset!("review.js", SCRIPT),
    asset!("server.js", SCRIPT),
    asset!("state.js", SCRIPT),
    asset!("store.js", SCRIPT),
    asset!("table.js", SCRIPT),
    asset!("words.js", SCRIPT),
];

impl Asset {
    /// The file at a path.
    pub fn at(path: &str) -> Option<&'static Self> {
        ASSETS.iter().find(|asset| asset.path == path)
    }

    /// What is in it.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        flate2::read::ZlibDecoder::new(self.packed)
            .read_to_end(&mut bytes)
            .expect("the build script has packed it");
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_page_is_served_as_it_is() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/page");
        let mut served = 0;
        for entry in fs::read_dir(folder).expect("there is a page") {
            let entry = entry.expect("a file");
            let name = entry.file_name().into_string().expect("a plain name");
            let path = match name.as_str() {
                "index.html" => "/".to_owned(),
                other => format!("/{other}"),
            };
            let asset = Asset::at(&path).unwrap_or_else(|| panic!("{name} is not served"));
            assert_eq!(
                asset.bytes(),
                fs::read(entry.path()).expect("it reads"),
                "{name}"
            );
            served += 1;
        }
        assert_eq!(served, ASSETS.len());
    }

    #[test]
    fn the_page_names_nothing_outside_itself() {
        for asset in &ASSETS {
            let text = String::from_utf8(asset.bytes()).expect("text");
            let outside = text.replace("http://www.w3.org/2000/svg", "");
            assert!(
                !outside.contains("http:") && !outside.contains("https:"),
                "{}",
                asset.path
            );
            for way in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
                "setAttribute(\"style\"",
            ] {
                assert!(!text.contains(way), "{}: {way}", asset.path);
            }
        }
    }
}
