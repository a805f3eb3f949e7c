-- The settings of organizations for the tracking pages of recipients.
CREATE TABLE page_setting (
  org TEXT NOT NULL PRIMARY KEY,
  phone TEXT NOT NULL,
  color TEXT NOT NULL,
  new_times BIGINT NOT NULL
);
