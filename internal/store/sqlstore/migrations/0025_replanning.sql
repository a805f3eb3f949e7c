-- What keeps a task where it is when routes are planned: 0 nothing, 1 its worker, 2 its
-- worker and its position.
ALTER TABLE task ADD COLUMN pin BIGINT NOT NULL DEFAULT 0;
