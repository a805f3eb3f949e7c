-- Dispatches. A team, or a worker if only that worker's route is optimized, has at most one
-- active dispatch. A request to stop is not in the document, because the node that plans the
-- routes writes the document. steps is the number of steps of the plan that were applied.
CREATE TABLE dispatch (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  scope TEXT NOT NULL,
  active BIGINT NOT NULL,
  stopped BIGINT NOT NULL DEFAULT 0,
  steps BIGINT NOT NULL DEFAULT 0,
  key_id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX dispatch_id ON dispatch (id);
CREATE INDEX dispatch_created ON dispatch (created);
CREATE UNIQUE INDEX dispatch_active ON dispatch (org, scope) WHERE active = 1;
