-- The organizations that have a recipient with a number, for text messages from it.
CREATE INDEX recipient_number ON recipient (phone) WHERE keeper = '';
