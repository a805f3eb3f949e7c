package api

import (
	"context"
	"time"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/taskflow"
	"dray/internal/wire"
)

// tasks serves the endpoints of tasks.
type tasks struct{ *Server }

func (s tasks) routes() []edge.Route {
	list := []edge.Parameter{
		{Name: "from", Description: "start of the period (inclusive), in Unix milliseconds: of the completion of completed tasks, of the creation of others", Required: true, Type: "number", Example: "1767225600000"},
		{Name: "to", Description: "end of the period (exclusive), in Unix milliseconds. Default: now", Type: "number"},
		{Name: "lastId", Description: "lastId of the previous page"},
		{Name: "state", Description: "comma-separated states: 0 for unassigned, 1 for assigned, 2 for active, 3 for completed"},
		{Name: "worker", Description: "ID of the worker"},
		{Name: "completeBeforeBefore", Description: "Unix time in milliseconds; only tasks with completeBefore at or before it", Type: "number"},
		{Name: "completeAfterAfter", Description: "Unix time in milliseconds; only tasks with completeAfter at or after it", Type: "number"},
		{Name: "dependencies", Description: "comma-separated task IDs; only tasks that depend on all of them"},
		{Name: "containers", Description: "comma-separated IDs of organizations, teams or workers whose containers hold the tasks. Cannot be combined with worker or state"},
	}
	return edge.Tagged("Tasks",
		edge.Create("/tasks", "Create a task", s.createTask, wire.NewCreatedTask).
			Describe("The destination and the recipient are given by their IDs or created with the task. If a recipient with the phone number exists, that recipient is updated. Without a container or autoAssign, the task is added at the end of the organization's container. The task is created even if no worker can be assigned automatically.").
			Example(`{
				"destination": {
					"address": {
						"number": "350",
						"street": "5th Avenue",
						"city": "New York",
						"postalCode": "10118",
						"country": "United States"
					},
					"location": [-73.9857, 40.7484]
				},
				"recipients": [
					{
						"name": "Mary Seacole",
						"phone": "+1 212 555 0142"
					}
				],
				"completeAfter": 1894021200000,
				"completeBefore": 1894028400000,
				"notes": "Leave with the concierge.",
				"quantity": 2,
				"autoAssign": {
					"mode": "distance"
				}
			}`),
		edge.Get("/tasks", "List tasks under an alternative path", s.listTasks, list...).
			Describe("Same as GET /tasks/all."),
		edge.Get("/tasks/all", "List tasks", s.listTasks, list...).
			Describe("Returns tasks in the order of creation, 64 per page. The period applies to the time of completion of completed tasks and to the time of creation of all others; from is inclusive, to is exclusive. A page without lastId is the last one."),
		edge.Get("/tasks/{id}", "Read a task", s.showTask,
			edge.Parameter{Name: "assignmentHistory", Description: "true to include the assignments of the task to containers", Type: "boolean"}),
		edge.Get("/tasks/shortId/{shortId}", "Read a task by its shortId", s.taskByShortID),
		edge.Put("/tasks/{id}", "Update a task", s.updateTask).
			Describe("Only the fields that are sent change. All fields of a task can change before it is started, only notes and metadata while it is active, and only metadata and custom fields once it is completed; other fields are ignored. If a container is sent, the task moves to its end. null removes completeAfter, completeBefore and triangleColor.").
			Example(`{
				"notes": "Ring at the back door.",
				"container": {
					"type": "WORKER",
					"worker": "W4nB7xKq9LsT2vDz6MfR3hYc"
				}
			}`),
		edge.Delete("/tasks/{id}", "Delete a task", s.deleteTask).
			Describe("Active and completed tasks cannot be deleted. The task is removed from the dependencies of other tasks."),
		edge.Do("/tasks/{id}/complete", "Complete an active task", s.completeTask).
			Describe("Only active tasks can be completed.").
			Example(`{"completionDetails": {"success": true, "notes": "Handed to the concierge."}}`),
		edge.Create("/tasks/{id}/clone", "Clone a task", s.cloneTask, wire.NewTask).
			Describe("The clone is unassigned and has a new destination and the same recipient. Times in the past are not copied. The options can also be sent at the top level of the body.").
			Example(`{
				"options": {
					"includeMetadata": true,
					"overrides": {
						"notes": "Second parcel",
						"completeBefore": 1894028400000
					}
				}
			}`),
		edge.Get("/tasks/{id}/explanation", "Explain an automatic assignment", s.explainTask,
			edge.Parameter{Name: "optional", Description: "true for null instead of an error if there was no automatic assignment", Type: "boolean"}).
			Describe("Returns why the latest automatic assignment chose the worker or found none. The error is 1402 if there was no automatic assignment."),
		edge.Create("/tasks/autoAssign", "Assign tasks automatically", s.autoAssignTasks, wire.NewAutoAssigned).
			Describe("Tasks that are already assigned do not change. Tasks for which no worker can be found do not change either, and are not included in the response; see their explanation.").
			Example(`{"tasks": ["K2dF8gHj5LzX9cVb7NmQ4wRt"], "options": {"mode": "load", "maxAssignedTaskCount": 10}}`),
		edge.SearchAll[wire.Metadata, wire.Task]("/tasks/metadata", "Find tasks by metadata", s.findTasks, s.foundTasks).
			Describe("Finds records that have all the entries, by name, type and value.").
			Example(`[{"name": "orderNumber", "type": "string", "value": "S-20771"}]`),
	)
}

