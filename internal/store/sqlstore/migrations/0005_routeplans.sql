-- Route plans. The worker and the team of a plan are not in its document, because they can
-- be deleted while the plan exists. The row of a task names its plan, and plan_place is the
-- position of the task in the plan.

CREATE TABLE route_plan (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA NOT NULL,
  v BIGINT NOT NULL,
  worker TEXT,
  team TEXT,
  starts BIGINT NOT NULL,
  created BIGINT NOT NULL,
  PRIMARY KEY (org, id)
);
CREATE INDEX route_plan_id ON route_plan (id);
CREATE INDEX route_plan_created ON route_plan (org, created, id);
CREATE INDEX route_plan_starts ON route_plan (org, starts);
CREATE INDEX route_plan_worker ON route_plan (org, worker) WHERE worker IS NOT NULL;

ALTER TABLE task ADD COLUMN route_plan TEXT;
ALTER TABLE task ADD COLUMN plan_place BIGINT;
CREATE INDEX task_route_plan ON task (org, route_plan, plan_place) WHERE route_plan IS NOT NULL;

-- When workers went on and off duty, and an index of the tasks that they completed.
CREATE TABLE duty_change (
  org TEXT NOT NULL,
  worker TEXT NOT NULL,
  at BIGINT NOT NULL,
  on_duty BIGINT NOT NULL,
  PRIMARY KEY (org, worker, at)
);
CREATE INDEX task_done_by ON task (org, worker, completed) WHERE completed IS NOT NULL;
