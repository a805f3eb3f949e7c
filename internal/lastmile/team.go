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

// TeamChange is an update: nil leaves as it is, lists replace.
type TeamChange struct {
	Name                 *string
	Workers              *[]WorkerID
	Managers             *[]AdminID
	Hub                  *HubID // points to "" to have none
	EnableSelfAssignment *bool
	Metadata             MetadataChange
}

// NewTeam makes a team.
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

// Update changes a team.
func (t *Team) Update(c TeamChange, now time.Time) error {
	metadata, err := t.Metadata.Apply(c.Metadata)
	if err != nil {
		return err
	}
	t.Metadata = metadata
	set(&t.Name, c.Name)
	set(&t.Hub, c.Hub)
	set(&t.EnableSelfAssignment, c.EnableSelfAssignment)
	if c.Workers != nil {
		t.Workers = unique(*c.Workers)
	}
	if c.Managers != nil {
		t.Managers = unique(*c.Managers)
	}
	t.Modified = later(t.Modified, now)
	return requireText("name", t.Name)
}

// NewlyMade is a record in the answer to the request that made it, where that
// answer shows less or more than the record read later.
type NewlyMade[T any] struct{ Record T }

// Hub is a place where teams start and end their routes.
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

// HubChange is an update: nil leaves as it is.
type HubChange struct {
	Name  *string
	Phone *Phone
	Place *Destination // already found
	Teams *[]TeamID
}

// NewHub makes a hub.
func NewHub(id HubID, org OrganizationID, c HubChange, now time.Time) (Hub, error) {
	switch {
	case c.Name == nil:
		return Hub{}, Missing("name")
	case c.Place == nil:
		return Hub{}, Missing("address")
	}
	h := Hub{ID: id, Organization: org, Created: now}
	err := h.Update(c, now)
	return h, err
}

// Update changes a hub.
func (h *Hub) Update(c HubChange, now time.Time) error {
	set(&h.Name, c.Name)
	set(&h.Phone, c.Phone)
	if c.Place != nil {
		h.Location, h.Address = c.Place.Location, c.Place.Address
	}
	if c.Teams != nil {
		h.Teams = unique(*c.Teams)
	}
	h.Modified = later(h.Modified, now)
	return requireText("name", h.Name)
}
