//! A conversation as a tree of records: finds what its author took back by going back and typing anew.
//!
//! Who goes back to before a turn and types again makes a second turn with the same turn above it; the newer one
//! counts, and the older one is withdrawn with all below it. Only turns are kept, and of the other records a short
//! hash of the latest and of those that turns hang on: memory does not grow with the file. A chain that begins
//! anew, or whose link is not known, is a beginning and takes nothing back.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::digest;

/// How many records are remembered at least.
const WINDOW: usize = 1 << 16;
/// How many turns and how many records a cursor carries along.
const CARRIED_TURNS: usize = 32;
const CARRIED_RECORDS: usize = 16;

/// A turn, or the beginning of a chain.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Node {
    /// The hash of its record; 0 for a beginning.
    record: u64,
    /// The hash of the record it hangs on.
    parent: Option<u64>,
    /// The turn above it.
    above: Option<usize>,
    /// Whether it was typed at the prompt: only there can one go back to.
    typed: bool,
    /// The keys of what was said there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gone: bool,
}

/// The tree of one file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The latest records, each with the turn at or above it, in their order: for a cursor.
    latest: VecDeque<(u64, usize)>,
    /// The records that turns hang on, which may be gone back to at any time.
    #[serde(skip)]
    anchors: HashMap<u64, usize>,
    /// The records of the window, in two generations.
    #[serde(skip)]
    young: HashMap<u64, usize>,
    #[serde(skip)]
    old: HashMap<u64, usize>,
}

/// A record and the one it hangs on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    id: u64,
    parent: Option<u64>,
}

impl Edge {
    pub(super) fn new(id: &[u8], parent: Option<&[u8]>) -> Self {
        Edge {
            id: digest::short(id),
            parent: parent.map(digest::short),
        }
    }
}

impl Tree {
    /// Whether this record was handed in as a turn before.
    pub(super) fn has_turn(&self, edge: Edge) -> bool {
        self.turn_at(edge.id)
            .is_some_and(|at| self.nodes[at].record == edge.id)
    }

    /// Takes a record that is no turn.
    pub(super) fn record(&mut self, edge: Edge) {
        let above = self.above(edge);
        self.remember(edge.id, above);
    }

    /// Takes a turn, and returns the keys of those that are withdrawn by it. Its own keys come by [`Tree::said`].
    pub(super) fn turn(&mut self, edge: Edge, typed: bool) -> Vec<String> {
        let above = self.above(edge);
        let withdrawn = if typed {
            self.withdraw_beside(above)
        } else {
            Vec::new()
        };
        if let Some(parent) = edge.parent {
            self.anchors.insert(parent, above);
        }
        self.nodes.push(Node {
            record: edge.id,
            parent: edge.parent,
            above: Some(above),
            typed,
            keys: Vec::new(),
            gone: false,
        });
        self.remember(edge.id, self.nodes.len() - 1);
        withdrawn
    }

    /// Takes the keys of what was said in the turn that came last.
    pub(super) fn said(&mut self, keys: Vec<String>) {
        if let Some(node) = self.nodes.last_mut() {
            node.keys = keys;
        }
    }

    fn withdraw_beside(&mut self, above: usize) -> Vec<String> {
        let mut withdrawn = Vec::new();
        let mut going = vec![false; self.nodes.len() - above];
        for at in above + 1..self.nodes.len() {
            let node = &mut self.nodes[at];
            let beside = node.above == Some(above) && node.typed;
            let below = node.above.is_some_and(|up| up > above && going[up - above]);
            if beside || below {
                going[at - above] = true;
                if !node.gone {
                    node.gone = true;
                    withdrawn.append(&mut node.keys);
                }
            }
        }
        withdrawn
    }

    /// The turn above a record, or a new beginning.
    fn above(&mut self, edge: Edge) -> usize {
        if let Some(at) = edge.parent.and_then(|parent| self.turn_at(parent)) {
            return at;
        }
        self.nodes.push(Node::default());
        self.nodes.len() - 1
    }

    fn turn_at(&self, record: u64) -> Option<usize> {
        [&self.young, &self.old, &self.anchors]
            .iter()
            .find_map(|map| map.get(&record))
            .copied()
    }

