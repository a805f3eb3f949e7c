-- The keys under which organizations created tasks: each creates one task, and is free again
-- once that task is deleted. The task may be in the organization that executes it.
CREATE TABLE import_key (
  org TEXT NOT NULL,
  key TEXT NOT NULL,
  task TEXT NOT NULL,
  PRIMARY KEY (org, key)
);
CREATE INDEX import_key_task ON import_key (org, task);
