package lastmile

import (
	"regexp"
	"strings"
	"time"
)

// Organization is a courier or delivery business. Every other record belongs to
// exactly one organization.
type Organization struct {
	ID                 OrganizationID
	Created, Modified  time.Time
	Name               string
	Email              string
	DriverSupportEmail string
	Image              string           // upload id of the logo
	Timezone           string           // IANA name
	Country            string           // ISO 3166-1 alpha-2
	Delegatees         []OrganizationID // loaded only for responses that show them
}

// OrganizationDraft holds the input for a new organization.
type OrganizationDraft struct {
	Name, Email, DriverSupportEmail, Timezone, Country string
}

// NewOrganization returns a new organization.
func NewOrganization(id OrganizationID, d OrganizationDraft, now time.Time) (Organization, error) {
	o := Organization{
		ID: id, Created: now, Modified: now,
		Name: d.Name, Email: d.Email, DriverSupportEmail: d.DriverSupportEmail,
		Timezone: d.Timezone, Country: strings.ToUpper(d.Country),
	}
	err := FirstError(
		RequireText("name", o.Name),
		checkEmail("email", o.Email),
		checkEmail("driverSupportEmail", o.DriverSupportEmail),
		checkCountryCode("country", o.Country),
		checkTimezone("timezone", o.Timezone),
	)
	return o, err
}

// SetLogo sets the logo; an empty id removes it.
func (o *Organization) SetLogo(logo UploadID, now time.Time) {
	o.Image, o.Modified = string(logo), nextModified(o.Modified, now)
}

var (
	emailForm   = regexp.MustCompile(`^[^\s@<>",;]+@[^\s@<>",;]+$`)
	countryForm = regexp.MustCompile(`^[A-Z]{2}$`)
)

// checkEmail rejects an invalid e-mail address; an empty one is accepted.
func checkEmail(field, email string) error {
	if email != "" && (len(email) > 254 || !emailForm.MatchString(email)) {
		return Invalid("%s %q is not an e-mail address", field, Truncate(email, MaxShown))
	}
	return nil
}

func checkCountryCode(field, code string) error {
	if !countryForm.MatchString(code) {
		return Invalid("%s must be a two-letter country code (ISO 3166-1) such as US, not %q", field, Truncate(code, MaxShown))
	}
	return nil
}

func checkTimezone(field, name string) error {
	if name == "" || name == "Local" {
		return Invalid("%s must be an IANA time zone such as America/New_York, not %q", field, Truncate(name, MaxShown))
	}
	if _, err := time.LoadLocation(name); err != nil {
		return Invalid("%s must be an IANA time zone such as America/New_York, not %q", field, Truncate(name, MaxShown))
	}
	return nil
}

// Delegatee is an organization as organizations connected with it see it.
type Delegatee Organization

// Settings are the settings of an organization.
type Settings struct {
	GeocodingPrecision Precision // minimum precision of addresses; zero accepts any
	Geofence           Geofence
	HideBarcodes       bool   // do not show workers which barcodes they must scan
	FailureReasons     string // reasons offered to workers, comma-separated; empty for all
}

// PageSettings are an organization's settings for the tracking pages of its recipients.
type PageSettings struct {
	Phone    Phone  // number for recipients to call; empty for none
	Color    string // color of links and buttons, as #rrggbb; empty for the default
	NewTimes bool   // recipients of failed tasks may request another time
}

// PageSettingsChange is an update of the settings of tracking pages. Nil fields stay
// unchanged.
type PageSettingsChange struct {
	Phone    *string // as dialed in the country of the organization; empty removes it
	Color    *string // empty restores the default
	NewTimes *bool
}

// Check rejects invalid settings. The phone number is already parsed.
func (s PageSettings) Check() error {
	if s.Color != "" && !colorForm.MatchString(s.Color) {
		return Invalid("color must be of the form #RRGGBB, such as #0b6b50, not %q", Truncate(s.Color, 32))
	}
	return nil
}
