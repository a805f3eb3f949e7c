-- The length of a worker's way in meters: up to each position, and up to now. From
-- odometer_lon and odometer_lat the next part of the way is measured.
ALTER TABLE position ADD COLUMN odometer DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN odometer DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN odometer_lon DOUBLE PRECISION;
ALTER TABLE worker ADD COLUMN odometer_lat DOUBLE PRECISION;