    fn remember(&mut self, record: u64, turn: usize) {
        if self.young.len() >= WINDOW {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(record, turn);
        if self.latest.len() == CARRIED_RECORDS {
            self.latest.pop_front();
        }
        self.latest.push_back((record, turn));
    }

    /// The part that a cursor carries along: the latest turns.
    pub(super) fn carried(&self) -> Tree {
        let cut = self.nodes.len().saturating_sub(CARRIED_TURNS);
        let kept = |at: usize| at.checked_sub(cut);
        Tree {
            nodes: self.nodes[cut..]
                .iter()
                .map(|node| Node {
                    above: node.above.and_then(kept),
                    ..node.clone()
                })
                .collect(),
            latest: self
                .latest
                .iter()
                .filter_map(|&(record, turn)| Some((record, kept(turn)?)))
                .collect(),
            ..Tree::default()
        }
    }

    /// Makes a tree that a cursor carried ready to go on.
    pub(super) fn wake(&mut self) {
        let count = self.nodes.len();
        self.latest.retain(|(_, turn)| *turn < count);
        for at in 0..count {
            let node = &mut self.nodes[at];
            node.above = node.above.filter(|above| *above < at);
            if let (Some(parent), Some(above)) = (node.parent, node.above) {
                self.anchors.insert(parent, above);
            }
            if node.record != 0 {
                self.young.insert(node.record, at);
            }
        }
        self.young.extend(self.latest.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(id: &str, parent: &str) -> Edge {
        Edge::new(
            id.as_bytes(),
            (!parent.is_empty()).then_some(parent.as_bytes()),
        )
    }

    fn turn(tree: &mut Tree, id: &str, parent: &str) -> Vec<String> {
        let withdrawn = tree.turn(edge(id, parent), true);
        tree.said(vec![id.to_owned()]);
        withdrawn
    }

    #[test]
    fn typing_anew_withdraws_the_turn_and_all_below_it() {
        let mut tree = Tree::default();
        assert!(turn(&mut tree, "u1", "").is_empty());
        tree.record(edge("a1", "u1"));
        assert!(turn(&mut tree, "u2", "a1").is_empty());
        tree.record(edge("a2", "u2"));
        assert!(turn(&mut tree, "u3", "a2").is_empty());
        // Back to before u2, by way of a record that a program wrote.
        tree.record(edge("s1", "a1"));
        assert_eq!(turn(&mut tree, "u4", "s1"), ["u2", "u3"]);
        // And once more: what is gone is not withdrawn twice.
        assert_eq!(turn(&mut tree, "u5", "a1"), ["u4"]);
        assert!(tree.has_turn(edge("u1", "")) && !tree.has_turn(edge("a1", "u1")));
    }

    #[test]
    fn a_chain_that_begins_anew_and_parallel_tools_take_nothing_back() {
        let mut tree = Tree::default();
        turn(&mut tree, "u1", "");
        tree.record(edge("a1", "u1"));
        tree.record(edge("a2", "a1"));
        // Two tools at once; something was typed while one of them ran.
        tree.record(edge("r1", "a1"));
        assert!(tree.turn(edge("q1", "r1"), false).is_empty());
        tree.record(edge("r2", "a2"));
        assert!(turn(&mut tree, "u2", "r2").is_empty());
        assert!(turn(&mut tree, "u3", "").is_empty());
        assert!(turn(&mut tree, "u4", "nobody knows").is_empty());
    }

    #[test]
    fn a_tree_that_a_cursor_carried_goes_on() {
        let mut tree = Tree::default();
        let mut last = String::new();
        for number in 0..200 {
            let (user, agent) = (format!("u{number}"), format!("a{number}"));
            turn(&mut tree, &user, &last);
            tree.record(edge(&agent, &user));
            last = agent;
        }
        let text = serde_json::to_string(&tree.carried()).expect("a tree is JSON");
        let mut tree: Tree = serde_json::from_str(&text).expect("it was written here");
        tree.wake();
        assert_eq!(turn(&mut tree, "new", "a197"), ["u198", "u199"]);
    }
}
