CREATE TABLE session(id TEXT PRIMARY KEY, parent_id TEXT);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, data TEXT);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
CREATE TABLE session_message(id TEXT PRIMARY KEY, session_id TEXT, type TEXT, data TEXT);
INSERT INTO session VALUES('ses_1', NULL), ('ses_2', 'ses_1');
INSERT INTO session_message VALUES
 ('m1','ses_1','user','{"text":"strict mode on","time":{"created":1793610000000}}'),
 ('m2','ses_1','synthetic','{"text":"I am synthetic"}'),
 ('m3','ses_2','user','{"text":"of a subagent"}');
INSERT INTO message VALUES('msg_1','ses_1','{"role":"user"}'), ('msg_2','ses_1','{"role":"user"}');
INSERT INTO part VALUES('prt_1','msg_1','ses_1','{"type":"text","text":"strict mode on"}'), ('prt_2','msg_2','ses_1','{"type":"text","text":"not moved yet"}');
