-- Lists of workers and teams that have changed and are not in the log of lists yet. Each
-- change adds a row, so that transactions do not wait for each other.
CREATE TABLE changed_list (
  org TEXT NOT NULL,
  kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  id BIGINT NOT NULL,
  PRIMARY KEY (org, kind, owner, id)
);

-- The log of lists: earlier states of the lists of workers and teams. nth numbers the entries
-- of an organization, and seq is the number of the last event before the entry.
CREATE TABLE list_entry (
  org TEXT NOT NULL,
  nth BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  created BIGINT NOT NULL,
  body BYTEA NOT NULL,
  PRIMARY KEY (org, nth)
);
CREATE INDEX list_entry_seq ON list_entry (org, seq, nth);
CREATE INDEX list_entry_created ON list_entry (created);
ALTER TABLE event_head ADD COLUMN lists BIGINT NOT NULL DEFAULT 0;

-- When the tasks of a worker were estimated last, in milliseconds. It grows each time.
ALTER TABLE worker_watch ADD COLUMN estimated BIGINT NOT NULL DEFAULT 0;

-- Tasks of connections that were completed on a day.
CREATE INDEX task_origin_completed ON task (origin, completed) WHERE origin IS NOT NULL AND completed IS NOT NULL;
