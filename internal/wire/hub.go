package wire

import "dray/internal/lastmile"

// Hub is a hub: a location where teams start and end their routes.
type Hub struct {
	HubRecord
	// IDs of the teams at the hub.
	Teams []lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
}

// HubRecord is the part of a hub that changes only when a request changes it.
type HubRecord struct {
	// ID of the hub.
	ID lastmile.HubID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Name of the hub.
	Name string `json:"name" example:"Hudson Yards"`
	// Phone number of the hub, in international format. Absent if there is none.
	Phone lastmile.Phone `json:"phone,omitzero" example:"+12125550123"`
	// Location of the hub, as [longitude, latitude] in degrees.
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Address of the hub.
	Address Address `json:"address"`
}

// NewHub returns a hub in its wire form.
func NewHub(h lastmile.Hub) Hub {
	return Hub{HubRecord: NewHubRecord(h), Teams: OrEmpty(h.Teams)}
}

// NewHubRecord returns the stored part of a hub.
func NewHubRecord(h lastmile.Hub) HubRecord {
	return HubRecord{ID: h.ID, Name: h.Name, Phone: h.Phone, Location: LonLat(h.Location), Address: Address(h.Address)}
}

// Domain returns the stored part of the hub that the wire form represents.
func (r HubRecord) Domain(org lastmile.OrganizationID) lastmile.Hub {
	return lastmile.Hub{
		ID: r.ID, Organization: org, Name: r.Name, Phone: r.Phone,
		Location: r.Location.Point(), Address: lastmile.Address(r.Address),
	}
}

// NewHubBody is the body of a request to create a hub.
type NewHubBody struct {
	_ struct{} `required:"name,address"`
	HubBody
}

// HubBody is the body of a request to update a hub.
type HubBody struct {
	// Name of the hub.
	Name *string `json:"name"`
	// Phone number of the hub, in any common format.
	Phone *string `json:"phone" example:"+12125550142"`
	// Address of the hub.
	Address *SentAddress `json:"address"`
	// Location of the hub, as [longitude, latitude]. If it is sent, the address is not geocoded.
	Location *LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// IDs of the teams at the hub.
	Teams *[]lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
}

// Change returns the requested change without the location and the phone number.
func (b HubBody) Change() lastmile.HubChange {
	return lastmile.HubChange{Name: b.Name, Teams: b.Teams}
}

// Update returns the body of an update without an empty name or address, which a published
// client sends if they do not change.
func (b HubBody) Update() HubBody {
	if orZero(b.Name) == "" {
		b.Name = nil
	}
	if b.Address != nil && *b.Address == (SentAddress{}) {
		b.Address = nil
	}
	return b
}

// Place returns the requested address and location as a draft of a destination, or nil if the
// request has neither.
func (b HubBody) Place() *lastmile.DestinationDraft {
	if b.Address == nil && b.Location == nil {
		return nil
	}
	draft := DestinationBody{Address: b.Address, Location: b.Location}.Draft()
	return &draft
}
