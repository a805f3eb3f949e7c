-- An index of text messages that were not sent, for the lists of organizations.
CREATE INDEX message_unsent ON message (org, id) WHERE state IN ('failed', 'suppressed');
