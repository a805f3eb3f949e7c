package lastmile

import "time"

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
	Hub                  *HubID // a pointer to "" clears it
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
	_, err := t.Update(c, now)
	return t, err
}

// Update applies a change and reports whether the team is different now.
func (t *Team) Update(c TeamChange, now time.Time) (changed bool, err error) {
	before := *t
	metadata, err := t.Metadata.Apply(c.Metadata)
	if err != nil {
		return false, err
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
	return touch(&t.Modified, before, *t, now), RequireText("name", t.Name)
}

// CreatedRecord is a record in the response to the request that created it, if that differs
// from the response to reading the record.
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
	_, err := h.Update(c, now)
	return h, err
}

// Update applies a change and reports whether the hub is different now.
func (h *Hub) Update(c HubChange, now time.Time) (changed bool, err error) {
	before := *h
	Set(&h.Name, c.Name)
	Set(&h.Phone, c.Phone)
	if d := c.Destination; d != nil && (h.Location != d.Location || !h.Address.same(d.Address)) {
		h.Location, h.Address = d.Location, d.Address
	}
	if c.Teams != nil && !sameSet(h.Teams, *c.Teams) { // the order of teams is not stored
		h.Teams = Unique(*c.Teams)
	}
	return touch(&h.Modified, before, *h, now), RequireText("name", h.Name)
}
