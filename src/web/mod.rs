//! The page of `aizo web`: what a browser may ask for, who may ask, and how it is answered. Pure: bytes become a request, a
//! request becomes a route or a refusal, an answer becomes bytes. Sockets, time limits and the store are the command's.
//!
//! ```text
//! request.rs     bytes → a request, bounded
//! gate.rs        a request → what it asks for, if it may: Host, Origin, key
//! response.rs    an answer → bytes, with the headers that keep the page to itself
//! assets.rs      the page itself: page/, packed by the build script
//! ```
//!
//! A browser lets any site send requests to this machine, and cookies know no ports: whatever serves `127.0.0.1` would get one
//! of ours. So the key stands behind the `#` of the address, which is never sent by itself, and the page sends it in a header,
//! which no other site can do without being asked for permission first, and that is never given. A browser is started with a
//! ticket instead, since its command line is for everybody to see.
//!
//! A panic would end the program, and the page with it. So nothing here unwraps or indexes what comes from outside: bytes are read
//! by parsers that give an error, a ticket's lock that was poisoned is used all the same, and what a command is asked goes the way of
//! the command line. `no_words_end_the_server` in `commands/web/ask.rs` and the fuzzing of requests hold it to that.

mod assets;
mod gate;
mod request;
mod response;

pub use assets::Asset;
pub use gate::{Gate, Route, Shown, Ticket};
pub use request::{Incoming, LONGEST_BODY, LONGEST_HEAD, Method, Request};
pub use response::{Refusal, Response};
