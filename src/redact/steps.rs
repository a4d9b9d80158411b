//! How much work the pass over a text is: each byte is looked at once, and what takes more is counted. A text of megabytes may be
//! made so that something seems to begin at every other byte.

use std::cell::Cell;

/// Counts what is looked at more than once.
pub(super) struct Steps<'s> {
    spend: &'s dyn Fn(usize) -> bool,
    are_left: Cell<bool>,
}

impl<'s> Steps<'s> {
    /// Steps of which `spend` takes so many, and says whether they were there.
    pub(super) fn new(spend: &'s dyn Fn(usize) -> bool) -> Self {
        Steps {
            spend,
            are_left: Cell::new(true),
        }
    }

    /// Takes so many steps; nothing where they were not there.
    pub(super) fn take(&self, steps: usize) -> Option<()> {
        self.are_left
            .set(self.are_left.get() && (self.spend)(steps));
        self.are_left.get().then_some(())
    }

    /// Whether all steps so far were there.
    pub(super) fn are_left(&self) -> bool {
        self.are_left.get()
    }
}
