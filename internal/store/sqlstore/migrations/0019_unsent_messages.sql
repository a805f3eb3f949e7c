-- Text messages that were not sent, which organizations list.
CREATE INDEX message_unsent ON message (org, id) WHERE state IN ('failed', 'suppressed');
