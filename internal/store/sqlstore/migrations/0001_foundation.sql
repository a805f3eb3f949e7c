-- The same statements run on SQLite and PostgreSQL. Times are Unix milliseconds. doc is
-- the record as the API shows it, and v the version of its encoding. The other columns
-- are for searching and sorting, or change often.

CREATE TABLE organization (
  id TEXT NOT NULL PRIMARY KEY,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  created BIGINT NOT NULL
);

CREATE TABLE organization_link (
  org TEXT NOT NULL,
  delegatee TEXT NOT NULL,
  PRIMARY KEY (org, delegatee)
);

CREATE TABLE setting (
  name TEXT NOT NULL PRIMARY KEY,
  value BYTEA NOT NULL
);

CREATE TABLE generation (
  name TEXT NOT NULL PRIMARY KEY,
  n BIGINT NOT NULL
);

CREATE TABLE api_key (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  hash TEXT NOT NULL,
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  created BIGINT NOT NULL,
  last_used BIGINT,
  revoked BIGINT,
  PRIMARY KEY (org, id)
);
CREATE UNIQUE INDEX api_key_hash ON api_key (hash);

CREATE TABLE webhook_secret (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  sealed BYTEA NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);

CREATE TABLE admin (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  email TEXT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX admin_id ON admin (id);
CREATE UNIQUE INDEX admin_email ON admin (email);

CREATE TABLE hub (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX hub_id ON hub (id);

CREATE TABLE team (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  name TEXT NOT NULL,
  hub TEXT,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX team_id ON team (id);
CREATE UNIQUE INDEX team_name ON team (org, name);

CREATE TABLE worker (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  phone TEXT NOT NULL,
  created BIGINT NOT NULL,
  on_duty BIGINT NOT NULL,
  last_seen BIGINT,
  lon DOUBLE PRECISION,
  lat DOUBLE PRECISION,
  delay BIGINT,
  PRIMARY KEY (org, id)
);
CREATE INDEX worker_id ON worker (id);
CREATE UNIQUE INDEX worker_phone ON worker (org, phone);
CREATE INDEX worker_duty ON worker (org, on_duty);

-- The workers of teams. in_team orders the workers of a team, and in_worker the teams of a
-- worker.
CREATE TABLE team_worker (
  org TEXT NOT NULL,
  team TEXT NOT NULL,
  worker TEXT NOT NULL,
  in_team BIGINT NOT NULL,
  in_worker BIGINT NOT NULL,
  PRIMARY KEY (org, team, worker)
);
CREATE INDEX team_worker_worker ON team_worker (org, worker);

CREATE TABLE team_manager (
  org TEXT NOT NULL,
  team TEXT NOT NULL,
  admin TEXT NOT NULL,
  in_team BIGINT NOT NULL,
  PRIMARY KEY (org, team, admin)
);
CREATE INDEX team_manager_admin ON team_manager (org, admin);

CREATE TABLE worker_credential (
  org TEXT NOT NULL,
  worker TEXT NOT NULL,
  hash TEXT NOT NULL,
  temporary BIGINT NOT NULL,
  expires BIGINT,
  PRIMARY KEY (org, worker)
);

CREATE TABLE worker_schedule (
  org TEXT NOT NULL,
  worker TEXT NOT NULL,
  doc BYTEA NOT NULL,
  PRIMARY KEY (org, worker)
);

CREATE TABLE destination (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  created BIGINT NOT NULL,
  geocoded BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX destination_id ON destination (id);

CREATE TABLE recipient (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  phone TEXT NOT NULL,
  name TEXT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX recipient_id ON recipient (id);
CREATE UNIQUE INDEX recipient_phone ON recipient (org, phone);
CREATE INDEX recipient_name ON recipient (org, name);

-- One row for each metadata entry of each record. digest is a hash of its name, type and
-- value, so that records with an equal entry are found by one lookup.
CREATE TABLE metadata_entry (
  org TEXT NOT NULL,
  kind TEXT NOT NULL,
  digest TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (org, kind, digest, id)
);
CREATE INDEX metadata_entry_id ON metadata_entry (org, id);

CREATE TABLE message (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  recipient TEXT NOT NULL,
  body TEXT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX message_created ON message (created);
CREATE INDEX message_recipient ON message (recipient, created);

CREATE TABLE receipt (
  org TEXT NOT NULL,
  key TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  reply BYTEA NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, key, method, path)
);
CREATE INDEX receipt_created ON receipt (created);
