package wire

import "dray/internal/lastmile"

// Hub is a place where teams start and end their routes.
type Hub struct {
	HubRecord
	// Ids of the teams at this hub.
	Teams []lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
}

// HubRecord is the part of a hub that only requests change.
type HubRecord struct {
	// Id of the record.
	ID lastmile.HubID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Name.
	Name string `json:"name" example:"Hudson Yards"`
	// Phone number in international form. Only if one was given.
	Phone lastmile.Phone `json:"phone,omitzero" example:"+12125550123"`
	// [longitude, latitude] in degrees.
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// The address in parts.
	Address Address `json:"address"`
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

// NewHubBody is a hub, as sent.
type NewHubBody struct {
	_ struct{} `required:"name,address"`
	HubBody
}

// HubBody is a hub, as sent.
type HubBody struct {
	// Name.
	Name *string `json:"name"`
	// Phone number in any usual form.
	Phone *string `json:"phone" example:"+12125550142"`
	// The address in parts.
	Address *SentAddress `json:"address"`
	// [longitude, latitude]. When sent, the address is not looked up.
	Location *LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Ids of teams.
	Teams *[]lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
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
	if b.Address != nil && *b.Address == (SentAddress{}) {
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
