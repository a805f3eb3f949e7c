-- How far the phone of a worker is charged, from 0 to 1.
ALTER TABLE worker ADD COLUMN battery DOUBLE PRECISION;
