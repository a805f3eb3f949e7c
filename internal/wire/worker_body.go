package wire

import (
	"bytes"

	"dray/internal/lastmile"
)

// WorkerBody is a worker in a request to create one.
type WorkerBody struct {
	Phone string `json:"phone"`
	WorkerUpdate
}

// WorkerUpdate is a worker in a request to change it. The phone number cannot
// change and is ignored.
type WorkerUpdate struct {
	Name                 *string               `json:"name"`
	DisplayName          Optional[string]      `json:"displayName"`
	Teams                *[]lastmile.TeamID    `json:"teams"`
	Vehicle              Optional[VehicleBody] `json:"vehicle"`
	Capacity             *float64              `json:"capacity"`
	AdditionalCapacities *Capacities           `json:"additionalCapacities"`
	Addresses            RoutingBody           `json:"addresses"`
	Address              RoutingBody           `json:"address"` // the name the interface's table uses
	Timezone             Optional[string]      `json:"timezone"`
	Metadata             MetadataUpdate        `json:"metadata"`
}

// VehicleBody is a vehicle in a request.
type VehicleBody struct {
	Type         *string `json:"type"`
	Description  *string `json:"description"`
	LicensePlate *string `json:"licensePlate"`
	Color        *string `json:"color"`
}

// RoutingBody is a worker's addresses in a request.
type RoutingBody struct {
	Routing Optional[DestinationRef] `json:"routing"`
}

// Draft returns what a request to create a worker asks for.
func (b WorkerBody) Draft() lastmile.WorkerDraft {
	return lastmile.WorkerDraft{Phone: b.Phone, Change: b.Change()}
}

// Change returns what the request asks for, but for the routing address.
func (b WorkerUpdate) Change() lastmile.WorkerChange {
	change := lastmile.WorkerChange{
		Name: b.Name, DisplayName: b.DisplayName.pointer(), Teams: b.Teams, Capacity: b.Capacity,
		AdditionalCapacities: (*lastmile.Capacities)(b.AdditionalCapacities),
		RemoveVehicle:        b.Vehicle.Null, RemoveRouting: b.Addresses.Routing.Null || b.Address.Routing.Null,
		Timezone: b.Timezone.pointer(), Metadata: b.Metadata.Domain(),
	}
	if b.Vehicle.Set() {
		vehicle := lastmile.VehicleChange(b.Vehicle.Value)
		change.Vehicle = &vehicle
	}
	return change
}

// Routing returns the routing address that was sent, or nil.
func (b WorkerUpdate) Routing() *DestinationRef {
	switch {
	case b.Addresses.Routing.Set():
		return &b.Addresses.Routing.Value
	case b.Address.Routing.Set():
		return &b.Address.Routing.Value
	}
	return nil
}

// DestinationRef is a destination in a request: the id of one, or the fields
// of a new one.
type DestinationRef struct {
	ID   lastmile.DestinationID
	Body *DestinationBody
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *DestinationRef) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '"':
		return decodeID(data, &d.ID, "the id of a destination or an object")
	case '{':
		d.Body = new(DestinationBody)
		return DecodePart(data, d.Body)
	}
	return malformed("must be the id of a destination or an object, not %s", kindName(data[0]))
}

// pointer is the value as an update of the domain has it: nil leaves as it is,
// null empties.
func (o Optional[T]) pointer() *T {
	if !o.Present {
		return nil
	}
	return &o.Value
}
