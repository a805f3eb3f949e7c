-- Leases of work have the same columns in every table: claim is the token of a lease, and
-- claimed_until the time at which it ends. The due time of a leased row is also set to that
-- time, so that nodes of the previous version, which know no other column, do not take the
-- row. Their claims have no claimed_until.
ALTER TABLE job ADD COLUMN claim TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE worker_watch ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0;

-- Work without a lease is found by organization, and leases are found by their tokens.
CREATE INDEX job_due ON job (kind, org, run_at, id) WHERE claim = '' AND run_at IS NOT NULL;
CREATE INDEX job_claim ON job (claim) WHERE claim <> '';
CREATE INDEX message_due ON message (org, next_at, id) WHERE claim = '' AND next_at IS NOT NULL;
CREATE INDEX message_claim ON message (claim) WHERE claim <> '';
CREATE INDEX worker_watch_due ON worker_watch (org, next_at, worker) WHERE claim = '' AND next_at IS NOT NULL;
CREATE INDEX worker_watch_claim ON worker_watch (claim) WHERE claim <> '';
CREATE INDEX webhook_tally_claim ON webhook_tally (claim) WHERE claim <> '';
DROP INDEX job_turn;
DROP INDEX message_waiting;
DROP INDEX worker_watch_next;
