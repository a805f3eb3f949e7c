-- The services that couriers offer to clients, and the orders of clients. The key begins with
-- the courier, and client is the organization of the client. The tasks of an order that was
-- cancelled or rejected are deleted, and the order keeps a copy of them.
CREATE TABLE delivery_service (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX delivery_service_id ON delivery_service (id);
CREATE TABLE quote (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  client TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX quote_id ON quote (id);
CREATE INDEX quote_client ON quote (client, expires);
CREATE INDEX quote_expires ON quote (expires);
CREATE TABLE task_order (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  client TEXT NOT NULL,
  short_id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  pickup BYTEA,
  dropoff BYTEA,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX task_order_id ON task_order (id);
CREATE UNIQUE INDEX task_order_short_id ON task_order (short_id);
CREATE INDEX task_order_client ON task_order (client, created);
