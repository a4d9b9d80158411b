//! How much work a check may be: steps and not time, so that the same text always gets the same answer.

use std::cell::Cell;

/// Steps for each byte of a command, which nothing before it can use up: what comes first must not hide what comes later.
const FOR_EACH_BYTE: usize = 16;
/// Steps for each byte of a text in which secrets are looked for: one is a byte that is judged, which takes much longer than one
/// that is passed over.
const FOR_EACH_BYTE_OF_TEXT: usize = 2;
/// Steps for all that takes more. A step is about a byte that is read or copied, so that these are some hundredths of a second.
const FOR_ALL: usize = 1 << 20;

/// The steps that are left: those that the commands so far have brought, and those for all.
#[derive(Debug)]
pub struct Budget {
    own: Cell<usize>,
    shared: Cell<usize>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            own: Cell::new(0),
            shared: Cell::new(FOR_ALL),
        }
    }
}

impl Budget {
    /// The steps for the secrets of a text of so many bytes.
    pub fn for_text(bytes: usize) -> Self {
        Budget {
            own: Cell::new(bytes.saturating_mul(FOR_EACH_BYTE_OF_TEXT)),
            ..Budget::default()
        }
    }

    /// Begins with a command of so many bytes. What the ones before it have left is there too.
    pub fn begin(&self, bytes: usize) {
        let more = bytes.saturating_mul(FOR_EACH_BYTE);
        self.own.set(self.own.get().saturating_add(more));
    }

    /// Takes so many steps, and says whether they were there. Where they were not, nothing is left.
    pub fn spend(&self, steps: usize) -> bool {
        let own = self.own.get();
        self.own.set(own.saturating_sub(steps));
        let Some(more) = steps.checked_sub(own) else {
            return true;
        };
        let left = self.shared.get().checked_sub(more);
        self.shared.set(left.unwrap_or_default());
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_command_uses_up_leaves_the_next_one_its_own() {
        let budget = Budget::default();
        budget.begin(10);
        assert!(budget.spend(10 * FOR_EACH_BYTE + FOR_ALL));
        assert!(!budget.spend(1));
        budget.begin(1);
        assert!(budget.spend(FOR_EACH_BYTE));
        assert!(!budget.spend(1));
    }

    #[test]
    fn what_is_too_much_leaves_nothing() {
        let budget = Budget::default();
        assert!(!budget.spend(FOR_ALL + 1));
        assert!(!budget.spend(1));
    }
}
