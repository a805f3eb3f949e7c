-- Tasks that were deleted since a time.
CREATE INDEX event_deleted ON event (org, created) WHERE trigger_id = 8;
