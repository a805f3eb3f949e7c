package lastmile

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// AccountStatus is the status of a worker's account.
type AccountStatus string

// The account statuses.
const (
	AccountInvited  AccountStatus = "INVITED"
	AccountAccepted AccountStatus = "ACCEPTED"
)

// WorkerState is what a worker is doing. Lists of workers can be filtered by it.
type WorkerState int

// The worker states.
const (
	WorkerOffDuty WorkerState = iota // not working
	WorkerIdle                       // on duty without an active task
	WorkerActive                     // on duty with an active task
)

// Capacities are the three additional capacities of a worker, or additional quantities of a
// task.
type Capacities struct{ A, B, C float64 }

// Device is the worker's phone, as reported by the app.
type Device struct{ AppVersion, Description, Platform string }

// DeviceReport is a device and its battery level, which is nil if unknown.
type DeviceReport struct {
	Device
	Battery *float64
}

// Whereabouts is the part of a worker that changes frequently.
type Whereabouts struct {
	OnDuty    bool
	LastSeen  time.Time // zero if never
	Location  *Point    // nil if unknown
	LocatedAt time.Time // when the worker was at Location
	Battery   *float64  // battery level of the phone, from 0 to 1; nil if unknown
	Odometer  Odometer
}

// Worker is a driver of the organization.
type Worker struct {
	ID                   WorkerID
	Organization         OrganizationID
	Created, Modified    time.Time
	Name                 string
	DisplayName          string // shown instead of the name to recipients; may be empty
	Phone                Phone
	Capacity             float64
	AdditionalCapacities Capacities
	Vehicle              *Vehicle // nil for none
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
	Delay       *time.Duration // nil if not delayed
}

// State returns what the worker is doing.
func (w Worker) State() WorkerState {
	switch {
	case !w.Whereabouts.OnDuty:
		return WorkerOffDuty
	case w.ActiveTask == "":
		return WorkerIdle
	}
	return WorkerActive
}

// WorkerDraft holds the input for a new worker.
type WorkerDraft struct {
	Phone  string // as sent
	Change WorkerChange
}

// WorkerChange is an update of a worker. Nil fields stay unchanged.
type WorkerChange struct {
	Name                 *string
	DisplayName          *string
	Teams                *[]TeamID
	Capacity             *float64
	AdditionalCapacities *Capacities
	Vehicle              *VehicleChange
	RemoveVehicle        bool
	Routing              *Destination // already geocoded
	RemoveRouting        bool
	Timezone             *string
	Metadata             MetadataChange
}

// Check rejects an incomplete draft.
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

// NewWorker returns an invited worker who is off duty. vehicle is the id for the worker's
// vehicle, if the draft has one.
func NewWorker(id WorkerID, org OrganizationID, d WorkerDraft, phone Phone, vehicle VehicleID, now time.Time) (Worker, error) {
	w := Worker{ID: id, Organization: org, Created: now, Phone: phone, AccountStatus: AccountInvited}
	_, err := w.Update(d.Change, vehicle, now)
	return w, err
}

// SetImage sets the URL of the worker's photo; an empty one removes it.
func (w *Worker) SetImage(url string, now time.Time) {
	w.ImageURL, w.Modified = url, nextModified(w.Modified, now)
}

// Update applies a change and reports whether the worker is different now. The
// phone number never changes.
func (w *Worker) Update(c WorkerChange, vehicle VehicleID, now time.Time) (changed bool, err error) {
	before := *w
	metadata, err := w.Metadata.Apply(c.Metadata)
	if err != nil {
		return false, err
	}
	w.Metadata = metadata
	switch {
	case c.RemoveVehicle:
		w.Vehicle = nil
	case c.Vehicle != nil:
		if w.Vehicle, err = w.Vehicle.apply(vehicle, *c.Vehicle, now); err != nil {
			return false, err
		}
	}
	switch {
	case c.RemoveRouting:
		w.Routing = nil
	case c.Routing != nil:
		w.Routing = c.Routing
	}
	Set(&w.Name, c.Name)
	Set(&w.DisplayName, c.DisplayName)
	Set(&w.Capacity, c.Capacity)
	Set(&w.AdditionalCapacities, c.AdditionalCapacities)
	Set(&w.Timezone, c.Timezone)
	if c.Teams != nil {
		w.Teams = Unique(*c.Teams)
		if len(w.Teams) == 0 {
			return false, Malformed("teams must name at least one team")
		}
	}
	return touch(&w.Modified, before, *w, now), w.check()
}

func (w *Worker) check() error {
	err := FirstError(
		RequireText("name", w.Name),
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

// checkAmount rejects an invalid number of units.
func checkAmount(field string, n float64) error {
	if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return Invalid("%s must not be negative", field)
	}
	return nil
}

// Unique removes duplicates and keeps the order.
func Unique[T comparable](items []T) []T {
	kept, seen := make([]T, 0, len(items)), make(map[T]bool, len(items))
	for _, item := range items {
		if !seen[item] {
			kept, seen[item] = append(kept, item), true
		}
	}
	return kept
}

// sameSet reports whether two lists have the same items in any order.
func sameSet[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Sorted(slices.Values(Unique(a))), slices.Sorted(slices.Values(Unique(b))))
}

