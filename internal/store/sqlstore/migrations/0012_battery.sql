-- The charge of the battery of a worker's phone, from 0 to 1.
ALTER TABLE worker ADD COLUMN battery DOUBLE PRECISION;
