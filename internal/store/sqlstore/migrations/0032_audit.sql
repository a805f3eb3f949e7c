-- Requests of administrators and API keys that changed something or were denied. Names are
-- those of the time of the request.
CREATE TABLE audit (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  at BIGINT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  method TEXT NOT NULL,
  route TEXT NOT NULL,
  record TEXT NOT NULL,
  status BIGINT NOT NULL,
  request TEXT NOT NULL,
  address TEXT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX audit_at ON audit (org, at, id);
CREATE INDEX audit_record ON audit (org, record, at, id) WHERE record <> '';
