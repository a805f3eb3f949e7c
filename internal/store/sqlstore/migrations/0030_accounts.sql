-- The accounts of administrators. hash is the hash of the password. factor and pending are
-- sealed secrets of a second factor, and step is the period of its last accepted code.
CREATE TABLE admin_account (
  org TEXT NOT NULL,
  admin TEXT NOT NULL,
  hash TEXT NOT NULL,
  factor BYTEA,
  pending BYTEA,
  step BIGINT NOT NULL,
  language TEXT NOT NULL,
  PRIMARY KEY (org, admin)
);

-- Recovery codes: each replaces a code of the second factor once.
CREATE TABLE admin_recovery (
  org TEXT NOT NULL,
  admin TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (org, admin, hash)
);

-- Browsers in which administrators are signed in. hash is the hash of the token.
CREATE TABLE admin_session (
  hash TEXT NOT NULL PRIMARY KEY,
  org TEXT NOT NULL,
  admin TEXT NOT NULL,
  id TEXT NOT NULL,
  created BIGINT NOT NULL,
  used BIGINT NOT NULL,
  agent TEXT NOT NULL,
  address TEXT NOT NULL
);
CREATE INDEX admin_session_admin ON admin_session (org, admin, created);
CREATE INDEX admin_session_used ON admin_session (used);
CREATE INDEX admin_session_created ON admin_session (created);

-- One-time links. hash is the hash of the token. Links that create the first organization have
-- no administrator.
CREATE TABLE one_time_link (
  hash TEXT NOT NULL PRIMARY KEY,
  org TEXT NOT NULL,
  admin TEXT NOT NULL,
  kind TEXT NOT NULL,
  email TEXT NOT NULL,
  drop_factor BIGINT NOT NULL,
  created BIGINT NOT NULL,
  expires BIGINT NOT NULL
);
CREATE INDEX one_time_link_admin ON one_time_link (org, admin, kind, created);
CREATE INDEX one_time_link_expires ON one_time_link (expires);

-- Mails to send. Each has a job with the same id. Password resets requested by callers who are
-- not signed in have the organization '-' and an e-mail address that may be unknown. The link
-- of a mail is created when it is sent.
CREATE TABLE mail (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  admin TEXT NOT NULL,
  email TEXT NOT NULL,
  drop_factor BIGINT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
