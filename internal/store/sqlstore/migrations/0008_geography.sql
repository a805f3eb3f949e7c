-- Responses of map services, until they expire.
CREATE TABLE geo_cache (
  key TEXT NOT NULL PRIMARY KEY,
  value BYTEA NOT NULL,
  expires BIGINT NOT NULL
);
CREATE INDEX geo_cache_expires ON geo_cache (expires);

-- Postal codes that were imported, country by country.
CREATE TABLE postal_place (
  country TEXT NOT NULL,
  code TEXT NOT NULL,
  nth BIGINT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  county TEXT NOT NULL,
  lon DOUBLE PRECISION NOT NULL,
  lat DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (country, code, nth)
);

-- The settings of organizations.
CREATE TABLE organization_setting (
  org TEXT NOT NULL PRIMARY KEY,
  precision_wanted BIGINT NOT NULL
);

-- How long workers traveled to tasks, and how long the formula had estimated. Estimates
-- are corrected with both.
CREATE TABLE trip (
  org TEXT NOT NULL,
  task TEXT NOT NULL,
  at BIGINT NOT NULL,
  estimated BIGINT NOT NULL,
  actual BIGINT NOT NULL,
  PRIMARY KEY (org, task)
);
CREATE INDEX trip_at ON trip (org, at);
