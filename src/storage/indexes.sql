-- Made after the rows of an earlier version have been united, so that the unique ones hold.

CREATE UNIQUE INDEX IF NOT EXISTS idx_pref_item ON preferences(LOWER(item));
CREATE UNIQUE INDEX IF NOT EXISTS preferences_item_key ON preferences(item_key);
CREATE UNIQUE INDEX IF NOT EXISTS preferences_uid ON preferences(uid);
CREATE INDEX IF NOT EXISTS idx_preference_scenarios_scenario ON preference_scenarios(scenario);
CREATE INDEX IF NOT EXISTS evidence_preference ON evidence(preference_id);
CREATE INDEX IF NOT EXISTS journal_record ON journal(kind, uid);
CREATE INDEX IF NOT EXISTS journal_batch ON journal(batch);
CREATE INDEX IF NOT EXISTS journal_undoes ON journal(undoes) WHERE undoes IS NOT NULL;

-- Every write notes its row here. A transaction of ours empties the list before it ends, so what
-- stays was written by another program. Plain SQL, so that it works in any SQLite; and no conflict
-- clause, since the one of the firing statement would override it.
-- A row that REPLACE removes fires no trigger of its own.
CREATE TRIGGER IF NOT EXISTS note_entry_replaced_by_insert BEFORE INSERT ON preferences BEGIN
    INSERT INTO outside_changes SELECT 'entry', p.id, p.uid FROM preferences p
    WHERE (p.id = NEW.id OR LOWER(p.item) = LOWER(NEW.item))
      AND NOT EXISTS (SELECT 1 FROM outside_changes o WHERE o.kind = 'entry' AND o.id = p.id);
END;
CREATE TRIGGER IF NOT EXISTS note_entry_replaced_by_update BEFORE UPDATE OF id, item ON preferences BEGIN
    INSERT INTO outside_changes SELECT 'entry', p.id, p.uid FROM preferences p
    WHERE (p.id = NEW.id OR LOWER(p.item) = LOWER(NEW.item))
      AND NOT EXISTS (SELECT 1 FROM outside_changes o WHERE o.kind = 'entry' AND o.id = p.id);
END;
CREATE TRIGGER IF NOT EXISTS note_entry_insert AFTER INSERT ON preferences BEGIN
    INSERT INTO outside_changes SELECT 'entry', NEW.id, NEW.uid
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'entry' AND id = NEW.id);
END;
CREATE TRIGGER IF NOT EXISTS note_entry_update AFTER UPDATE ON preferences BEGIN
    INSERT INTO outside_changes SELECT 'entry', OLD.id, OLD.uid
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'entry' AND id = OLD.id);
    INSERT INTO outside_changes SELECT 'entry', NEW.id, NEW.uid
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'entry' AND id = NEW.id);
END;
-- A cascade may have noted the row before, when its name could no longer be looked up.
CREATE TRIGGER IF NOT EXISTS note_entry_delete AFTER DELETE ON preferences BEGIN
    DELETE FROM outside_changes WHERE kind = 'entry' AND id = OLD.id;
    INSERT INTO outside_changes VALUES ('entry', OLD.id, OLD.uid);
END;
CREATE TRIGGER IF NOT EXISTS note_scenario_insert AFTER INSERT ON preference_scenarios BEGIN
    INSERT INTO outside_changes SELECT 'entry', NEW.preference_id, (SELECT uid FROM preferences WHERE id = NEW.preference_id)
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'entry' AND id = NEW.preference_id);
END;
CREATE TRIGGER IF NOT EXISTS note_scenario_update AFTER UPDATE ON preference_scenarios BEGIN
    INSERT INTO outside_changes SELECT 'entry', OLD.preference_id, (SELECT uid FROM preferences WHERE id = OLD.preference_id)
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'entry' AND id = OLD.preference_id);
    INSERT INTO outside_changes SELECT 'entry', NEW.preference_id, (SELECT uid FROM preferences WHERE id = NEW.preference_id)
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'entry' AND id = NEW.preference_id);
END;
CREATE TRIGGER IF NOT EXISTS note_scenario_delete AFTER DELETE ON preference_scenarios BEGIN
    INSERT INTO outside_changes SELECT 'entry', OLD.preference_id, (SELECT uid FROM preferences WHERE id = OLD.preference_id)
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'entry' AND id = OLD.preference_id);
END;
CREATE TRIGGER IF NOT EXISTS note_decay_update AFTER UPDATE ON decay_config BEGIN
    INSERT INTO outside_changes SELECT 'decay', 1, NULL
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'decay');
END;
CREATE TRIGGER IF NOT EXISTS note_decay_delete AFTER DELETE ON decay_config BEGIN
    INSERT INTO outside_changes SELECT 'decay', 1, NULL
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'decay');
END;
CREATE TRIGGER IF NOT EXISTS note_session_insert AFTER INSERT ON sessions BEGIN
    INSERT INTO outside_changes SELECT 'session', NEW.id, NULL
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'session' AND id = NEW.id);
END;
CREATE TRIGGER IF NOT EXISTS note_session_update AFTER UPDATE ON sessions BEGIN
    INSERT INTO outside_changes SELECT 'session', NEW.id, NULL
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'session' AND id = NEW.id);
END;
CREATE TRIGGER IF NOT EXISTS note_session_delete AFTER DELETE ON sessions BEGIN
    INSERT INTO outside_changes SELECT 'session', OLD.id, NULL
    WHERE NOT EXISTS (SELECT 1 FROM outside_changes WHERE kind = 'session' AND id = OLD.id);
END;
