package adminapi

import (
	"time"

	"dray/internal/lastmile"
	"dray/internal/settings"
	"dray/internal/wire"
)

// OrganizationSettings are the settings of the organization.
type OrganizationSettings struct {
	// Name of the organization.
	Name string `json:"name" example:"Example Couriers"`
	// Email address of the organization; empty if there is none.
	Email string `json:"email" example:"dispatch@example.com"`
	// Email address at which workers get support; empty if there is none.
	DriverSupportEmail string `json:"driverSupportEmail" example:"drivers@example.com"`
	// Upload ID of the logo; null if there is none. PUT /organization/logo sets it.
	Image *string `json:"image" example:"null"`
	// IANA time zone, such as America/New_York.
	Timezone string `json:"timezone" example:"America/New_York"`
	// Two-letter country code (ISO 3166-1).
	Country string `json:"country" example:"US"`
	// Two-letter language code (ISO 639-1) of text messages to recipients without a language.
	Language string `json:"language" example:"en"`
	// Least precise location that is accepted for an address: any, city, postalCode, street or house.
	GeocodingPrecision string `json:"geocodingPrecision" enum:"any,city,postalCode,street,house" example:"street"`
	// Where workers may complete tasks.
	Geofence GeofenceSettings `json:"geofence"`
	// Whether apps hide the barcodes that workers must scan.
	HideBarcodes bool `json:"hideBarcodes" example:"false"`
	// Reasons for failures that workers are offered, in the order in which apps list them.
	FailureReasons []string `json:"failureReasons" example:"[\"RECIPIENT_UNAVAILABLE\", \"OTHER\"]"`
	// What recipients see on tracking pages.
	TrackingPage wire.PageSettings `json:"trackingPage"`
	// How routes are planned again during the day.
	Replanning wire.Replanning `json:"replanning"`
	// Text messages to recipients. Their texts are at /messages/templates.
	Messages MessageSettings `json:"messages"`
	// What was learned from the organization's trips.
	Learned LearnedTravel `json:"learned"`
}

// GeofenceSettings are the rule about where workers may complete tasks.
type GeofenceSettings struct {
	// What happens when a worker completes a task elsewhere: off for nothing, warn to record it, block to prevent it.
	Level string `json:"level" enum:"off,warn,block" example:"warn"`
	// Distance from the destination, in meters.
	Radius float64 `json:"radius" example:"200"`
}

// MessageSettings are the settings of text messages to recipients.
type MessageSettings struct {
	// Phone number or name that messages come from; null for that of the installation.
	From *string `json:"from" example:"null"`
	// Time in seconds before the arrival at which recipients are notified; 0 for never.
	ETA int64 `json:"eta" example:"600"`
	// Delay in seconds from which on recipients are notified; 0 for never.
	Delay int64 `json:"delay" example:"900"`
}

// LearnedTravel is what was learned from the organization's trips.
type LearnedTravel struct {
	// Actual travel times, compared with the formula.
	Factor float64 `json:"factor" example:"1.12"`
	// Number of trips that this was learned from.
	Trips int `json:"trips" example:"431"`
	// Usual time at a stop, in seconds.
	ServiceTime float64 `json:"serviceTime" example:"140"`
}

// OrganizationSettingsBody changes settings of the organization. Absent fields stay unchanged.
type OrganizationSettingsBody struct {
	// Name of the organization.
	Name *string `json:"name" example:"Example Couriers"`
	// Email address of the organization; null removes it.
	Email wire.Optional[string] `json:"email" example:"dispatch@example.com"`
	// Email address at which workers get support; null removes it.
	DriverSupportEmail wire.Optional[string] `json:"driverSupportEmail" example:"drivers@example.com"`
	// IANA time zone, such as America/New_York.
	Timezone *string `json:"timezone" example:"America/New_York"`
	// Two-letter country code (ISO 3166-1).
	Country *string `json:"country" example:"US"`
	// Two-letter language code (ISO 639-1) of text messages to recipients without a language; null for that of the country.
	Language wire.Optional[string] `json:"language" example:"en"`
	// Least precise location that is accepted for an address: any, city, postalCode, street or house.
	GeocodingPrecision *string `json:"geocodingPrecision" enum:"any,city,postalCode,street,house" example:"street"`
	// Where workers may complete tasks.
	Geofence GeofenceBody `json:"geofence"`
	// Whether apps hide the barcodes that workers must scan.
	HideBarcodes *bool `json:"hideBarcodes" example:"false"`
	// Reasons for failures that workers are offered, in the order in which apps list them: at least one of RECIPIENT_UNAVAILABLE,
	// UNABLE_TO_LOCATE, WRONG_ADDRESS, NO_ACCESS, REFUSED_BY_RECIPIENT, AGE_NOT_VERIFIED, DAMAGED and OTHER.
	FailureReasons *[]string `json:"failureReasons" example:"[\"RECIPIENT_UNAVAILABLE\", \"OTHER\"]"`
	// What recipients see on tracking pages.
	TrackingPage wire.PageSettingsBody `json:"trackingPage"`
	// How routes are planned again during the day.
	Replanning wire.ReplanningBody `json:"replanning"`
	// Text messages to recipients.
	Messages MessageSettingsBody `json:"messages"`
}

