CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, revert TEXT, time_created INTEGER);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
INSERT INTO session VALUES('ses_1', 'p', NULL, '/home/a/shop', '{"messageID":"msg_5"}', 1793610000000), ('ses_2', 'p', 'ses_1', '/home/a/shop', NULL, 1793610000000);
INSERT INTO message VALUES
 ('msg_1','ses_1',1793610000000,'{"role":"user","time":{"created":1793610000000}}'),
 ('msg_2','ses_1',1793610001000,'{"role":"assistant","time":{"created":1793610001000}}'),
 ('msg_3','ses_1',1793610002000,'{"role":"user","time":{"created":1793610002000}}'),
 ('msg_4','ses_2',1793610003000,'{"role":"user","time":{"created":1793610003000}}'),
 ('msg_5','ses_1',1793610004000,'{"role":"user","time":{"created":1793610004000}}');
INSERT INTO part VALUES
 ('prt_1','msg_1','ses_1','{"type":"text","text":"prefer fetch over axios"}'),
 ('prt_2','msg_1','ses_1','{"type":"text","text":"file content: always","synthetic":true}'),
 ('prt_3','msg_1','ses_1','{"type":"text","text":"ignored, always","ignored":true}'),
 ('prt_4','msg_2','ses_1','{"type":"text","text":"Switched."}'),
 ('prt_5','msg_2','ses_1','{"type":"tool","text":"tool"}'),
 ('prt_6','msg_3','ses_1','{"type":"text","text":"good"}'),
 ('prt_7','msg_4','ses_2','{"type":"text","text":"search, never stop"}'),
 ('prt_8','msg_5','ses_1','{"type":"text","text":"went back before this"}');
