-- The courier that named a recipient in an order for the organization. Such a recipient is
-- found by id only: what the organization keeps about the same number is its own. Empty
-- for the organization's recipients.
ALTER TABLE recipient ADD COLUMN keeper TEXT NOT NULL DEFAULT '';
DROP INDEX recipient_phone;
CREATE UNIQUE INDEX recipient_phone ON recipient (org, phone, keeper);
