package wire

import (
	"time"

	"dray/internal/lastmile"
)

// Worker is a worker as the interface shows it.
type Worker struct {
	WorkerRecord
	WorkerLive
}

// WorkerRecord is the part of a worker that only requests change.
type WorkerRecord struct {
	ID                   lastmile.WorkerID       `json:"id"`
	TimeCreated          Millis                  `json:"timeCreated"`
	TimeLastModified     Millis                  `json:"timeLastModified"`
	Organization         lastmile.OrganizationID `json:"organization"`
	Name                 string                  `json:"name"`
	DisplayName          *string                 `json:"displayName"` // null when none
	Phone                lastmile.Phone          `json:"phone"`
	Capacity             float64                 `json:"capacity"`
	AdditionalCapacities Capacities              `json:"additionalCapacities"`
	UserData             Device                  `json:"userData"`
	AccountStatus        lastmile.AccountStatus  `json:"accountStatus"`
	Metadata             Metadata                `json:"metadata"`
	Timezone             *string                 `json:"timezone"` // null when none
	ImageURL             *string                 `json:"imageUrl"` // null when none
	Addresses            WorkerAddresses         `json:"addresses"`
	Vehicle              *Vehicle                `json:"vehicle"` // null: on foot
}

// WorkerLive is the part of a worker that changes by the minute or with other
// records.
type WorkerLive struct {
	Teams        []lastmile.TeamID `json:"teams"`
	ActiveTask   *lastmile.TaskID  `json:"activeTask"` // null when none
	Tasks        []lastmile.TaskID `json:"tasks"`
	OnDuty       bool              `json:"onDuty"`
	TimeLastSeen Millis            `json:"timeLastSeen"` // null when never
	DelayTime    *Seconds          `json:"delayTime"`    // null when not delayed
	Location     *LonLat           `json:"location"`     // null when unknown
	Spoofed      bool              `json:"hasRecentlyUsedSpoofedLocations"`
}

// Capacities are a worker's additional capacities.
type Capacities struct {
	A float64 `json:"capacityA"`
	B float64 `json:"capacityB"`
	C float64 `json:"capacityC"`
}

// Device is what the worker's app told of its phone: {} when nothing.
type Device struct {
	AppVersion   string   `json:"appVersion,omitzero"`
	BatteryLevel *float64 `json:"batteryLevel,omitzero"`
	Description  string   `json:"deviceDescription,omitzero"`
	Platform     string   `json:"platform,omitzero"`
}

// Domain returns the device with its charge.
func (d Device) Domain() lastmile.DeviceReport {
	return lastmile.DeviceReport{
		Device: lastmile.Device{AppVersion: d.AppVersion, Description: d.Description, Platform: d.Platform}, Battery: d.BatteryLevel,
	}
}

// WorkerAddresses are a worker's addresses.
type WorkerAddresses struct {
	Routing *Destination `json:"routing"` // null when none
}

// Vehicle is a vehicle as the interface shows it.
type Vehicle struct {
	ID               lastmile.VehicleID   `json:"id"`
	Type             lastmile.VehicleType `json:"type"`
	Description      *string              `json:"description"`
	LicensePlate     *string              `json:"licensePlate"`
	Color            *string              `json:"color"`
	TimeLastModified Millis               `json:"timeLastModified"`
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

// NearbyWorkers is the answer to a search by location.
type NearbyWorkers struct {
	Workers []NearbyWorker `json:"workers"`
}

// NearbyWorker is a worker found by location.
type NearbyWorker struct {
	Worker
	IsResponding bool `json:"isResponding"` // was heard of in the last minutes
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
