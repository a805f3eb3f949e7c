package api

import (
	"context"
	"encoding/json"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/taskflow"
	"dray/internal/wire"
)

func (s *Server) taskRoutes() []route {
	list := []parameter{
		{name: "from", about: "Unix milliseconds; completed tasks by completion, others by creation", required: true, kind: "number"},
		{name: "to", about: "Unix milliseconds; now unless given", kind: "number"},
		{name: "lastId", about: "the lastId of the page before"},
		{name: "state", about: "comma-separated states: 0 unassigned, 1 assigned, 2 active, 3 completed"},
		{name: "worker", about: "id of the worker"},
		{name: "completeBeforeBefore", about: "Unix milliseconds; completeBefore at or before this", kind: "number"},
		{name: "completeAfterAfter", about: "Unix milliseconds; completeAfter at or after this", kind: "number"},
		{name: "dependencies", about: "comma-separated task ids; tasks that depend on all of them"},
		{name: "containers", about: "comma-separated ids of organizations, teams or workers; not with worker or state"},
	}
	return tagged("Tasks",
		post("/tasks", "Create a task", wire.Task{}, s.createTask),
		get("/tasks", "List tasks by their other path", wire.TaskPage{}, s.listTasks, list...),
		get("/tasks/all", "List tasks", wire.TaskPage{}, s.listTasks, list...),
		get("/tasks/{id}", "Read a task", wire.Task{}, s.showTask,
			parameter{name: "assignmentHistory", about: "true adds who put the task where", kind: "boolean"}),
		get("/tasks/shortId/{shortId}", "Read a task by its short id", wire.Task{}, s.taskByShortID),
		put("/tasks/{id}", "Update a task", wire.Task{}, s.updateTask),
		remove("/tasks/{id}", "Delete a task", s.deleteTask),
		post("/tasks/{id}/complete", "Complete an active task", nil, s.completeTask),
		post("/tasks/{id}/clone", "Clone a task", wire.Task{}, s.cloneTask),
		get("/tasks/{id}/explanation", "Tell why a task was assigned automatically, or was not", wire.Explanation{}, s.explainTask),
		post("/tasks/autoAssign", "Assign tasks automatically", wire.AutoAssigned{}, s.autoAssignTasks),
		post("/tasks/metadata", "Find tasks by metadata", []wire.Task{}, s.findTasks),
	)
}

// taskDraft translates a task as sent.
func taskDraft(c *call, body wire.TaskBody) (taskflow.Draft, error) {
	draft := taskflow.Draft{Change: body.Change(), Template: body.CustomFieldGroup}
	if body.Destination.Set() {
		draft.Destination = &taskflow.DestinationRef{ID: body.Destination.Value.ID}
		if sent := body.Destination.Value.Body; sent != nil {
			made := sent.Draft()
			draft.Destination.Draft = &made
		}
	}
	if body.Recipients.Set() {
		refs := make([]taskflow.RecipientRef, 0, len(body.Recipients.Value))
		for _, sent := range body.Recipients.Value {
			if sent == (wire.RecipientRef{}) {
				continue
			}
			ref := taskflow.RecipientRef{ID: sent.ID}
			if sent.Body != nil {
				made := sent.Body.Draft()
				ref.Draft = &made
			}
			refs = append(refs, ref)
		}
		draft.Recipients = &refs
	}
	if body.Container != nil {
		in, err := body.Container.Domain(c.who.Organization)
		if err != nil {
			return draft, err
		}
		draft.Container = &in
	}
	if body.AutoAssign != nil {
		options := body.AutoAssign.Domain()
		draft.AutoAssign = &options
	}
	if body.CustomFields != nil {
		values := make([]lastmile.FieldValue, 0, len(*body.CustomFields))
		for _, f := range *body.CustomFields {
			values = append(values, lastmile.FieldValue(f))
		}
		draft.Fields = &values
	}
	return draft, nil
}

func (s *Server) createTask(ctx context.Context, c *call, body wire.TaskBody) (any, error) {
	draft, err := taskDraft(c, body)
	if err != nil {
		return nil, err
	}
	return s.Tasks.Create(ctx, c.who, draft)
}

func (s *Server) updateTask(ctx context.Context, c *call, body wire.TaskBody) (any, error) {
	draft, err := taskDraft(c, body)
	if err != nil {
		return nil, err
	}
	draft.AutoAssign = nil // for new tasks only
	return s.Tasks.Update(ctx, c.who, lastmile.TaskID(c.id()), draft)
}

func (s *Server) showTask(ctx context.Context, c *call) (any, error) {
	id := lastmile.TaskID(c.id())
	if !c.flag("assignmentHistory") {
		return s.Tasks.Show(ctx, c.who, id)
	}
	task, err := s.Tasks.Task(ctx, c.who, id)
	shown := wire.NewTask(task)
	shown.AssignmentHistory = wire.NewAssignments(task.History)
	return shown, err
}

func (s *Server) taskByShortID(ctx context.Context, c *call) (any, error) {
	return s.Tasks.ByShortID(ctx, c.who, c.http.PathValue("shortId"))
}

func (s *Server) deleteTask(ctx context.Context, c *call) (any, error) {
	return nil, s.Tasks.Delete(ctx, c.who, lastmile.TaskID(c.id()))
}

