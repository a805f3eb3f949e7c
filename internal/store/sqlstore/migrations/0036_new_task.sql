-- Tasks that were created without an event and are not in the log of lists yet: for the board
-- of an organization, the tasks of an executor.
CREATE TABLE new_task (
  org TEXT NOT NULL,
  task TEXT NOT NULL,
  executor TEXT NOT NULL,
  PRIMARY KEY (org, task)
);
