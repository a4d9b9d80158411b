//! One change to a text that can be taken back: what was put where, and what stood there before.

/// A stretch of text that was put in the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The byte at which it begins.
    pub at: usize,
    /// What stood there.
    pub removed: String,
    /// What stands there now.
    pub added: String,
}

impl Edit {
    /// The text with the change.
    pub fn apply(&self, text: &str) -> String {
        let end = self.at + self.removed.len();
        format!("{}{}{}", &text[..self.at], self.added, &text[end..])
    }

    /// The text without the change: where it was made, else at the one place where it stands. Nothing comes back when it stands
    /// nowhere, or in several places: somebody has changed it since.
    pub fn reverse(&self, text: &str) -> Option<String> {
        if self.added.is_empty() {
            return None;
        }
        let made_here = text
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(&self.added));
        let at = if made_here {
            self.at
        } else {
            let mut places = text.match_indices(&self.added);
            let (at, _) = places.next()?;
            if places.next().is_some() {
                return None;
            }
            at
        };
        let end = at + self.added.len();
        Some(format!("{}{}{}", &text[..at], self.removed, &text[end..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_taken_back_also_where_the_text_around_it_has_moved() {
        let edit = Edit {
            at: 1,
            removed: "b".into(),
            added: "XY".into(),
        };
        assert_eq!(edit.apply("abc"), "aXYc");
        assert_eq!(edit.reverse("aXYc").as_deref(), Some("abc"));
        assert_eq!(edit.reverse("more aXYc").as_deref(), Some("more abc"));
        assert_eq!(edit.reverse("aZc"), None);
        assert_eq!(edit.reverse("-XY-XY"), Some("-b-XY".into()));
        assert_eq!(edit.reverse("--XY-XY"), None);
    }
}
