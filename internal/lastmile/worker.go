package lastmile

import (
	"math"
	"slices"
	"time"
)

// AccountStatus tells whether a worker has taken up the invitation.
type AccountStatus string

// The account statuses.
const (
	AccountInvited  AccountStatus = "INVITED"
	AccountAccepted AccountStatus = "ACCEPTED"
)

// WorkerState is what a worker is doing, as lists filter by it.
type WorkerState int

// The worker states.
const (
	WorkerOffDuty WorkerState = iota // not working
	WorkerIdle                       // on duty without an active task
	WorkerActive                     // on duty with an active task
)

// Capacities are the three additional measures of what a worker can carry, or
// of what a task weighs.
type Capacities struct{ A, B, C float64 }

// Device is what the worker's app told of its phone.
type Device struct{ AppVersion, Description, Platform string }

// Handset is a device and how far it is charged, which is nil when unknown.
type Handset struct {
	Device
	Battery *float64
}

// Whereabouts is the part of a worker that changes by the minute.
type Whereabouts struct {
	OnDuty   bool
	LastSeen time.Time // zero when never
	Location *Point    // nil when unknown
	Located  time.Time // when the worker was there
	Battery  *float64  // charge of the phone, from 0 to 1; nil when unknown
}

// Worker is a driver of the organization.
type Worker struct {
	ID                   WorkerID
	Organization         OrganizationID
	Created, Modified    time.Time
	Name                 string
	DisplayName          string // shown instead of the name outside the organization; may be empty
	Phone                Phone
	Capacity             float64
	AdditionalCapacities Capacities
	Vehicle              *Vehicle // nil: on foot
	Routing              *Destination
	Timezone             string
	AccountStatus        AccountStatus
	Device               Device
	ImageURL             string
	Metadata             Metadata

	Teams       []TeamID
	Whereabouts Whereabouts
	ActiveTask  TaskID
	Tasks       []TaskID
	Delay       *time.Duration // nil when not delayed
}

// State is what the worker is doing.
func (w Worker) State() WorkerState {
	switch {
	case !w.Whereabouts.OnDuty:
		return WorkerOffDuty
	case w.ActiveTask == "":
		return WorkerIdle
	}
	return WorkerActive
}

// WorkerDraft is what a worker is made from.
type WorkerDraft struct {
	Phone  string // as sent
	Change WorkerChange
}

// WorkerChange is an update: nil leaves as it is.
type WorkerChange struct {
	Name                 *string
	DisplayName          *string
	Teams                *[]TeamID
	Capacity             *float64
	AdditionalCapacities *Capacities
	Vehicle              *VehicleChange
	RemoveVehicle        bool
	Routing              *Destination // already found
	RemoveRouting        bool
	Timezone             *string
	Metadata             MetadataChange
}

// Check refuses a draft that lacks what a worker needs.
func (d WorkerDraft) Check() error {
	if d.Change.Name == nil {
		return Missing("name")
	}
	if d.Phone == "" {
		return Missing("phone")
	}
	if d.Change.Teams == nil {
		return Missing("teams").Because("an array of one or more team ids is required")
	}
	return nil
}

// NewWorker makes a worker, invited and off duty. The vehicle's id is for the
// vehicle, if the draft has one.
func NewWorker(id WorkerID, org OrganizationID, d WorkerDraft, phone Phone, vehicle VehicleID, now time.Time) (Worker, error) {
	w := Worker{ID: id, Organization: org, Created: now, Phone: phone, AccountStatus: AccountInvited}
	err := w.Update(d.Change, vehicle, now)
	return w, err
}