func (s tasks) createTask(ctx context.Context, c *edge.Call, body wire.NewTaskBody) (lastmile.CreatedTask, error) {
	draft, err := body.Draft(c.Who.Organization)
	if err != nil {
		return lastmile.CreatedTask{}, err
	}
	return s.Tasks.Create(ctx, c.Who, draft, body.AssignOptions())
}

func (s tasks) updateTask(ctx context.Context, c *edge.Call, body wire.TaskBody) (wire.Task, error) {
	draft, err := body.Draft(c.Who.Organization)
	if err != nil {
		return wire.Task{}, err
	}
	task, err := s.Tasks.Update(ctx, c.Who, lastmile.TaskID(c.ID()), draft)
	return wire.NewTask(task), err
}

func (s tasks) showTask(ctx context.Context, c *edge.Call) (wire.Raw[wire.Task], error) {
	id := lastmile.TaskID(c.ID())
	if !c.Flag("assignmentHistory") {
		return s.Tasks.Show(ctx, c.Who, id)
	}
	task, err := s.Tasks.Task(ctx, c.Who, id)
	if err != nil {
		return nil, err
	}
	withHistory := wire.NewTask(task)
	withHistory.AssignmentHistory = wire.NewAssignments(task)
	return wire.MarshalRaw(withHistory)
}

func (s tasks) taskByShortID(ctx context.Context, c *edge.Call) (wire.Task, error) {
	task, err := s.Tasks.ByShortID(ctx, c.Who, c.Path("shortId"))
	return wire.NewTask(task), err
}

func (s tasks) deleteTask(ctx context.Context, c *edge.Call) error {
	return s.Tasks.Delete(ctx, c.Who, lastmile.TaskID(c.ID()))
}

func (s tasks) completeTask(ctx context.Context, c *edge.Call, body wire.CompleteBody) error {
	outcome, err := body.Outcome()
	if err != nil {
		return err
	}
	return s.Tasks.Complete(ctx, c.Who, lastmile.TaskID(c.ID()), outcome)
}

