CREATE TABLE sessions(session_key TEXT PRIMARY KEY, session_id TEXT);
CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB);
INSERT INTO sessions VALUES('agent:main:main','d1'), ('agent:main:cron:nightly','d2');
INSERT INTO transcript_events VALUES
 ('d1',1,'{"type":"session","version":3,"id":"d1","timestamp":"2026-11-05T13:00:00.000Z"}',NULL),
 ('d1',2,'{"type":"message","id":"e1","parentId":null,"timestamp":"2026-11-05T13:03:00.000Z","message":{"role":"user","content":"call me Al"}}',NULL),
 ('d2',1,'{"type":"message","id":"e1","parentId":null,"message":{"role":"user","content":"nightly, always"}}',NULL);
