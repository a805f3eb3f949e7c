-- Allowances of attempts to sign in, which are counted before a password is verified.
-- account is a phone number, and source a network or a device. full_at is the time at which
-- all attempts from the source at the account are available again.
CREATE TABLE sign_in_allowance (
  account TEXT NOT NULL,
  source TEXT NOT NULL,
  full_at BIGINT NOT NULL,
  PRIMARY KEY (account, source)
);
CREATE INDEX sign_in_allowance_full ON sign_in_allowance (full_at);
CREATE INDEX worker_session_used ON worker_session (used);
