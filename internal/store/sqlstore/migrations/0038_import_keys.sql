-- The keys with which organizations imported tasks. A key creates one task, and can be used
-- again after that task was deleted. The task may belong to another organization, which
-- executes it.
CREATE TABLE import_key (
  org TEXT NOT NULL,
  key TEXT NOT NULL,
  task TEXT NOT NULL,
  PRIMARY KEY (org, key)
);
CREATE INDEX import_key_task ON import_key (org, task);
