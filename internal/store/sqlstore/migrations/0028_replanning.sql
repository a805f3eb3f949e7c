-- What the task keeps when routes are planned: 0 nothing, 1 its worker, 2 its worker and its
-- position.
ALTER TABLE task ADD COLUMN pin BIGINT NOT NULL DEFAULT 0;

-- The settings of organizations for continuous re-planning. Durations are in milliseconds.
CREATE TABLE replan_setting (
  org TEXT NOT NULL PRIMARY KEY,
  enabled BIGINT NOT NULL,
  move TEXT NOT NULL,
  assign BIGINT NOT NULL,
  pause BIGINT NOT NULL,
  lateness BIGINT NOT NULL,
  ahead BIGINT NOT NULL
);

-- When the routes of teams are planned again, and the cause, which is that of the first request
-- since the last run. last_at is when the last run started; 0 for never.
CREATE TABLE replan (
  org TEXT NOT NULL,
  team TEXT NOT NULL,
  next_at BIGINT,
  claim TEXT NOT NULL,
  claimed_until BIGINT NOT NULL,
  requested BIGINT NOT NULL,
  cause TEXT NOT NULL,
  task TEXT NOT NULL,
  worker TEXT NOT NULL,
  late BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  PRIMARY KEY (org, team)
);
CREATE INDEX replan_due ON replan (org, next_at, team) WHERE claim = '' AND next_at IS NOT NULL;
CREATE INDEX replan_claim ON replan (claim) WHERE claim <> '';

-- Lists of dispatches show their summaries, which are small. replan is 1 for dispatches of
-- continuous re-planning, which no caller has requested.
ALTER TABLE dispatch ADD COLUMN summary BYTEA;
ALTER TABLE dispatch ADD COLUMN replan BIGINT NOT NULL DEFAULT 0;
CREATE INDEX dispatch_scope ON dispatch (org, scope, created, id);
