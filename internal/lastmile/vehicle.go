package lastmile

import (
	"slices"
	"strings"
	"time"
)

// VehicleType is what a worker drives.
type VehicleType string

// The vehicle types. A worker without a vehicle is on foot.
const (
	Car        VehicleType = "CAR"
	Motorcycle VehicleType = "MOTORCYCLE"
	Bicycle    VehicleType = "BICYCLE"
	Truck      VehicleType = "TRUCK"
)

// OnFoot is how a worker without a vehicle gets about.
const OnFoot VehicleType = ""

// VehicleTypes lists every vehicle type.
var VehicleTypes = []VehicleType{Car, Motorcycle, Bicycle, Truck}

// Vehicle is what a worker drives.
type Vehicle struct {
	ID           VehicleID
	Type         VehicleType
	Description  string
	LicensePlate string
	Color        string
	Modified     time.Time
}

// VehicleChange is a vehicle as sent: nil leaves as it is.
type VehicleChange struct {
	Type                             *string
	Description, LicensePlate, Color *string
}

// apply makes or changes a vehicle. id is for a new one.
func (v *Vehicle) apply(id VehicleID, c VehicleChange, now time.Time) (*Vehicle, error) {
	next := Vehicle{ID: id}
	if v != nil {
		next = *v
	}
	if c.Type != nil {
		next.Type = VehicleType(*c.Type)
	}
	if next.Type == "" {
		return nil, Missing("vehicle.type")
	}
	if !slices.Contains(VehicleTypes, next.Type) {
		return nil, Invalid("vehicle.type must be one of %s, not %q", VehicleTypeNames(), next.Type)
	}
	set(&next.Description, c.Description)
	set(&next.LicensePlate, c.LicensePlate)
	set(&next.Color, c.Color)
	next.Modified = later(next.Modified, now)
	return &next, firstError(
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

// TravelsBy is the type of the worker's vehicle.
func (w Worker) TravelsBy() VehicleType {
	if w.Vehicle == nil {
		return OnFoot
	}
	return w.Vehicle.Type
}
