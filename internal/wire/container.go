package wire

import (
	"bytes"
	"encoding/json"

	"dray/internal/lastmile"
)

// ContainerRecord is a container as the interface shows it.
type ContainerRecord struct {
	ID               string                  `json:"id"`
	TimeCreated      Millis                  `json:"timeCreated"`
	TimeLastModified Millis                  `json:"timeLastModified"`
	Organization     lastmile.OrganizationID `json:"organization"`
	Type             lastmile.ContainerKind  `json:"type"`
	ActiveTask       *lastmile.TaskID        `json:"activeTask"` // null when none
	Tasks            []lastmile.TaskID       `json:"tasks"`
	Team             lastmile.TeamID         `json:"team,omitzero"`
	Worker           lastmile.WorkerID       `json:"worker,omitzero"`
}

// NewContainer returns a container in the form that is sent.
func NewContainer(c lastmile.Container) ContainerRecord {
	ref := newContainer(c.ContainerRef)
	return ContainerRecord{
		ID: c.ID(), TimeCreated: Millis(c.Created), TimeLastModified: Millis(c.Modified), Organization: c.Organization,
		Type: c.Kind, ActiveTask: orNull(c.ActiveTask), Tasks: orEmpty(c.Tasks), Team: ref.Team, Worker: ref.Worker,
	}
}

// ContainerBody is a request to change a container.
type ContainerBody struct {
	Tasks                *TaskPlacement `json:"tasks"`
	ConsiderDependencies Flag           `json:"considerDependencies"`
	IncludeDependencies  Flag           `json:"includeDependencies"` // the name another client uses
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

// UnmarshalJSON implements json.Unmarshaler.
func (p *TaskPlacement) UnmarshalJSON(data []byte) error {
	var items []json.RawMessage
	if err := DecodePart(data, &items); err != nil {
		return err
	}
	for i, item := range items {
		item = bytes.TrimSpace(item)
		n, numeric := number(item)
		switch {
		case i == 0 && numeric && item[0] != '"':
			if n != float64(int32(n)) {
				return malformed("must begin with a whole number or with a task id")
			}
			p.Index, p.placed = int(n), true
		case item[0] == '"':
			var id lastmile.TaskID
			if err := DecodePart(item, (*string)(&id)); err != nil {
				return err
			}
			p.IDs = append(p.IDs, id)
		default:
			return malformed("must hold task ids, and a position before them at most, not %s", kindName(item[0]))
		}
	}
	return nil
}
