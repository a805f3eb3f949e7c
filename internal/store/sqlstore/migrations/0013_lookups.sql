-- Indexes that contain all columns of a lookup, in its order. Without them, SQLite would use
-- the primary key and read it from its beginning.
DROP INDEX task_dependency_task;
CREATE INDEX task_dependency_task ON task_dependency (org, task, parent);
DROP INDEX firing_task;
CREATE INDEX firing_task ON firing (org, task, webhook);
DROP INDEX route_plan_worker;
CREATE INDEX route_plan_worker ON route_plan (org, worker, created, id) WHERE worker IS NOT NULL;
CREATE INDEX worker_login ON worker (phone);
