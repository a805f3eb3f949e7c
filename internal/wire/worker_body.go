package wire

import (
	"bytes"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// WorkerBody is the body of a request to create a worker.
type WorkerBody struct {
	_ struct{} `required:"name,phone,teams"`
	// Phone number, in any common format. Unique in the organization.
	Phone string `json:"phone" required:"true" example:"+12125550142"`
	WorkerUpdate
}

// WorkerUpdate is the body of a request to update a worker.
//
// The phone number cannot change and is ignored.
type WorkerUpdate struct {
	// Name of the worker.
	Name *string `json:"name"`
	// Name that is shown instead of the worker's name in text messages, on tracking pages and to other
	// organizations; null removes it.
	DisplayName Optional[string] `json:"displayName" example:"Ada"`
	// IDs of the worker's teams, at least one.
	Teams *[]lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// Vehicle of the worker; null if the worker is on foot.
	Vehicle Optional[VehicleBody] `json:"vehicle"`
	// Capacity of the worker, in units.
	Capacity *float64 `json:"capacity" example:"20"`
	// Three additional measures of the worker's capacity.
	AdditionalCapacities *Capacities `json:"additionalCapacities"`
	// Addresses of the worker.
	Addresses RoutingBody `json:"addresses"`
	// Alias of addresses.
	Address RoutingBody `json:"address"`
	// IANA time zone of the worker; null removes it.
	Timezone Optional[string] `json:"timezone" example:"America/New_York"`
	// Metadata of the worker: an array replaces all entries; an object sets entries with $set and
	// removes entries by name with $pop.
	Metadata MetadataUpdate `json:"metadata"`
}

// VehicleBody is a vehicle in a request.
type VehicleBody struct {
	// Type of the vehicle. Required if the worker has no vehicle.
	Type *string `json:"type" enum:"CAR,MOTORCYCLE,BICYCLE,TRUCK"`
	// Description of the vehicle, such as make, model or year.
	Description *string `json:"description" example:"2022 Ford Transit"`
	// License plate of the vehicle.
	LicensePlate *string `json:"licensePlate" example:"7ABC123"`
	// Color of the vehicle.
	Color *string `json:"color" example:"white"`
}

// RoutingBody is the set of addresses of a worker, in a request.
type RoutingBody struct {
	// Location where the worker's routes may end: the ID of a destination, or the fields of a new one;
	// null removes it.
	Routing Optional[DestinationRef] `json:"routing"`
}

// Draft returns the worker to create.
func (b WorkerBody) Draft() lastmile.WorkerDraft {
	return lastmile.WorkerDraft{Phone: b.Phone, Change: b.Change()}
}

// Change returns the requested change without the routing address.
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

// DestinationRef is a destination in a request: the ID of an existing destination, or the fields
// of a new one.
type DestinationRef struct {
	ID   lastmile.DestinationID
	Body *DestinationBody
}

// OneOf returns a value of each form, for documentation.
func (DestinationRef) OneOf() []any { return []any{lastmile.DestinationID(""), DestinationBody{}} }

// UnmarshalJSON implements json.Unmarshaler.
func (d *DestinationRef) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '"':
		return codec.DecodeID(data, &d.ID, "the id of a destination or an object")
	case '{':
		d.Body = new(DestinationBody)
		return codec.DecodePart(data, d.Body)
	}
	return codec.Malformed("must be the id of a destination or an object, not %s", codec.KindName(data[0]))
}

// pointer returns the value for an update of the domain: nil if it was absent, which changes
// nothing; a pointer to the zero value for null, which clears the field.
func (o Optional[T]) pointer() *T {
	if !o.Present {
		return nil
	}
	return &o.Value
}

// Schedule is the schedule of a worker.
type Schedule struct {
	// Entries of the schedule, one per day, latest day first.
	Entries []ScheduleEntry `json:"entries"`
}

// ScheduleEntry is one day of a schedule.
type ScheduleEntry struct {
	// Date as YYYY-MM-DD, in the time zone of the entry.
	Date string `json:"date" required:"true" example:"2030-01-07"`
	// IANA time zone of the day.
	Timezone string `json:"timezone" required:"true" example:"America/New_York"`
	// Shifts, each as [start, end] in Unix milliseconds. Shifts must not overlap.
	Shifts [][2]Millis `json:"shifts" example:"[[1894021200000, 1894050000000]]"`
}

// NewSchedule returns a schedule in its wire form.
func NewSchedule(schedule lastmile.Schedule) Schedule {
	entries := make([]ScheduleEntry, 0, len(schedule))
	for _, e := range schedule {
		shifts := make([][2]Millis, 0, len(e.Shifts))
		for _, s := range e.Shifts {
			shifts = append(shifts, [2]Millis{Millis(s.Start), Millis(s.End)})
		}
		entries = append(entries, ScheduleEntry{Date: e.Date, Timezone: e.Timezone, Shifts: shifts})
	}
	return Schedule{Entries: entries}
}

// Domain returns the days that the wire form represents.
func (s Schedule) Domain() []lastmile.ScheduleEntry {
	entries := make([]lastmile.ScheduleEntry, 0, len(s.Entries))
	for _, e := range s.Entries {
		entry := lastmile.ScheduleEntry{Date: e.Date, Timezone: e.Timezone}
		for _, shift := range e.Shifts {
			entry.Shifts = append(entry.Shifts, lastmile.Shift{Start: shift[0].Time(), End: shift[1].Time()})
		}
		entries = append(entries, entry)
	}
	return entries
}

// ScheduleBody is the body of a request to replace a worker's schedule.
type ScheduleBody struct {
	// Entries of the schedule, one per day, at most 366.
	Entries *[]ScheduleEntry `json:"entries" required:"true"`
}

// Domain returns the requested days.
func (b ScheduleBody) Domain() ([]lastmile.ScheduleEntry, error) {
	if b.Entries == nil {
		return nil, lastmile.Missing("entries")
	}
	return Schedule{Entries: *b.Entries}.Domain(), nil
}
