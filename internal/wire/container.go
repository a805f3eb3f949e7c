package wire

import (
	"bytes"
	"encoding/json"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// ContainerRecord is a container: an ordered list of tasks.
type ContainerRecord struct {
	// Id of the container itself, which is not that of its owner.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// When the record was created, in Unix milliseconds.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Id of the organization that owns the record.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Whose container it is.
	Type lastmile.ContainerKind `json:"type" example:"WORKER"`
	// Id of the task that the worker is doing, which is not in tasks; null when none.
	ActiveTask *lastmile.TaskID `json:"activeTask" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Ids of the tasks, in order.
	Tasks []lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Id of the team, if it is a team's.
	Team lastmile.TeamID `json:"team,omitzero" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// Id of the worker, if it is a worker's.
	Worker lastmile.WorkerID `json:"worker,omitzero" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
}

// NewContainer returns a container in the form that is sent.
func NewContainer(c lastmile.Container) ContainerRecord {
	ref := newContainer(c.ContainerRef)
	return ContainerRecord{
		ID: c.ID(), TimeCreated: Millis(c.Created), TimeLastModified: Millis(c.Modified), Organization: c.Organization,
		Type: c.Kind, ActiveTask: orNull(c.ActiveTask), Tasks: orEmpty(c.Tasks), Team: ref.Team, Worker: ref.Worker,
	}
}

// ContainerBody is what to do with a container.
type ContainerBody struct {
	// A position and ids of tasks, or all that a worker is to have.
	Tasks *TaskPlacement `json:"tasks" required:"true" example:"[\"K2dF8gHj5LzX9cVb7NmQ4wRt\"]"`
	// The tasks that these are linked with by dependencies move with them.
	ConsiderDependencies Flag `json:"considerDependencies"`
	// Another name for considerDependencies.
	IncludeDependencies Flag `json:"includeDependencies"`
}

// Change returns what the request asks for.
func (b ContainerBody) Change() (lastmile.ContainerChange, error) {
	if b.Tasks == nil {
		return lastmile.ContainerChange{}, lastmile.Missing("tasks")
	}
	return lastmile.ContainerChange{
		Tasks: b.Tasks.IDs, Index: b.Tasks.Index, Replace: !b.Tasks.placed,
		ConsiderDependencies: bool(b.ConsiderDependencies || b.IncludeDependencies),
	}, nil
}

// TaskPlacement is a list of task ids that may begin with a position.
type TaskPlacement struct {
	Index  int
	IDs    []lastmile.TaskID
	placed bool
}

// SchemaOf returns a list of task ids and positions, for documentation.
func (TaskPlacement) SchemaOf() any { return []placementItem{} }

// placementItem is an item of a TaskPlacement, for documentation.
type placementItem struct{}

// OneOf returns a value of each form.
func (placementItem) OneOf() []any { return []any{lastmile.TaskID(""), 0} }

// UnmarshalJSON implements json.Unmarshaler.
func (p *TaskPlacement) UnmarshalJSON(data []byte) error {
	var items []json.RawMessage
	if err := codec.DecodePart(data, &items); err != nil {
		return err
	}
	*p = TaskPlacement{}
	for i, item := range items {
		item = bytes.TrimSpace(item)
		n, numeric := codec.Number(item)
		switch {
		case i == 0 && numeric && item[0] != '"':
			if n != float64(int32(n)) {
				return codec.Malformed("must begin with a whole number or with a task id")
			}
			p.Index, p.placed = int(n), true
		case item[0] == '"':
			var id lastmile.TaskID
			if err := codec.DecodePart(item, (*string)(&id)); err != nil {
				return err
			}
			p.IDs = append(p.IDs, id)
		default:
			return codec.Malformed("must hold task ids, and a position before them at most, not %s", codec.KindName(item[0]))
		}
	}
	return nil
}
