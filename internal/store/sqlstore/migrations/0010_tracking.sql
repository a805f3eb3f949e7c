-- When the estimates of each worker with tasks are refreshed next. next_at is the earlier of
-- refresh_at and judge_at or, while there is a claim, the time at which it ends. changes
-- grows with each change of the worker's list, so that a refresh detects changes that were
-- made while it ran.
CREATE TABLE worker_watch (
  org TEXT NOT NULL,
  worker TEXT NOT NULL,
  next_at BIGINT,
  refresh_at BIGINT,
  judge_at BIGINT,
  judged BIGINT,
  judged_task TEXT NOT NULL,
  changes BIGINT NOT NULL,
  claim TEXT NOT NULL,
  PRIMARY KEY (org, worker)
);
CREATE INDEX worker_watch_next ON worker_watch (next_at) WHERE next_at IS NOT NULL;

-- When a worker was at lon and lat. last_seen is also set when the worker goes on or off
-- duty.
ALTER TABLE worker ADD COLUMN located BIGINT;

-- In firing, webhook is the id of a webhook or, for an event that all webhooks of a trigger
-- receive, a name.
CREATE INDEX firing_task ON firing (org, task);

-- How long workers stayed at destinations; 0 if that is not known.
ALTER TABLE trip ADD COLUMN service BIGINT NOT NULL DEFAULT 0;

-- The geofence: 0 none, 1 workers who complete a task outside of the radius are warned, 2 they
-- cannot complete it. A radius of 0 means the default.
ALTER TABLE organization_setting ADD COLUMN geofence BIGINT NOT NULL DEFAULT 0;
ALTER TABLE organization_setting ADD COLUMN geofence_radius DOUBLE PRECISION NOT NULL DEFAULT 0;

-- The tokens with which tracker apps report positions of workers and do nothing else.
CREATE TABLE worker_tracker (
  hash TEXT NOT NULL PRIMARY KEY,
  org TEXT NOT NULL,
  worker TEXT NOT NULL,
  created BIGINT NOT NULL
);
CREATE UNIQUE INDEX worker_tracker_worker ON worker_tracker (org, worker);
