-- The reasons for failures that workers are offered, separated by commas; empty for all.
ALTER TABLE organization_setting ADD COLUMN failure_reasons TEXT NOT NULL DEFAULT '';
