-- The distance in meters that a worker has traveled: up to each position, and up to now. The
-- next part is measured from odometer_lon and odometer_lat.
ALTER TABLE position ADD COLUMN odometer DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN odometer DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN odometer_lon DOUBLE PRECISION;
ALTER TABLE worker ADD COLUMN odometer_lat DOUBLE PRECISION;
