-- Custom fields that organizations define, and the templates that choose some
-- of them. The id of a custom field is its key. The values are in the documents of tasks.

CREATE TABLE custom_field (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  position BIGINT NOT NULL,
  integration TEXT NOT NULL,
  PRIMARY KEY (org, id)
);

CREATE TABLE template (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  name TEXT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX template_id ON template (id);
CREATE UNIQUE INDEX template_name ON template (org, name);
