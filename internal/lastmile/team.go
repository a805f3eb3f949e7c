package lastmile

import (
	"time"
)

// Team is a group of workers with the administrators who manage it.
type Team struct {
	ID                   TeamID
	Organization         OrganizationID
	Created, Modified    time.Time
	Name                 string
	Hub                  HubID // where routes start and end; may be empty
	EnableSelfAssignment bool
	Metadata             Metadata

	Workers  []WorkerID
	Managers []AdminID
	Tasks    []TaskID
}

// TeamChange is an update of a team. Nil fields stay unchanged; lists are
// replaced.
type TeamChange struct {
	Name                 *string
	Workers              *[]WorkerID
	Managers             *[]AdminID
	Hub                  *HubID // points to "" to clear it
	EnableSelfAssignment *bool
	Metadata             MetadataChange
}

// NewTeam returns a new team.
func NewTeam(id TeamID, org OrganizationID, c TeamChange, now time.Time) (Team, error) {
	switch {
	case c.Name == nil:
		return Team{}, Missing("name")
	case c.Workers == nil:
		return Team{}, Missing("workers")
	case c.Managers == nil:
		return Team{}, Missing("managers")
	}
	t := Team{ID: id, Organization: org, Created: now}
	err := t.Update(c, now)
	return t, err
}

// Update applies a change.
func (t *Team) Update(c TeamChange, now time.Time) error {
	metadata, err := t.Metadata.Apply(c.Metadata)
	if err != nil {
		return err
	}
	t.Metadata = metadata
	Set(&t.Name, c.Name)
	Set(&t.Hub, c.Hub)
	Set(&t.EnableSelfAssignment, c.EnableSelfAssignment)
	if c.Workers != nil {
		t.Workers = Unique(*c.Workers)
	}
	if c.Managers != nil {
		t.Managers = Unique(*c.Managers)
	}
	t.Modified = nextModified(t.Modified, now)
	return RequireText("name", t.Name)
}

// CreatedRecord is a record in the response to the request that created it,
// where that response differs from reading the record.
type CreatedRecord[T any] struct{ Record T }

// Hub is a location where teams start and end their routes.
type Hub struct {
	ID                HubID
	Organization      OrganizationID
	Created, Modified time.Time
	Name              string
	Phone             Phone
	Location          Point
	Address           Address
	Teams             []TeamID
}

// HubChange is an update of a hub. Nil fields stay unchanged.
type HubChange struct {
	Name        *string
	Phone       *Phone
	Destination *Destination // already geocoded
	Teams       *[]TeamID
}

// NewHub returns a new hub.
func NewHub(id HubID, org OrganizationID, c HubChange, now time.Time) (Hub, error) {
	switch {
	case c.Name == nil:
		return Hub{}, Missing("name")
	case c.Destination == nil:
		return Hub{}, Missing("address")
	}
	h := Hub{ID: id, Organization: org, Created: now}
	err := h.Update(c, now)
	return h, err
}

// Update applies a change.
func (h *Hub) Update(c HubChange, now time.Time) error {
	Set(&h.Name, c.Name)
	Set(&h.Phone, c.Phone)
	if c.Destination != nil {
		h.Location, h.Address = c.Destination.Location, c.Destination.Address
	}
	if c.Teams != nil {
		h.Teams = Unique(*c.Teams)
	}
	h.Modified = nextModified(h.Modified, now)
	return RequireText("name", h.Name)
}
