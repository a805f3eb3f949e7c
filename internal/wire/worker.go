package wire

import (
	"time"

	"dray/internal/lastmile"
)

// Worker is a worker.
type Worker struct {
	WorkerRecord
	WorkerLive
}

// WorkerRecord is the part of a worker that only requests change.
type WorkerRecord struct {
	// Id of the record.
	ID lastmile.WorkerID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// When the record was created, in Unix milliseconds.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Id of the organization that owns the record.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Name.
	Name string `json:"name" example:"Ada Lovelace"`
	// Shown in place of the name in text messages, on tracking pages and to other organizations; null
	// when none.
	DisplayName *string `json:"displayName" example:"Ada"`
	// Phone number in international form, with a leading +.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
	// Units that the worker can carry.
	Capacity float64 `json:"capacity" example:"20"`
	// Three more measures of what the worker can carry.
	AdditionalCapacities Capacities `json:"additionalCapacities"`
	// What the worker's app reported about the phone; an empty object when nothing.
	UserData Device `json:"userData"`
	// Whether the invitation was accepted.
	AccountStatus lastmile.AccountStatus `json:"accountStatus" example:"ACCEPTED"`
	// Values that integrations keep on the record.
	Metadata Metadata `json:"metadata"`
	// IANA time zone; null when none.
	Timezone *string `json:"timezone" example:"America/New_York"`
	// Picture of the worker; null when none.
	ImageURL *string `json:"imageUrl" example:"null"`
	// The worker's own addresses.
	Addresses WorkerAddresses `json:"addresses"`
	// The worker's vehicle; null means on foot.
	Vehicle *Vehicle `json:"vehicle"`
}

// WorkerLive is the part of a worker that changes by the minute or with other
// records.
type WorkerLive struct {
	// Ids of the worker's teams.
	Teams []lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// Id of the task that the worker is doing; null when none.
	ActiveTask *lastmile.TaskID `json:"activeTask" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Ids of the worker's tasks, in the order of the route.
	Tasks []lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Is working now.
	OnDuty bool `json:"onDuty" example:"true"`
	// When the worker's app was last heard of, in Unix milliseconds; null when never.
	TimeLastSeen Millis `json:"timeLastSeen" nullable:"true" example:"1767229140000"`
	// Seconds of delay, the most over the worker's tasks; null when not delayed.
	DelayTime *Seconds `json:"delayTime" example:"null"`
	// [longitude, latitude]; null when unknown.
	Location *LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// The phone recently made up its location.
	Spoofed bool `json:"hasRecentlyUsedSpoofedLocations"`
}

// Capacities are three measures beside the capacity.
type Capacities struct {
	// First measure.
	A float64 `json:"capacityA" example:"10"`
	// Second measure.
	B float64 `json:"capacityB" example:"0"`
	// Third measure.
	C float64 `json:"capacityC" example:"0"`
}

// Device is what the worker's app reported about the phone.
type Device struct {
	// Version of the app.
	AppVersion string `json:"appVersion,omitzero" example:"1.0.0"`
	// Charge of the battery, from 0 to 1.
	BatteryLevel *float64 `json:"batteryLevel,omitzero" example:"0.82"`
	// Make and model.
	Description string `json:"deviceDescription,omitzero" example:"Pixel 9"`
	// Operating system.
	Platform string `json:"platform,omitzero" example:"Android"`
}

// Domain returns the device with its charge.
func (d Device) Domain() lastmile.DeviceReport {
	return lastmile.DeviceReport{
		Device: lastmile.Device{AppVersion: d.AppVersion, Description: d.Description, Platform: d.Platform}, Battery: d.BatteryLevel,
	}
}

// WorkerAddresses are the worker's own addresses.
type WorkerAddresses struct {
	// Where the worker's routes may end; null when none.
	Routing *Destination `json:"routing" example:"null"`
}

// Vehicle is what a worker drives.
type Vehicle struct {
	// Id of the record.
	ID lastmile.VehicleID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Kind of vehicle.
	Type lastmile.VehicleType `json:"type"`
	// Make, model, year or other marks.
	Description *string `json:"description" example:"2022 Ford Transit"`
	// License plate.
	LicensePlate *string `json:"licensePlate" example:"7ABC123"`
	// Color.
	Color *string `json:"color" example:"white"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
}