// Update changes what may change; the phone number never does.
func (w *Worker) Update(c WorkerChange, vehicle VehicleID, now time.Time) error {
	metadata, err := w.Metadata.Apply(c.Metadata)
	if err != nil {
		return err
	}
	w.Metadata = metadata
	switch {
	case c.RemoveVehicle:
		w.Vehicle = nil
	case c.Vehicle != nil:
		if w.Vehicle, err = w.Vehicle.apply(vehicle, *c.Vehicle, now); err != nil {
			return err
		}
	}
	switch {
	case c.RemoveRouting:
		w.Routing = nil
	case c.Routing != nil:
		w.Routing = c.Routing
	}
	set(&w.Name, c.Name)
	set(&w.DisplayName, c.DisplayName)
	set(&w.Capacity, c.Capacity)
	set(&w.AdditionalCapacities, c.AdditionalCapacities)
	set(&w.Timezone, c.Timezone)
	if c.Teams != nil {
		w.Teams = unique(*c.Teams)
		if len(w.Teams) == 0 {
			return Malformed("teams must name at least one team")
		}
	}
	w.Modified = later(w.Modified, now)
	return w.check()
}

func (w *Worker) check() error {
	err := firstError(
		requireText("name", w.Name),
		CheckText("displayName", w.DisplayName, MaxText),
		checkAmount("capacity", w.Capacity),
		checkAmount("additionalCapacities.capacityA", w.AdditionalCapacities.A),
		checkAmount("additionalCapacities.capacityB", w.AdditionalCapacities.B),
		checkAmount("additionalCapacities.capacityC", w.AdditionalCapacities.C),
	)
	if err == nil && w.Timezone != "" {
		err = checkTimezone("timezone", w.Timezone)
	}
	return err
}

// checkAmount refuses what cannot be a number of units.
func checkAmount(field string, n float64) error {
	if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return Invalid("%s must not be negative", field)
	}
	return nil
}

// unique drops repeats and keeps the order.
func unique[T comparable](items []T) []T {
	kept := make([]T, 0, len(items))
	for _, item := range items {
		if !slices.Contains(kept, item) {
			kept = append(kept, item)
		}
	}
	return kept
}

// Accept takes up the invitation, unless that was done before.
func (w *Worker) Accept(by Actor, now time.Time) []Event {
	if w.AccountStatus == AccountAccepted {
		return nil
	}
	w.AccountStatus, w.Modified = AccountAccepted, later(w.Modified, now)
	as := *w
	return []Event{{Organization: w.Organization, Trigger: TriggerWorkerUpdated, At: now, Actor: by, Worker: &as}}
}

// Carry notes what the worker's app tells of its phone. It tells whether the
// device is another one; the charge alone is no change of the worker.
func (w *Worker) Carry(h Handset, now time.Time) (changed bool, err error) {
	err = firstError(
		CheckText("userData.appVersion", h.AppVersion, MaxText), CheckText("userData.deviceDescription", h.Description, MaxText),
		CheckText("userData.platform", h.Platform, MaxText),
	)
	switch {
	case err != nil:
		return false, err
	case h.Battery != nil && Charge(h.Battery) == nil:
		return false, Invalid("userData.batteryLevel must be between 0 and 1, not %v", *h.Battery)
	case h.Battery != nil:
		w.Whereabouts.Battery = h.Battery
	}
	if w.Device == h.Device {
		return false, nil
	}
	w.Device, w.Modified = h.Device, later(w.Modified, now)
	return true, nil
}

// Charge is a charge that a phone may have, or nil: some say -1 when they do not
// know.
func Charge(level *float64) *float64 {
	if level == nil || !(*level >= 0 && *level <= 1) {
		return nil
	}
	return level
}

// SetDuty puts a worker on or off duty and tells it, unless nothing changes.
func (w *Worker) SetDuty(onDuty bool, by Actor, now time.Time) []Event {
	if w.Whereabouts.OnDuty == onDuty {
		return nil
	}
	w.Whereabouts.OnDuty, w.Whereabouts.LastSeen = onDuty, now
	as := *w
	return []Event{{Organization: w.Organization, Trigger: TriggerWorkerDuty, At: now, Actor: by, Worker: &as}}
}

// Route is all that the worker has to do: the active task first, then the list
// in order.
func (w Worker) Route() []TaskID {
	if w.ActiveTask == "" {
		return w.Tasks
	}
	return append([]TaskID{w.ActiveTask}, w.Tasks...)
}