// GeofenceBody changes the rule about where workers may complete tasks. Absent fields stay unchanged.
type GeofenceBody struct {
	// What happens when a worker completes a task elsewhere: off, warn or block.
	Level *string `json:"level" enum:"off,warn,block" example:"warn"`
	// Distance from the destination, in meters, from 1 to 10,000; null for 200.
	Radius wire.Optional[float64] `json:"radius" example:"150"`
}

// MessageSettingsBody changes the settings of text messages to recipients. Absent fields stay unchanged.
type MessageSettingsBody struct {
	// Phone number or name that messages come from; null for that of the installation.
	From wire.Optional[string] `json:"from" example:"null"`
	// Time in seconds before the arrival at which recipients are notified; 0 for never.
	ETA *float64 `json:"eta" example:"600"`
	// Delay in seconds from which on recipients are notified; 0 for never.
	Delay *float64 `json:"delay" example:"900"`
}

// NewOrganizationSettings returns settings in their wire form.
func NewOrganizationSettings(all settings.All) OrganizationSettings {
	o := all.Organization
	return OrganizationSettings{
		Name: o.Name, Email: o.Email, DriverSupportEmail: o.DriverSupportEmail, Image: wire.OrNull(o.Image), Timezone: o.Timezone, Country: o.Country,
		Language: all.Messages.DefaultLanguage(o.Country), GeocodingPrecision: all.Rules.GeocodingPrecision.String(),
		Geofence:     GeofenceSettings{Level: all.Rules.Geofence.Level.String(), Radius: float64(all.Rules.Geofence.Within())},
		HideBarcodes: all.Rules.HideBarcodes, FailureReasons: wire.FailureReasons(all.Rules),
		TrackingPage: wire.NewPageSettings(all.Page), Replanning: wire.NewReplanning(all.Replanning),
		Messages: MessageSettings{
			From: wire.OrNull(all.Messages.From), ETA: int64(all.Messages.Thresholds.ETA.Seconds()), Delay: int64(all.Messages.Thresholds.Delay.Seconds()),
		},
		Learned: LearnedTravel{Factor: all.Learned.Travel.Factor, Trips: all.Learned.Travel.Trips, ServiceTime: all.Learned.Service.Seconds()},
	}
}

// Change returns the change that the body represents.
func (b OrganizationSettingsBody) Change() settings.Change {
	c := settings.Change{
		Name: b.Name, Email: textOrEmpty(b.Email), DriverSupportEmail: textOrEmpty(b.DriverSupportEmail), Timezone: b.Timezone, Country: b.Country,
		Precision: b.GeocodingPrecision, GeofenceLevel: b.Geofence.Level, HideBarcodes: b.HideBarcodes, Reasons: b.FailureReasons,
		Page: b.TrackingPage.Change(), Replanning: b.Replanning.Change(),
		Messages: settings.MessageChange{Language: textOrEmpty(b.Language), From: textOrEmpty(b.Messages.From), ETA: seconds(b.Messages.ETA), Delay: seconds(b.Messages.Delay)},
	}
	if radius := b.Geofence.Radius; radius.Set() {
		c.Radius = new(lastmile.Meters(radius.Value))
	} else if radius.Null {
		c.Radius = new(lastmile.DefaultGeofenceRadius)
	}
	return c
}

// textOrEmpty returns nil for an absent text and an empty one for null.
func textOrEmpty(o wire.Optional[string]) *string {
	if !o.Present {
		return nil
	}
	return &o.Value
}

// seconds returns a number of seconds as a duration. One that is far too large stays
// too large.
func seconds(s *float64) *time.Duration {
	if s == nil {
		return nil
	}
	const most = 1e9
	return new(time.Duration(max(-most, min(most, *s)) * float64(time.Second)))
}