func (s tasks) cloneTask(ctx context.Context, c *edge.Call, body wire.CloneBody) (lastmile.Task, error) {
	chosen := body.Chosen()
	options := lastmile.CloneOptions{
		Metadata: bool(chosen.IncludeMetadata), Barcodes: bool(chosen.IncludeBarcodes || chosen.IncludeBarCodes),
		Dependencies: bool(chosen.IncludeDependencies),
	}
	var overrides lastmile.TaskDraft
	if chosen.Overrides != nil {
		var err error
		if overrides, err = chosen.Overrides.Draft(c.Who.Organization); err != nil {
			return lastmile.Task{}, body.LocateError(err)
		}
		overrides.Container = nil
	}
	clone, err := s.Tasks.Clone(ctx, c.Who, lastmile.TaskID(c.ID()), options, overrides)
	return clone, body.LocateError(err)
}

func (s tasks) explainTask(ctx context.Context, c *edge.Call) (*wire.Explanation, error) {
	why, err := s.Containers.Explanation(ctx, c.Who, lastmile.TaskID(c.ID()))
	if err == nil && why == nil && !c.Flag("optional") {
		err = lastmile.NotFound("explanation of task", c.ID())
	}
	return wire.NewExplanation(why), err
}

func (s tasks) autoAssignTasks(ctx context.Context, c *edge.Call, body wire.AutoAssignTasksBody) (wire.Assigned, error) {
	if body.Tasks == nil {
		return nil, lastmile.Missing("tasks")
	}
	return s.Containers.AutoAssign(ctx, c.Who, *body.Tasks, body.Terms())
}

func (s tasks) findTasks(ctx context.Context, c *edge.Call, entries wire.Metadata) ([]string, error) {
	metadata, err := criteria(entries)
	if err != nil {
		return nil, err
	}
	return s.Tasks.Find(ctx, c.Who, metadata)
}

func (s tasks) foundTasks(ctx context.Context, c *edge.Call, ids []string) ([][]byte, error) {
	return s.Tasks.ShowAll(ctx, c.Who, ids)
}

func (s tasks) listTasks(ctx context.Context, c *edge.Call) (wire.Raw[wire.TaskPage], error) {
	q := taskflow.Query{After: lastmile.TaskID(c.Query.Get("lastId")), Worker: lastmile.WorkerID(c.Query.Get("worker"))}
	if err := c.Times(map[string]*time.Time{
		"from": &q.From, "to": &q.To, "completeBeforeBefore": &q.CompleteBefore, "completeAfterAfter": &q.CompleteAfter,
	}); err != nil {
		return nil, err
	}
	if q.From.IsZero() && c.Query.Get("from") == "" {
		return nil, lastmile.Missing("from")
	}
	states := map[string]lastmile.TaskState{
		"0": lastmile.TaskUnassigned, "1": lastmile.TaskAssigned, "2": lastmile.TaskActive, "3": lastmile.TaskCompleted,
	}
	for _, name := range c.NumberList("state") {
		state, ok := states[name]
		if !ok {
			return nil, lastmile.Invalid("state must be a list of 0, 1, 2 and 3, not %q", edge.Clip(name))
		}
		q.States = append(q.States, state)
	}
	for _, id := range c.List("dependencies") {
		q.Dependencies = append(q.Dependencies, lastmile.TaskID(id))
	}
	if q.Worker == "" && len(q.States) == 0 {
		q.Containers = c.List("containers")
	}
	const maxContainers = 500
	switch {
	case len(q.Dependencies) > lastmile.MaxDependencies:
		return nil, lastmile.Invalid("dependencies has %d entries; at most %d are allowed", len(q.Dependencies), lastmile.MaxDependencies)
	case len(q.Containers) > maxContainers:
		return nil, lastmile.Invalid("containers has %d entries; at most %d are allowed", len(q.Containers), maxContainers)
	}
	var err error
	if q.Containers, err = s.Containers.Owners(ctx, c.Who, q.Containers); err != nil {
		return nil, err
	}
	return s.taskPage(ctx, c, q)
}

// taskPage returns one page of tasks.
func (s tasks) taskPage(ctx context.Context, c *edge.Call, q taskflow.Query) (wire.Raw[wire.TaskPage], error) {
	docs, last, err := s.Tasks.List(ctx, c.Who, q)
	if err != nil {
		return nil, err
	}
	return wire.NewTaskPage(docs, last)
}
