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

// WorkerRecord is the part of a worker that changes only when a request changes it.
type WorkerRecord struct {
	// ID of the worker.
	ID lastmile.WorkerID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the worker was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the worker was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// ID of the organization that owns the worker.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Name of the worker.
	Name string `json:"name" example:"Ada Lovelace"`
	// Name that is shown instead of the worker's name in text messages, on tracking pages and to other
	// organizations; null if there is none.
	DisplayName *string `json:"displayName" example:"Ada"`
	// Phone number of the worker, in international format with a leading +.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
	// Capacity of the worker, in units.
	Capacity float64 `json:"capacity" example:"20"`
	// Three additional measures of the worker's capacity.
	AdditionalCapacities Capacities `json:"additionalCapacities"`
	// Information about the worker's phone, as reported by the app; an empty object if there is none.
	UserData Device `json:"userData"`
	// Status of the worker's invitation.
	AccountStatus lastmile.AccountStatus `json:"accountStatus" example:"ACCEPTED"`
	// Metadata of the worker: named values stored by integrations.
	Metadata Metadata `json:"metadata"`
	// IANA time zone of the worker; null if there is none.
	Timezone *string `json:"timezone" example:"America/New_York"`
	// URL of a picture of the worker; null if there is none.
	ImageURL *string `json:"imageUrl" example:"null"`
	// Addresses of the worker.
	Addresses WorkerAddresses `json:"addresses"`
	// Vehicle of the worker; null if the worker is on foot.
	Vehicle *Vehicle `json:"vehicle"`
}