// NewWorker returns a worker in the form that is sent.
func NewWorker(w lastmile.Worker) Worker {
	shown := Worker{WorkerRecord: NewWorkerRecord(w), WorkerLive: NewWorkerLive(w)}
	shown.UserData.BatteryLevel = w.Whereabouts.Battery
	return shown
}

// NewWorkerRecord returns the lasting part of a worker.
func NewWorkerRecord(w lastmile.Worker) WorkerRecord {
	record := WorkerRecord{
		ID: w.ID, TimeCreated: Millis(w.Created), TimeLastModified: Millis(w.Modified), Organization: w.Organization,
		Name: w.Name, DisplayName: orNull(w.DisplayName), Phone: w.Phone, Capacity: w.Capacity,
		AdditionalCapacities: Capacities(w.AdditionalCapacities),
		UserData:             Device{AppVersion: w.Device.AppVersion, Description: w.Device.Description, Platform: w.Device.Platform},
		AccountStatus:        w.AccountStatus, Metadata: NewMetadata(w.Metadata),
		Timezone: orNull(w.Timezone), ImageURL: orNull(w.ImageURL),
	}
	if w.Routing != nil {
		routing := NewDestination(*w.Routing)
		record.Addresses.Routing = &routing
	}
	if v := w.Vehicle; v != nil {
		record.Vehicle = &Vehicle{
			ID: v.ID, Type: v.Type, Description: orNull(v.Description), LicensePlate: orNull(v.LicensePlate),
			Color: orNull(v.Color), TimeLastModified: Millis(v.Modified),
		}
	}
	return record
}

// NewWorkerLive returns the part of a worker that changes by the minute.
func NewWorkerLive(w lastmile.Worker) WorkerLive {
	live := WorkerLive{
		Teams: orEmpty(w.Teams), ActiveTask: orNull(w.ActiveTask), Tasks: orEmpty(w.Tasks),
		OnDuty: w.Whereabouts.OnDuty, TimeLastSeen: Millis(w.Whereabouts.LastSeen),
		DelayTime: (*Seconds)(w.Delay),
	}
	if at := w.Whereabouts.Location; at != nil {
		live.Location = (*LonLat)(at)
	}
	return live
}

// Domain returns the lasting part of the worker that the form shows.
func (r WorkerRecord) Domain() lastmile.Worker {
	w := lastmile.Worker{
		ID: r.ID, Organization: r.Organization, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(),
		Name: r.Name, DisplayName: orZero(r.DisplayName), Phone: r.Phone, Capacity: r.Capacity,
		AdditionalCapacities: lastmile.Capacities(r.AdditionalCapacities),
		Device:               r.UserData.Domain().Device,
		AccountStatus:        r.AccountStatus, Metadata: r.Metadata.Domain(),
		Timezone: orZero(r.Timezone), ImageURL: orZero(r.ImageURL),
	}
	if r.Addresses.Routing != nil {
		routing := r.Addresses.Routing.Domain(r.Organization)
		w.Routing = &routing
	}
	if v := r.Vehicle; v != nil {
		w.Vehicle = &lastmile.Vehicle{
			ID: v.ID, Type: v.Type, Description: orZero(v.Description), LicensePlate: orZero(v.LicensePlate),
			Color: orZero(v.Color), Modified: v.TimeLastModified.Time(),
		}
	}
	return w
}

// NearbyWorkers is the workers near a place.
type NearbyWorkers struct {
	// Nearest first.
	Workers []NearbyWorker `json:"workers"`
}

// NearbyWorker is a worker near a place.
type NearbyWorker struct {
	Worker
	// Was heard of in the last five minutes.
	IsResponding bool `json:"isResponding" example:"true"`
}

// respondingFor is how long after its last word a worker counts as responding.
const respondingFor = 5 * time.Minute

// NewNearbyWorkers returns workers found by location in the form that is sent.
func NewNearbyWorkers(found []lastmile.Worker, now time.Time) NearbyWorkers {
	near := make([]NearbyWorker, 0, len(found))
	for _, w := range found {
		near = append(near, NearbyWorker{Worker: NewWorker(w), IsResponding: now.Sub(w.Whereabouts.LastSeen) <= respondingFor})
	}
	return NearbyWorkers{Workers: near}
}
