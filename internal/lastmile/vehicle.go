package lastmile

import (
	"slices"
	"strings"
	"time"
)

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

// apply returns the vehicle after a change; a nil vehicle becomes a new one
// with the given id.
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
		return nil, Invalid("vehicle.type must be one of %s, not %q", VehicleTypeNames(), next.Type)
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
