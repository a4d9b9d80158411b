-- What recall reads: made from the rows, and made anew when its recipe changes. Nothing here is in the journal.

-- Folded pieces, so that a plain tokenizer finds what people mean; any SQLite with FTS5 can search it. Private-use
-- characters stand between keywords, so that no phrase runs from one into the next.
CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(
    item, reason, keywords, stems,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc Me'"
);

-- The score within its range, and when the entry was last seen (microseconds since 1970). Small rows, so that the
-- weights of many entries are read from few pages.
CREATE TABLE IF NOT EXISTS recall_index (
    id     INTEGER PRIMARY KEY,
    score  REAL    NOT NULL,
    seen   INTEGER NOT NULL
);
-- Within one score the weight falls as `seen` does, so a walk along this index can end early.
CREATE INDEX IF NOT EXISTS recall_order ON recall_index(score DESC, seen DESC);

-- What an entry is about.
CREATE TABLE IF NOT EXISTS vectors (
    id     INTEGER PRIMARY KEY,
    vector BLOB NOT NULL
);
-- The same of the hard limits alone, beside each other: every task is compared with all of them.
CREATE TABLE IF NOT EXISTS limit_vectors (
    id     INTEGER PRIMARY KEY,
    vector BLOB NOT NULL
);

-- Sketches of 126 vectors each, a page full of them: read in one go before the vectors themselves.
CREATE TABLE IF NOT EXISTS sketches (
    block INTEGER PRIMARY KEY,
    bits  BLOB NOT NULL
);
