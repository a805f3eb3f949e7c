-- The time before which the estimates of a long list are not refreshed again, even if it changes.
ALTER TABLE worker_watch ADD COLUMN rest_until BIGINT NOT NULL DEFAULT 0;
-- Free space in pages for new versions of their rows, so that an update that changes no indexed
-- column does not change the indexes.
ALTER TABLE task SET (fillfactor = 70);
ALTER TABLE worker SET (fillfactor = 70);
ALTER TABLE worker_watch SET (fillfactor = 70);
ALTER TABLE container SET (fillfactor = 70);
ALTER TABLE event_head SET (fillfactor = 70);
