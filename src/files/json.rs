//! Objects and paths in JSON, as records and replies about files write them.

use std::path::Path;

use serde_json::{Map, Value};

/// A path as text.
pub fn path(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

/// An object with these members in this order.
pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let mut all = Map::new();
    for (name, value) in members {
        all.insert(name.to_owned(), value);
    }
    Value::Object(all)
}
