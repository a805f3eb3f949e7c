-- How the response to a notification begins, if its status is not 200.
ALTER TABLE notification ADD COLUMN response TEXT NOT NULL DEFAULT '';
ALTER TABLE attempt ADD COLUMN response TEXT NOT NULL DEFAULT '';