// WorkerLive is the part of a worker that changes with time or with other records.
type WorkerLive struct {
	// IDs of the worker's teams.
	Teams []lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// ID of the task that the worker is carrying out; null if there is none.
	ActiveTask *lastmile.TaskID `json:"activeTask" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// IDs of the worker's tasks, in the order of the route.
	Tasks []lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Whether the worker is on duty.
	OnDuty bool `json:"onDuty" example:"true"`
	// Unix time in milliseconds at which the worker's app was last in contact; null if it never was.
	TimeLastSeen Millis `json:"timeLastSeen" nullable:"true" example:"1767229140000"`
	// Delay in seconds, the longest of all tasks of the worker; null if no task is delayed.
	DelayTime *Seconds `json:"delayTime" example:"null"`
	// Location of the worker, as [longitude, latitude]; null if unknown.
	Location *LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Whether the worker's phone recently reported a simulated location. Reserved; always false.
	Spoofed bool `json:"hasRecentlyUsedSpoofedLocations"`
}

// Capacities are three additional measures of a worker's capacity.
type Capacities struct {
	// First additional capacity.
	A float64 `json:"capacityA" example:"10"`
	// Second additional capacity.
	B float64 `json:"capacityB" example:"0"`
	// Third additional capacity.
	C float64 `json:"capacityC" example:"0"`
}

// Device is information about the worker's phone, as reported by the app.
type Device struct {
	// Version of the app.
	AppVersion string `json:"appVersion,omitzero" example:"1.0.0"`
	// Battery level, from 0 to 1.
	BatteryLevel *float64 `json:"batteryLevel,omitzero" example:"0.82"`
	// Make and model of the phone.
	Description string `json:"deviceDescription,omitzero" example:"Pixel 9"`
	// Operating system.
	Platform string `json:"platform,omitzero" example:"Android"`
}

// Domain returns the device with its battery level.
func (d Device) Domain() lastmile.DeviceReport {
	return lastmile.DeviceReport{
		Device: lastmile.Device{AppVersion: d.AppVersion, Description: d.Description, Platform: d.Platform}, Battery: d.BatteryLevel,
	}
}

// WorkerAddresses is the set of addresses of a worker.
type WorkerAddresses struct {
	// Location where the worker's routes may end; null if there is none.
	Routing *Destination `json:"routing" example:"null"`
}

// Vehicle is the vehicle of a worker.
type Vehicle struct {
	// ID of the vehicle.
	ID lastmile.VehicleID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Type of the vehicle.
	Type lastmile.VehicleType `json:"type"`
	// Description of the vehicle, such as make, model or year.
	Description *string `json:"description" example:"2022 Ford Transit"`
	// License plate of the vehicle.
	LicensePlate *string `json:"licensePlate" example:"7ABC123"`
	// Color of the vehicle.
	Color *string `json:"color" example:"white"`
	// Unix time in milliseconds at which the vehicle was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
}

// WorkerInvitation is the information that a worker needs to sign in.
type WorkerInvitation struct {
	// Link to the worker's app, for a QR code. It fills in the phone number and the password.
	Link string `json:"link" example:"https://dray.example.com/driver#/invitation/+12125550142/h7Kq2mXw9RtB"`
	// Phone number with which the worker signs in.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
	// Temporary password. It is shown only here.
	Password string `json:"password" example:"h7Kq2mXw9RtB"`
	// Unix time in milliseconds until which the password is valid.
	TimeExpires Millis `json:"timeExpires" example:"1767484800000"`
}

// NewWorker returns a worker in its wire form.
func NewWorker(w lastmile.Worker) Worker {
	shown := Worker{WorkerRecord: NewWorkerRecord(w), WorkerLive: NewWorkerLive(w)}
	shown.UserData.BatteryLevel = w.Whereabouts.Battery
	return shown
}

// NewWorkerRecord returns the stored part of a worker.
func NewWorkerRecord(w lastmile.Worker) WorkerRecord {
	record := WorkerRecord{
		ID: w.ID, TimeCreated: Millis(w.Created), TimeLastModified: Millis(w.Modified), Organization: w.Organization,
		Name: w.Name, DisplayName: OrNull(w.DisplayName), Phone: w.Phone, Capacity: w.Capacity,
		AdditionalCapacities: Capacities(w.AdditionalCapacities),
		UserData:             Device{AppVersion: w.Device.AppVersion, Description: w.Device.Description, Platform: w.Device.Platform},
		AccountStatus:        w.AccountStatus, Metadata: NewMetadata(w.Metadata),
		Timezone: OrNull(w.Timezone), ImageURL: OrNull(w.ImageURL),
	}
	if w.Routing != nil {
		routing := NewDestination(*w.Routing)
		record.Addresses.Routing = &routing
	}
	if v := w.Vehicle; v != nil {
		record.Vehicle = &Vehicle{
			ID: v.ID, Type: v.Type, Description: OrNull(v.Description), LicensePlate: OrNull(v.LicensePlate),
			Color: OrNull(v.Color), TimeLastModified: Millis(v.Modified),
		}
	}
	return record
}

// NewWorkerLive returns the part of a worker that changes with time or with other records.
func NewWorkerLive(w lastmile.Worker) WorkerLive {
	live := WorkerLive{
		Teams: OrEmpty(w.Teams), ActiveTask: OrNull(w.ActiveTask), Tasks: OrEmpty(w.Tasks),
		OnDuty: w.Whereabouts.OnDuty, TimeLastSeen: Millis(w.Whereabouts.LastSeen),
		DelayTime: (*Seconds)(w.Delay),
	}
	if at := w.Whereabouts.Location; at != nil {
		live.Location = (*LonLat)(at)
	}
	return live
}

// Domain returns the stored part of the worker that the wire form represents.
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

// NearbyWorkers is a list of workers near a location.
type NearbyWorkers struct {
	// Workers, nearest first.
	Workers []NearbyWorker `json:"workers"`
}

// NearbyWorker is a worker near a location.
type NearbyWorker struct {
	Worker
	// Whether the worker's app was in contact within the last five minutes.
	IsResponding bool `json:"isResponding" example:"true"`
}

// respondingFor is how long after the last contact a worker counts as responding.
const respondingFor = 5 * time.Minute

// NewNearbyWorkers returns workers near a location in their wire form.
func NewNearbyWorkers(found []lastmile.Worker, now time.Time) NearbyWorkers {
	near := make([]NearbyWorker, 0, len(found))
	for _, w := range found {
		near = append(near, NearbyWorker{Worker: NewWorker(w), IsResponding: now.Sub(w.Whereabouts.LastSeen) <= respondingFor})
	}
	return NearbyWorkers{Workers: near}
}
