-- Clients of couriers: org delivers for organization. A client that was deleted
-- stays, so that its orders can be shown and so that opened ones are counted.
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
