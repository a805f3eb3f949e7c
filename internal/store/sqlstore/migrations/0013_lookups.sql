-- Indexes that hold all that a look-up asks for, in its order. SQLite takes the
-- primary key instead of one that does not, and reads it from its beginning.
DROP INDEX task_dependency_task;
CREATE INDEX task_dependency_task ON task_dependency (org, task, parent);
DROP INDEX firing_task;
CREATE INDEX firing_task ON firing (org, task, webhook);
DROP INDEX route_plan_worker;
CREATE INDEX route_plan_worker ON route_plan (org, worker, created, id) WHERE worker IS NOT NULL;
CREATE INDEX worker_login ON worker (phone);
