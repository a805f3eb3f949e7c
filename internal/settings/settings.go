package settings

import (
	"context"
	"strings"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
	"dray/internal/travel"
)

// Settings reads and changes the settings of organizations.
type Settings struct {
	Store        store.Transactor[Reader, Writer]
	ParsePhone   func(raw, country string) (lastmile.Phone, error)
	KnownCountry func(code string) bool
	Speed        float64 // of workers, compared with reality
	Now          func() time.Time
}

// All are the settings of an organization, and what the platform has learned from its
// trips.
type All struct {
	Organization lastmile.Organization
	Rules        lastmile.Settings
	Page         lastmile.PageSettings
	Replanning   assignment.Replanning
	Messages     textmessage.Settings
	Learned      travel.Experience
}

// Change is an update of settings. Nil fields stay unchanged.
type Change struct {
	Name, Email, DriverSupportEmail, Timezone, Country *string

	Precision     *string
	GeofenceLevel *string
	Radius        *lastmile.Meters
	HideBarcodes  *bool
	Reasons       *[]string // for failures, that workers are offered

	Page       lastmile.PageSettingsChange
	Replanning assignment.ReplanningChange
	Messages   MessageChange
}

// MessageChange is an update of the settings of text messages. Nil fields stay
// unchanged.
type MessageChange struct {
	Language   *string // empty for that of the country
	From       *string // empty for the installation's
	ETA, Delay *time.Duration
}

// Read returns the settings of the caller's organization.
func (s *Settings) Read(ctx context.Context, who lastmile.Principal) (all All, err error) {
	err = s.Store.Read(ctx, func(r Reader) (err error) {
		if all, err = read(ctx, r, who.Organization); err != nil {
			return err
		}
		trips, err := r.Trips(ctx, who.Organization, travel.LearnedTrips)
		all.Learned = travel.Learn(trips, s.Speed)
		return err
	})
	return all, err
}

func read(ctx context.Context, r Reader, org lastmile.OrganizationID) (all All, err error) {
	if all.Organization, err = r.Organization(ctx, org); err != nil {
		return all, err
	}
	if all.Rules, err = r.Settings(ctx, org); err != nil {
		return all, err
	}
	if all.Page, err = r.PageSettings(ctx, org); err != nil {
		return all, err
	}
	if all.Replanning, err = r.Replanning(ctx, org); err != nil {
		return all, err
	}
	all.Messages, err = r.MessageSettings(ctx, org)
	return all, err
}

// Update changes settings of the caller's organization: all of the change, or nothing if
// a part of it is invalid.
func (s *Settings) Update(ctx context.Context, who lastmile.Principal, c Change) (All, error) {
	err := s.Store.Write(ctx, func(w Writer) error {
		all, err := read(ctx, w, who.Organization)
		if err != nil {
			return err
		}
		before := all
		if err := s.apply(&all, c); err != nil {
			return err
		}
		return save(ctx, w, before, &all, s.Now())
	})
	if err != nil {
		return All{}, err
	}
	return s.Read(ctx, who)
}

// apply changes settings and rejects invalid ones.
func (s *Settings) apply(all *All, c Change) error {
	if err := s.applyOrganization(&all.Organization, c); err != nil {
		return err
	}
	if err := applyRules(&all.Rules, c); err != nil {
		return err
	}
	if err := s.applyPage(&all.Page, c.Page, all.Organization.Country); err != nil {
		return lastmile.Within("trackingPage.", err)
	}
	if err := all.Replanning.Update(c.Replanning); err != nil {
		return lastmile.Within("replanning.", err)
	}
	lastmile.Set(&all.Messages.Language, c.Messages.Language)
	lastmile.Set(&all.Messages.From, c.Messages.From)
	lastmile.Set(&all.Messages.Thresholds.ETA, c.Messages.ETA)
	lastmile.Set(&all.Messages.Thresholds.Delay, c.Messages.Delay)
	return checkMessages(all.Messages)
}

