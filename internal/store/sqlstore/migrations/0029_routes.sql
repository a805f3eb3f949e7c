-- API keys by id, for those of other organizations and for when keys were used.
CREATE INDEX api_key_id ON api_key (id);