// AcceptInvitation marks the invitation as accepted. It returns the event, or nil if the
// invitation was already accepted.
func (w *Worker) AcceptInvitation(by Actor, now time.Time) []Event {
	if w.AccountStatus == AccountAccepted {
		return nil
	}
	w.AccountStatus, w.Modified = AccountAccepted, nextModified(w.Modified, now)
	copied := *w
	return []Event{{Organization: w.Organization, Trigger: TriggerWorkerUpdated, At: now, Actor: by, Worker: &copied}}
}

// UpdateDevice stores the data that the worker's app reports about its phone, and reports
// whether the device changed. The battery level does not count as a change.
func (w *Worker) UpdateDevice(h DeviceReport, now time.Time) (changed bool, err error) {
	err = FirstError(
		CheckText("userData.appVersion", h.AppVersion, MaxText), CheckText("userData.deviceDescription", h.Description, MaxText),
		CheckText("userData.platform", h.Platform, MaxText),
	)
	switch {
	case err != nil:
		return false, err
	case h.Battery != nil && ValidBattery(h.Battery) == nil:
		return false, Invalid("userData.batteryLevel must be between 0 and 1, not %v", *h.Battery)
	case h.Battery != nil:
		w.Whereabouts.Battery = h.Battery
	}
	if w.Device == h.Device {
		return false, nil
	}
	w.Device, w.Modified = h.Device, nextModified(w.Modified, now)
	return true, nil
}

// ValidBattery returns level if it is valid, or else nil: some phones report -1
// for an unknown level.
func ValidBattery(level *float64) *float64 {
	if level == nil || !(*level >= 0 && *level <= 1) {
		return nil
	}
	return level
}

// SetDuty puts a worker on or off duty. It returns the event, or nil if nothing
// changes.
func (w *Worker) SetDuty(onDuty bool, by Actor, now time.Time) []Event {
	if w.Whereabouts.OnDuty == onDuty {
		return nil
	}
	w.Whereabouts.OnDuty, w.Whereabouts.LastSeen = onDuty, now
	copied := *w
	return []Event{{Organization: w.Organization, Trigger: TriggerWorkerDuty, At: now, Actor: by, Worker: &copied}}
}

// Route returns the tasks of the worker in order, with the active task first.
func (w Worker) Route() []TaskID {
	if w.ActiveTask == "" {
		return w.Tasks
	}
	return append([]TaskID{w.ActiveTask}, w.Tasks...)
}

// ShownName returns the name of the worker that recipients see, on the tracking
// page and in text messages: the display name, or else the first name.
func (w *Worker) ShownName() string {
	if name := PlainName(w.DisplayName); name != "" {
		return name
	}
	first, _, _ := strings.Cut(PlainName(w.Name), " ")
	return first
}

// VehicleType is the type of a vehicle.
type VehicleType string

// The vehicle types. A worker without a vehicle is on foot.
const (
	Car        VehicleType = "CAR"
	Motorcycle VehicleType = "MOTORCYCLE"
	Bicycle    VehicleType = "BICYCLE"
	Truck      VehicleType = "TRUCK"
)

// OnFoot is the vehicle type of a worker without a vehicle.
const OnFoot VehicleType = ""

// VehicleTypes lists every vehicle type.
var VehicleTypes = []VehicleType{Car, Motorcycle, Bicycle, Truck}

// Vehicle is the vehicle of a worker.
type Vehicle struct {
	ID           VehicleID
	Type         VehicleType
	Description  string
	LicensePlate string
	Color        string
	Modified     time.Time
}

// VehicleChange is an update of a vehicle. Nil fields stay unchanged.
type VehicleChange struct {
	Type                             *string
	Description, LicensePlate, Color *string
}

// apply returns the vehicle after a change. If v is nil, it returns a new vehicle with the id.
func (v *Vehicle) apply(id VehicleID, c VehicleChange, now time.Time) (*Vehicle, error) {
	next := Vehicle{ID: id}
	if v != nil {
		next = *v
	}
	before := next
	if c.Type != nil {
		next.Type = VehicleType(*c.Type)
	}
	if next.Type == "" {
		return nil, Missing("vehicle.type")
	}
	if !slices.Contains(VehicleTypes, next.Type) {
		return nil, Invalid("vehicle.type must be one of %s, not %q", VehicleTypeNames(), Truncate(string(next.Type), MaxShown))
	}
	Set(&next.Description, c.Description)
	Set(&next.LicensePlate, c.LicensePlate)
	Set(&next.Color, c.Color)
	touch(&next.Modified, before, next, now)
	return &next, FirstError(
		CheckText("vehicle.description", next.Description, MaxText),
		CheckText("vehicle.licensePlate", next.LicensePlate, MaxText),
		CheckText("vehicle.color", next.Color, MaxText),
	)
}

// VehicleTypeNames lists every vehicle type for an error message.
func VehicleTypeNames() string {
	names := make([]string, len(VehicleTypes))
	for i, t := range VehicleTypes {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// TravelsBy returns the type of the worker's vehicle.
func (w Worker) TravelsBy() VehicleType {
	if w.Vehicle == nil {
		return OnFoot
	}
	return w.Vehicle.Type
}
