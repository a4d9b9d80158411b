-- The tables of schema 8. Every statement may meet a table that an earlier version made.

CREATE TABLE IF NOT EXISTS schema_meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS decay_config (
    id              INTEGER PRIMARY KEY CHECK(id = 1),
    half_life_days  REAL    NOT NULL DEFAULT 30.0,
    floor           REAL    NOT NULL DEFAULT 0.1
);
INSERT OR IGNORE INTO decay_config (id) VALUES (1);

CREATE TABLE IF NOT EXISTS preferences (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    item        TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    keywords    TEXT    NOT NULL DEFAULT '',
    base_score  REAL    NOT NULL DEFAULT 5.0,
    source      TEXT    NOT NULL DEFAULT 'manual',
    added_at    TEXT    NOT NULL,
    last_seen   TEXT    NOT NULL,
    touch_count INTEGER NOT NULL DEFAULT 0,
    -- Names the entry on every device; empty in a row that another program wrote.
    uid         TEXT,
    -- The folded item, by which it is unique; empty in a row that another program wrote.
    item_key    TEXT,
    origin      TEXT    NOT NULL DEFAULT 'user',
    -- What breaks it for certain, one pattern a line; NULL where there is none.
    pattern     TEXT    DEFAULT NULL
);

CREATE TABLE IF NOT EXISTS preference_scenarios (
    preference_id INTEGER NOT NULL,
    scenario      TEXT    NOT NULL,
    PRIMARY KEY (preference_id, scenario),
    FOREIGN KEY (preference_id) REFERENCES preferences(id) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS sessions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    analyzed_at  TEXT    NOT NULL,
    extracted    INTEGER NOT NULL DEFAULT 0,
    content_hash TEXT    NOT NULL DEFAULT ''
);

CREATE TABLE IF NOT EXISTS evidence (
    uid           TEXT PRIMARY KEY,
    preference_id INTEGER NOT NULL REFERENCES preferences(id) ON DELETE CASCADE,
    at            TEXT NOT NULL,
    quote         TEXT NOT NULL,
    speaker       TEXT NOT NULL,
    origin        TEXT NOT NULL,
    source        TEXT NOT NULL,
    score         REAL,
    agent         TEXT,
    session       TEXT,
    place         TEXT,
    confidence    REAL,
    cues          TEXT
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS proposals (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    uid         TEXT NOT NULL UNIQUE,
    item        TEXT NOT NULL,
    reason      TEXT NOT NULL,
    keywords    TEXT NOT NULL,
    scenarios   TEXT NOT NULL,
    score       REAL,
    source      TEXT NOT NULL,
    origin      TEXT NOT NULL,
    proposed_at TEXT NOT NULL,
    why         TEXT NOT NULL,
    evidence    TEXT NOT NULL,
    pattern     TEXT DEFAULT NULL
);

-- One line per changed record. A line is never altered, but that it loses what is forgotten.
CREATE TABLE IF NOT EXISTS journal (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    version       INTEGER NOT NULL,
    batch         TEXT NOT NULL,
    at            TEXT NOT NULL,
    hlc           TEXT NOT NULL,
    device        TEXT NOT NULL,
    op            TEXT NOT NULL,
    kind          TEXT NOT NULL,
    uid           TEXT NOT NULL,
    origin        TEXT NOT NULL,
    -- JSON objects; NULL before means that the record did not exist, NULL after that it no longer does.
    values_before TEXT,
    values_after  TEXT,
    -- JSON lists of the observations that came or went with the change.
    evidence_added   TEXT NOT NULL DEFAULT '[]',
    evidence_removed TEXT NOT NULL DEFAULT '[]',
    -- The batch that this line takes back.
    undoes        TEXT,
    -- The record's number in this file; means nothing elsewhere.
    local_id      INTEGER
);

-- What another program changed and the journal does not know yet.
CREATE TABLE IF NOT EXISTS outside_changes (
    kind TEXT    NOT NULL,
    id   INTEGER NOT NULL,
    uid  TEXT,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
