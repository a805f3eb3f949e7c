-- Tasks that were created without an event and are not in the log of lists yet. org is the
-- organization whose board shows the task, and executor the one that executes it.
CREATE TABLE new_task (
  org TEXT NOT NULL,
  task TEXT NOT NULL,
  executor TEXT NOT NULL,
  PRIMARY KEY (org, task)
);
