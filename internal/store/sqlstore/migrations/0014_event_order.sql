-- nth grows with every event that a process appends, so that events of the same
-- millisecond are numbered in the order in which they were caused.
ALTER TABLE event ADD COLUMN nth BIGINT NOT NULL DEFAULT 0;
