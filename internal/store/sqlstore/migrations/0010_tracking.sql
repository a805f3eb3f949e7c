-- When the estimates of each worker who has something to do are refreshed next:
-- next_at is the earlier of refresh_at and judge_at, and when a claim ends while
-- there is one. changes grows with the worker's list, so that a refresh finds what
-- it missed.
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

-- When a worker was where lon and lat say; last_seen is also when the worker
-- went on or off duty.
ALTER TABLE worker ADD COLUMN located BIGINT;

-- In firing, webhook is the id of one or, for what all are notified of, a name.
CREATE INDEX firing_task ON firing (org, task);

-- How long workers stayed at destinations; 0 is not known.
ALTER TABLE trip ADD COLUMN service BIGINT NOT NULL DEFAULT 0;

-- Where workers may complete tasks: 0 anywhere, 1 elsewhere with a warning, 2
-- not elsewhere. A radius of 0 is the usual one.
ALTER TABLE organization_setting ADD COLUMN geofence BIGINT NOT NULL DEFAULT 0;
ALTER TABLE organization_setting ADD COLUMN geofence_radius DOUBLE PRECISION NOT NULL DEFAULT 0;

-- What lets a tracker app report positions of a worker, and nothing else.
CREATE TABLE worker_tracker (
  hash TEXT NOT NULL PRIMARY KEY,
  org TEXT NOT NULL,
  worker TEXT NOT NULL,
  created BIGINT NOT NULL
);
CREATE UNIQUE INDEX worker_tracker_worker ON worker_tracker (org, worker);
