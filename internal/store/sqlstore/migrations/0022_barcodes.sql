-- Whether workers' apps hide which barcodes they expect.
ALTER TABLE organization_setting ADD COLUMN hide_barcodes BIGINT NOT NULL DEFAULT 0;
