-- Clients of couriers: org delivers for organization. The rows of deleted clients stay, so
-- that their orders can be shown and the organizations that were opened for clients can be
-- counted.
CREATE TABLE client (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  organization TEXT NOT NULL,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  show_name BIGINT NOT NULL,
  opened BIGINT NOT NULL,
  created BIGINT NOT NULL,
  modified BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX client_id ON client (id);
CREATE UNIQUE INDEX client_of ON client (org, organization);
CREATE INDEX client_organization ON client (organization, created);

-- origin is the organization that placed the task with org. The recipient of such a task
-- belongs to the origin. The indexes correspond to those by org, for lists of the tasks that
-- an organization placed with others.
ALTER TABLE task ADD COLUMN origin TEXT;
CREATE INDEX task_origin ON task (origin, state, created, id) WHERE origin IS NOT NULL;
CREATE INDEX task_origin_id ON task (origin, id) WHERE origin IS NOT NULL;
CREATE INDEX task_origin_short_id ON task (origin, short_id) WHERE origin IS NOT NULL;
CREATE INDEX task_origin_open ON task (origin, (CASE
  WHEN completed - created < 60000 THEN 0
  WHEN completed - created < 240000 THEN 1
  WHEN completed - created < 960000 THEN 2
  WHEN completed - created < 3840000 THEN 3
  WHEN completed - created < 15360000 THEN 4
  WHEN completed - created < 61440000 THEN 5
  WHEN completed - created < 245760000 THEN 6
  WHEN completed - created < 983040000 THEN 7
  WHEN completed - created < 3932160000 THEN 8
  WHEN completed - created < 15728640000 THEN 9
  WHEN completed - created < 62914560000 THEN 10
  ELSE 11 END), created, id, completed) WHERE origin IS NOT NULL AND completed IS NOT NULL;