// checkMessages rejects invalid settings of text messages. In requests, the language is
// beside them.
func checkMessages(m textmessage.Settings) error {
	if m.Language != "" {
		if err := textmessage.CheckLanguage("language", m.Language); err != nil {
			return err
		}
	}
	return lastmile.Within("messages.", m.Check())
}

func (s *Settings) applyOrganization(o *lastmile.Organization, c Change) error {
	draft := lastmile.OrganizationDraft{Name: o.Name, Email: o.Email, DriverSupportEmail: o.DriverSupportEmail, Timezone: o.Timezone, Country: o.Country}
	lastmile.Set(&draft.Name, c.Name)
	lastmile.Set(&draft.Email, c.Email)
	lastmile.Set(&draft.DriverSupportEmail, c.DriverSupportEmail)
	lastmile.Set(&draft.Timezone, c.Timezone)
	if c.Country != nil {
		if draft.Country = strings.ToUpper(*c.Country); !s.KnownCountry(draft.Country) {
			return lastmile.Invalid("country must be a two-letter country code (ISO 3166-1) such as US, not %q", lastmile.Truncate(*c.Country, 32))
		}
	}
	checked, err := lastmile.NewOrganization(o.ID, draft, o.Created)
	if err != nil {
		return err
	}
	checked.Modified, checked.Image = o.Modified, o.Image
	*o = checked
	return nil
}

func applyRules(rules *lastmile.Settings, c Change) (err error) {
	if c.Precision != nil {
		if rules.GeocodingPrecision, err = lastmile.ParsePrecision(*c.Precision); err != nil {
			return lastmile.Within("geocodingPrecision: ", err)
		}
	}
	if c.GeofenceLevel != nil {
		if rules.Geofence.Level, err = lastmile.ParseGeofenceLevel(*c.GeofenceLevel); err != nil {
			return lastmile.Within("geofence.level: ", err)
		}
	}
	if c.Radius != nil {
		if !(*c.Radius >= 1 && *c.Radius <= lastmile.MaxGeofenceRadius) {
			return lastmile.Invalid("geofence.radius must be between 1 and %.0f meters, not %v", float64(lastmile.MaxGeofenceRadius), float64(*c.Radius))
		}
		rules.Geofence.Radius = *c.Radius
	}
	lastmile.Set(&rules.HideBarcodes, c.HideBarcodes)
	if c.Reasons != nil {
		if rules.FailureReasons, err = parseReasons(*c.Reasons); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settings) applyPage(page *lastmile.PageSettings, c lastmile.PageSettingsChange, country string) (err error) {
	if c.Phone != nil {
		page.Phone = ""
		if *c.Phone != "" {
			if page.Phone, err = s.ParsePhone(*c.Phone, country); err != nil {
				return err
			}
		}
	}
	if c.Color != nil {
		page.Color = strings.ToLower(*c.Color)
	}
	lastmile.Set(&page.NewTimes, c.NewTimes)
	return page.Check()
}

// save saves the settings that have changed.
func save(ctx context.Context, w Writer, before All, all *All, now time.Time) error {
	org := all.Organization.ID
	if b, o := before.Organization, &all.Organization; b.Name != o.Name || b.Email != o.Email || b.DriverSupportEmail != o.DriverSupportEmail ||
		b.Timezone != o.Timezone || b.Country != o.Country {
		o.Modified = now
		if !now.After(b.Modified) {
			o.Modified = b.Modified.Add(time.Millisecond)
		}
		if err := w.SaveOrganization(ctx, *o); err != nil {
			return err
		}
	}
	if all.Rules != before.Rules {
		if err := w.SaveSettings(ctx, org, all.Rules); err != nil {
			return err
		}
	}
	if all.Page != before.Page {
		if err := w.SavePageSettings(ctx, org, all.Page); err != nil {
			return err
		}
	}
	if all.Replanning != before.Replanning {
		if err := w.SaveReplanning(ctx, org, all.Replanning); err != nil {
			return err
		}
	}
	if b, m := before.Messages, all.Messages; b.Language != m.Language || b.From != m.From || b.Thresholds != m.Thresholds {
		return w.SaveMessageSettings(ctx, m)
	}
	return nil
}
