package wire

import "dray/internal/lastmile"

// Hub is a hub as the interface shows it.
type Hub struct {
	HubRecord
	Teams []lastmile.TeamID `json:"teams"`
}

// HubRecord is the part of a hub that only requests change.
type HubRecord struct {
	ID       lastmile.HubID `json:"id"`
	Name     string         `json:"name"`
	Phone    lastmile.Phone `json:"phone,omitzero"` // only if given
	Location LonLat         `json:"location"`
	Address  Address        `json:"address"`
}

// NewHub returns a hub in the form that is sent.
func NewHub(h lastmile.Hub) Hub {
	return Hub{HubRecord: NewHubRecord(h), Teams: orEmpty(h.Teams)}
}

// NewHubRecord returns the lasting part of a hub.
func NewHubRecord(h lastmile.Hub) HubRecord {
	return HubRecord{ID: h.ID, Name: h.Name, Phone: h.Phone, Location: LonLat(h.Location), Address: Address(h.Address)}
}

// Domain returns the lasting part of the hub that the form shows.
func (r HubRecord) Domain(org lastmile.OrganizationID) lastmile.Hub {
	return lastmile.Hub{
		ID: r.ID, Organization: org, Name: r.Name, Phone: r.Phone,
		Location: r.Location.Point(), Address: lastmile.Address(r.Address),
	}
}

// HubBody is a hub in a request.
type HubBody struct {
	Name     *string            `json:"name"`
	Phone    *string            `json:"phone"`
	Address  *AddressBody       `json:"address"`
	Location *LonLat            `json:"location"`
	Teams    *[]lastmile.TeamID `json:"teams"`
}

// Change returns what the request asks for, but for place and phone number.
func (b HubBody) Change() lastmile.HubChange {
	return lastmile.HubChange{Name: b.Name, Teams: b.Teams}
}

// Update returns the body as a request to change a hub. A published client
// sends an empty name and an empty address for none.
func (b HubBody) Update() HubBody {
	if orZero(b.Name) == "" {
		b.Name = nil
	}
	if b.Address != nil && *b.Address == (AddressBody{}) {
		b.Address = nil
	}
	return b
}

// Place returns the place that was sent, by the rules of destinations, or nil.
func (b HubBody) Place() *lastmile.DestinationDraft {
	if b.Address == nil && b.Location == nil {
		return nil
	}
	draft := DestinationBody{Address: b.Address, Location: b.Location}.Draft()
	return &draft
}
