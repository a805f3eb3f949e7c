-- Ids begin with the time, so that the newest ones of all organizations are next to each
-- other in an index by id. PostgreSQL used it to find records by organization and id, and
-- transactions of different organizations then conflicted, because reading the newest records
-- conflicts with adding others. A partial index is used only by statements that have its
-- condition, which are those that find records by their ids alone.

DROP INDEX task_id;
CREATE INDEX task_id ON task (id) WHERE id <> '';
DROP INDEX destination_id;
CREATE INDEX destination_id ON destination (id) WHERE id <> '';
DROP INDEX recipient_id;
CREATE INDEX recipient_id ON recipient (id) WHERE id <> '';
DROP INDEX notification_id;
CREATE INDEX notification_id ON notification (id) WHERE id <> '';
