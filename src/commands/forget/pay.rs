//! Does what is owed after something was forgotten: whoever wrote last does it, so that a run which was ended is made up for
//! by the next one. What cannot be done now stays owed.

use std::fs;
use std::io;
use std::path::Path;

use crate::commands::{Context, sync};
use crate::files::{Readers, replace};
use crate::merge::Thing;
use crate::storage::{Owed, Rewritten, Store};

/// The files of the log.
const LOGS: [&str; 2] = ["aizo.log", "aizo.log.1"];

/// What was done.
#[derive(Debug, Default)]
pub(in crate::commands) struct Paid {
    /// What became of the copies of the store.
    pub copies: Vec<Rewritten>,
    /// How many lines of the log went.
    pub log_lines: usize,
    /// What could not be done yet, and why.
    pub owed: Vec<String>,
}

/// Does what is owed. It fails nobody: what it could not do is told.
pub(in crate::commands) fn pay(context: &Context, store: &mut Store) {
    // First the number: what is forgotten from here on is owed all the same.
    let view = store.view();
    let Ok(mut owed) = view.owed() else {
        return;
    };
    // That waits for the next push.
    owed.remove(&Owed::Files);
    if owed.is_empty() {
        return;
    }
    // Every line of the journal is looked at, so only where there is something to do.
    let Ok(known) = view.forgettings() else {
        return;
    };
    let mut paid = Paid::default();
    let words = context.forgotten.take();
    let mut done = Vec::new();
    for step in owed {
        match carry_out(step, &words, context, store, &mut paid) {
            Ok(true) => done.push(step),
            Ok(false) => {}
            Err(why) => paid.owed.push(why),
        }
    }
    let now = context.settings.now;
    let struck = store.write(now, |transaction| transaction.pay(&done, known));
    if let Err(error) = struck {
        paid.owed.push(error.to_string());
    }
    let nobody_knows = words.is_empty();
    if nobody_knows && paid.log_lines > 0 {
        context.note("aizo's log was removed: it may have held what was forgotten");
    }
    // What `forget` itself has done is in its reply.
    if nobody_knows || context.is_syncing.get() {
        tell(&paid, context);
    }
    context.paid.replace(Some(paid));
}

/// Says what was done of what an earlier run had begun, or another device.
fn tell(paid: &Paid, context: &Context) {
    let changed = paid.copies.iter().filter(|copy| copy.is_changed).count();
    if changed > 0 {
        context.note(format!(
            "what was forgotten is gone from {changed} of aizo's copies of the store too"
        ));
    }
    for copy in &paid.copies {
        if let Some(why) = &copy.failed {
            context.note(format!(
                "{} may still hold what was forgotten: {why}",
                copy.path.display()
            ));
        }
    }
    for why in &paid.owed {
        context.note(format!("forgetting is not finished: {why}"));
    }
}

fn carry_out(
    step: Owed,
    words: &[String],
    context: &Context,
    store: &mut Store,
    paid: &mut Paid,
) -> Result<bool, String> {
    match step {
        Owed::Pages => match store.write_anew() {
            Ok(false) => Ok(true),
            Ok(true) => Err(
                "another process reads the store, and the log beside it cannot be emptied; the next change does it"
                    .to_owned(),
            ),
            Err(error) => Err(error.to_string()),
        },
        Owed::Copies => {
            paid.copies = store
                .rewrite_copies(context.settings.now)
                .map_err(|error| error.to_string())?;
            for copy in paid.copies.iter_mut().filter(|copy| copy.is_owed) {
                if let Some(why) = &mut copy.failed {
                    why.push_str("; the next change tries again");
                }
            }
            Ok(!paid.copies.iter().any(|copy| copy.is_owed))
        }
        Owed::Log => {
            let Some(home) = &context.settings.home else {
                return Ok(true);
            };
            for name in LOGS {
                paid.log_lines += clean_log(&home.join(name), words)
                    .map_err(|error| format!("{name} cannot be written: {error}"))?;
            }
            Ok(true)
        }
        Owed::Checkout => match sync::drop_checkout(context) {
            // The sync that this is does it when it ends.
            Ok(false) if !context.is_syncing.get() => Err(
                "a sync runs, and what it has fetched cannot be taken away before it ends; the next change does it"
                    .to_owned(),
            ),
            done => done.map_err(|failure| failure.to_string()),
        },
        Owed::Files => Ok(false),
    }
}

/// Takes the lines out of a log that hold one of the words; all of them where nobody knows the words any more.
fn clean_log(path: &Path, words: &[String]) -> io::Result<usize> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(&bytes);
    if words.is_empty() {
        fs::remove_file(path)?;
        return Ok(text.lines().count());
    }
    let things: Vec<Thing> = words.iter().map(|word| Thing::of(word)).collect();
    let (gone, kept): (Vec<&str>, Vec<&str>) = text
        .split_inclusive('\n')
        .partition(|line| things.iter().any(|thing| thing.shares_a_word_with(line)));
    if !gone.is_empty() {
        replace(path, kept.concat().as_bytes(), Readers::Owner)?;
    }
    Ok(gone.len())
}