func (s *Server) completeTask(ctx context.Context, c *call, body wire.CompleteBody) (any, error) {
	outcome, err := body.Outcome()
	if err != nil {
		return nil, err
	}
	return nil, s.Tasks.Complete(ctx, c.who, lastmile.TaskID(c.id()), outcome)
}

func (s *Server) cloneTask(ctx context.Context, c *call, body wire.CloneBody) (any, error) {
	chosen := body.Chosen()
	options := lastmile.CloneOptions{
		Metadata: bool(chosen.IncludeMetadata), Barcodes: bool(chosen.IncludeBarcodes || chosen.IncludeBarCodes),
		Dependencies: bool(chosen.IncludeDependencies),
	}
	var overrides taskflow.Draft
	if chosen.Overrides != nil {
		var err error
		if overrides, err = taskDraft(c, *chosen.Overrides); err != nil {
			return nil, err
		}
		overrides.AutoAssign, overrides.Container = nil, nil
	}
	return s.Tasks.Clone(ctx, c.who, lastmile.TaskID(c.id()), options, overrides)
}

func (s *Server) explainTask(ctx context.Context, c *call) (any, error) {
	return s.Tasks.Explanation(ctx, c.who, lastmile.TaskID(c.id()))
}

func (s *Server) autoAssignTasks(ctx context.Context, c *call, body wire.AutoAssignTasksBody) (any, error) {
	if body.Tasks == nil {
		return nil, lastmile.Missing("tasks")
	}
	options := assignment.Options{Mode: assignment.ByDistance}
	if body.Options != nil {
		options = body.Options.Domain()
	}
	return s.Tasks.AutoAssign(ctx, c.who, *body.Tasks, options)
}

func (s *Server) findTasks(ctx context.Context, c *call, entries metadataBody) (any, error) {
	metadata, err := searched(entries)
	if err != nil {
		return nil, err
	}
	docs, err := s.Tasks.Find(ctx, c.who, metadata)
	return joinDocs(docs), err
}

func (s *Server) listTasks(ctx context.Context, c *call) (any, error) {
	q := taskflow.Query{After: lastmile.TaskID(c.query.Get("lastId")), Worker: lastmile.WorkerID(c.query.Get("worker"))}
	for name, at := range map[string]*time.Time{
		"from": &q.From, "to": &q.To, "completeBeforeBefore": &q.CompleteBy, "completeAfterAfter": &q.CompleteFrom,
	} {
		var err error
		if *at, err = c.time(name); err != nil {
			return nil, err
		}
	}
	if q.From.IsZero() && c.query.Get("from") == "" {
		return nil, lastmile.Missing("from")
	}
	states := map[string]lastmile.TaskState{
		"0": lastmile.TaskUnassigned, "1": lastmile.TaskAssigned, "2": lastmile.TaskActive, "3": lastmile.TaskCompleted,
	}
	for _, name := range c.list("state") {
		state, ok := states[name]
		if !ok {
			return nil, lastmile.Invalid("state must be a list of 0, 1, 2 and 3, not %q", clip(name))
		}
		q.States = append(q.States, state)
	}
	for _, id := range c.list("dependencies") {
		q.Dependencies = append(q.Dependencies, lastmile.TaskID(id))
	}
	if q.Worker == "" && len(q.States) == 0 {
		q.Containers = c.list("containers")
	}
	const maxContainers = 500
	switch {
	case len(q.Dependencies) > lastmile.MaxDependencies:
		return nil, lastmile.Invalid("dependencies has %d entries; at most %d are allowed", len(q.Dependencies), lastmile.MaxDependencies)
	case len(q.Containers) > maxContainers:
		return nil, lastmile.Invalid("containers has %d entries; at most %d are allowed", len(q.Containers), maxContainers)
	}
	return s.taskPage(ctx, c, q)
}

// taskPage answers with one page of tasks.
func (s *Server) taskPage(ctx context.Context, c *call, q taskflow.Query) (any, error) {
	docs, last, err := s.Tasks.List(ctx, c.who, q)
	if err != nil {
		return nil, err
	}
	return pageOf(docs, last)
}

// pageOf makes a page of tasks that are ready to send.
func pageOf(docs [][]byte, last lastmile.TaskID) (any, error) {
	page := append([]byte(`{"tasks":`), joinDocs(docs)...)
	if last != "" {
		page = append(page, `,"lastId":`...)
		id, err := json.Marshal(last)
		if err != nil {
			return nil, err
		}
		page = append(page, id...)
	}
	return append(page, '}'), nil
}

// joinDocs makes an array of records that are ready to send.
func joinDocs(docs [][]byte) []byte {
	size := 2
	for _, doc := range docs {
		size += len(doc) + 1
	}
	joined := append(make([]byte, 0, size), '[')
	for i, doc := range docs {
		if i > 0 {
			joined = append(joined, ',')
		}
		joined = append(joined, doc...)
	}
	return append(joined, ']')
}

// time is a query parameter in Unix milliseconds; zero when it was not sent.
func (c *call) time(name string) (time.Time, error) {
	ms, sent, err := c.number(name)
	if err != nil || !sent {
		return time.Time{}, err
	}
	const latest = 4_102_444_800_000 // 2100
	if ms < 0 || ms > latest {
		return time.Time{}, lastmile.Invalid("%s must be a time in Unix milliseconds, not %g", name, ms)
	}
	return time.UnixMilli(int64(ms)).UTC(), nil
}
