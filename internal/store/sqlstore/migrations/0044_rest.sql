-- Until when the estimates of a long list are not refreshed again, whatever changes.
ALTER TABLE worker_watch ADD COLUMN rest_until BIGINT NOT NULL DEFAULT 0;
-- Room for new versions of a row next to it: one that changes no indexed column then leaves
-- the indexes as they are.
ALTER TABLE task SET (fillfactor = 70);
ALTER TABLE worker SET (fillfactor = 70);
ALTER TABLE worker_watch SET (fillfactor = 70);
ALTER TABLE container SET (fillfactor = 70);
ALTER TABLE event_head SET (fillfactor = 70);
