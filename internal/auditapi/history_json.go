package auditapi

import (
	"dray/internal/audit"
	"dray/internal/wire"
)

// TaskHistory is a page of the history of a task.
type TaskHistory struct {
	// Entries, the newest first.
	Entries []TaskHistoryEntry `json:"entries"`
	// ID to request the next page with. Absent on the last page.
	LastID string `json:"lastId,omitzero"`
}

// TaskHistoryEntry is something that happened to a task.
type TaskHistoryEntry struct {
	// ID of the entry.
	ID string `json:"id" example:"A6vK2nXw5LdB9qTz3HcF8mJs"`
	// Unix time in milliseconds at which it happened.
	Time wire.Millis `json:"time" example:"1767225600000"`
	// Unix time in milliseconds at which it was recorded: later if the worker's phone was offline.
	TimeRecorded wire.Millis `json:"timeRecorded" example:"1767225600000"`
	// Name of the event's trigger, such as taskAssigned; null for a request that has no event.
	TriggerName *string `json:"triggerName" example:"taskAssigned"`
	// Method and route of a request that has no event; null for events.
	Request *string `json:"request" example:"null"`
	// Who did it.
	Actor HistoryActor `json:"actor"`
	// Worker to whom the task was assigned, or from whom it was taken; null for other events.
	Worker *HistoryWorker `json:"worker"`
	// What the worker reported on the way: arrival or departure; null for other events.
	Step *string `json:"step" example:"null"`
	// Names of the task's fields that changed; null if that is unknown, because the event before is no
	// longer stored.
	Changed []string `json:"changed" nullable:"true" example:"[\"notes\"]"`
}

// HistoryActor is who did something.
type HistoryActor struct {
	// admin for an administrator, key for an API key, worker for a worker, organization for one that
	// placed or carries out the task, recipient for what was done on the tracking page, system for what
	// happens by itself.
	Type audit.ActorType `json:"type" example:"admin"`
	// ID of the administrator, the API key, the worker or the organization; null for recipients and the system.
	ID *string `json:"id" example:"M9cV3bNx7ZsL5kJh2GfD8qWr"`
	// Name; null for recipients and the system, if it is not known any more, and for workers of other
	// organizations or, for administrators who manage teams only, of other teams.
	Name *string `json:"name" example:"Grace Hopper"`
}

// HistoryWorker is a worker in the history of a task.
type HistoryWorker struct {
	// ID of the worker.
	ID string `json:"id" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Name; null if the worker was deleted, is of another organization or, for administrators who manage
	// teams only, of another team.
	Name *string `json:"name" example:"Ada Lovelace"`
}

// NewTaskHistory returns a page in its wire form.
func NewTaskHistory(page []audit.Change, last string) TaskHistory {
	return TaskHistory{Entries: wire.OrEmpty(wire.Each(page, newTaskHistoryEntry)), LastID: last}
}

func newTaskHistoryEntry(c audit.Change) TaskHistoryEntry {
	e := TaskHistoryEntry{
		ID: c.ID, Time: wire.Millis(c.Time), TimeRecorded: wire.Millis(c.Recorded), Step: wire.OrNull(c.Step), Changed: c.Changed,
		Actor: HistoryActor{Type: c.ActorType, ID: wire.OrNull(c.Actor.ID), Name: wire.OrNull(c.Actor.Name)},
	}
	if c.Trigger != nil {
		name := c.Trigger.String()
		e.TriggerName = &name
	} else {
		request := c.Method + " " + c.Route
		e.Request = &request
	}
	if c.Worker != nil {
		e.Worker = &HistoryWorker{ID: c.Worker.ID, Name: wire.OrNull(c.Worker.Name)}
	}
	return e
}
