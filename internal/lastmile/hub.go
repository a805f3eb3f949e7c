package lastmile

import "time"

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
