package wire

import (
	"bytes"
	"encoding/json"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// ContainerRecord is a container: an ordered list of tasks.
type ContainerRecord struct {
	// ID of the container, which differs from the ID of its owner.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the container was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the container was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// ID of the organization that owns the container.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Type of the container's owner.
	Type lastmile.ContainerKind `json:"type" example:"WORKER"`
	// ID of the task that the worker is carrying out; null if there is none. It is not included in
	// tasks.
	ActiveTask *lastmile.TaskID `json:"activeTask" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// IDs of the tasks, in order.
	Tasks []lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// ID of the team. Present only for the container of a team.
	Team lastmile.TeamID `json:"team,omitzero" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// ID of the worker. Present only for the container of a worker.
	Worker lastmile.WorkerID `json:"worker,omitzero" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
}

// NewContainer returns a container in its wire form.
func NewContainer(c lastmile.Container) ContainerRecord {
	ref := NewContainerRef(c.ContainerRef)
	return ContainerRecord{
		ID: c.ID(), TimeCreated: Millis(c.Created), TimeLastModified: Millis(c.Modified), Organization: c.Organization,
		Type: c.Kind, ActiveTask: OrNull(c.ActiveTask), Tasks: OrEmpty(c.Tasks), Team: ref.Team, Worker: ref.Worker,
	}
}

// ContainerBody is the body of a request to change the tasks of a container.
type ContainerBody struct {
	// Either a position followed by the IDs of the tasks to insert there, or the IDs of all tasks that
	// a worker is to have.
	Tasks *TaskPlacement `json:"tasks" required:"true" example:"[\"K2dF8gHj5LzX9cVb7NmQ4wRt\"]"`
	// Whether tasks connected to these by dependencies are moved together with them.
	ConsiderDependencies Flag `json:"considerDependencies"`
	// Alias of considerDependencies.
	IncludeDependencies Flag `json:"includeDependencies"`
}

// Change returns the requested change.
func (b ContainerBody) Change() (lastmile.ContainerChange, error) {
	if b.Tasks == nil {
		return lastmile.ContainerChange{}, lastmile.Missing("tasks")
	}
	return lastmile.ContainerChange{
		Tasks: b.Tasks.IDs, Index: b.Tasks.Index, Replace: !b.Tasks.placed,
		ConsiderDependencies: bool(b.ConsiderDependencies || b.IncludeDependencies),
	}, nil
}

// TaskPlacement is a list of task IDs that may begin with a position.
type TaskPlacement struct {
	Index  int
	IDs    []lastmile.TaskID
	placed bool
}

// SchemaOf returns a list whose items are task ids or positions, for documentation.
func (TaskPlacement) SchemaOf() any { return []placementItem{} }

// placementItem is an item of a TaskPlacement, for documentation.
type placementItem struct{}

// OneOf returns a value of each form, for documentation.
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
				return codec.Malformed("must begin with a position, which is a whole number between -2147483648 and 2147483647, or with a task id, not %s", shown(item))
			}
			p.Index, p.placed = int(n), true
		case item[0] == '"':
			var id lastmile.TaskID
			if err := codec.DecodePart(item, (*string)(&id)); err != nil {
				return err
			}
			if id == "" {
				return codec.Malformed("must hold task ids, not empty strings")
			}
			p.IDs = append(p.IDs, id)
		default:
			return codec.Malformed("must hold task ids, and a position before them at most, not %s", codec.KindName(item[0]))
		}
	}
	return nil
}
