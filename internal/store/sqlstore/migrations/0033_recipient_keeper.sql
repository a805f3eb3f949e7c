-- keeper is the courier that created the recipient in an order for the organization. Such a
-- recipient is found only by id and is separate from the organization's own recipient with the
-- same phone number, whose keeper is empty.
ALTER TABLE recipient ADD COLUMN keeper TEXT NOT NULL DEFAULT '';
DROP INDEX recipient_phone;
CREATE UNIQUE INDEX recipient_phone ON recipient (org, phone, keeper);
