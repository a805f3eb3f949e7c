package settings

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// memory is the settings of an organization, and what was saved of them.
type memory struct {
	all   All
	saved []string
}

func (m *memory) Read(_ context.Context, fn func(Reader) error) error  { return fn(m) }
func (m *memory) Write(_ context.Context, fn func(Writer) error) error { return fn(m) }

func (m *memory) MessageSettings(context.Context, lastmile.OrganizationID) (textmessage.Settings, error) {
	return m.all.Messages, nil
}

func (m *memory) Organization(context.Context, lastmile.OrganizationID) (lastmile.Organization, error) {
	return m.all.Organization, nil
}

func (m *memory) PageSettings(context.Context, lastmile.OrganizationID) (lastmile.PageSettings, error) {
	return m.all.Page, nil
}

func (m *memory) Replanning(context.Context, lastmile.OrganizationID) (assignment.Replanning, error) {
	return m.all.Replanning, nil
}

func (m *memory) Settings(context.Context, lastmile.OrganizationID) (lastmile.Settings, error) {
	return m.all.Rules, nil
}

func (m *memory) Trips(context.Context, lastmile.OrganizationID, int) ([]lastmile.Trip, error) {
	return nil, nil
}

func (m *memory) SaveMessageSettings(_ context.Context, s textmessage.Settings) error {
	m.all.Messages, m.saved = s, append(m.saved, "messages")
	return nil
}

func (m *memory) SaveOrganization(_ context.Context, o lastmile.Organization) error {
	m.all.Organization, m.saved = o, append(m.saved, "organization")
	return nil
}

func (m *memory) SavePageSettings(_ context.Context, _ lastmile.OrganizationID, s lastmile.PageSettings) error {
	m.all.Page, m.saved = s, append(m.saved, "page")
	return nil
}

func (m *memory) SaveReplanning(_ context.Context, _ lastmile.OrganizationID, s assignment.Replanning) error {
	m.all.Replanning, m.saved = s, append(m.saved, "replanning")
	return nil
}

func (m *memory) SaveSettings(_ context.Context, _ lastmile.OrganizationID, s lastmile.Settings) error {
	m.all.Rules, m.saved = s, append(m.saved, "rules")
	return nil
}

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newSettings() (*Settings, *memory) {
	m := &memory{all: All{
		Organization: lastmile.Organization{ID: "acme", Name: "Acme", Timezone: "UTC", Country: "US", Created: now.Add(-time.Hour), Modified: now},
		Replanning:   assignment.DefaultReplanning,
	}}
	return &Settings{
		Store: m, Speed: 1, Now: func() time.Time { return now }, KnownCountry: func(code string) bool { return code == "DE" || code == "US" },
		ParsePhone: func(raw, country string) (lastmile.Phone, error) { return lastmile.Phone(country + raw), nil },
	}, m
}

func TestOnlyWhatHasChangedIsSaved(t *testing.T) {
	for name, test := range map[string]struct {
		change Change
		want   []string
	}{
		"nothing":        {Change{}, nil},
		"the same":       {Change{Name: new("Acme"), HideBarcodes: new(false)}, nil},
		"a name":         {Change{Name: new("New")}, []string{"organization"}},
		"a country":      {Change{Country: new("de")}, []string{"organization"}},
		"barcodes":       {Change{HideBarcodes: new(true)}, []string{"rules"}},
		"reasons":        {Change{Reasons: &[]string{"OTHER"}}, []string{"rules"}},
		"a geofence":     {Change{GeofenceLevel: new("warn"), Radius: new(lastmile.Meters(50))}, []string{"rules"}},
		"a color":        {Change{Page: lastmile.PageSettingsChange{Color: new("#AABBCC")}}, []string{"page"}},
		"a language":     {Change{Messages: MessageChange{Language: new("fr")}}, []string{"messages"}},
		"several things": {Change{Name: new("New"), HideBarcodes: new(true)}, []string{"organization", "rules"}},
	} {
		s, m := newSettings()
		if _, err := s.Update(t.Context(), lastmile.Principal{Organization: "acme"}, test.change); err != nil || !slices.Equal(m.saved, test.want) {
			t.Errorf("%s: saved %v, want %v: %v", name, m.saved, test.want, err)
		}
	}
}

func TestAnInvalidPartSavesNothing(t *testing.T) {
	for word, change := range map[string]Change{
		"name":                   {Name: new("")},
		"country":                {Country: new("Germany")},
		"timezone":               {Timezone: new("Mars/Olympus")},
		"precision":              {Precision: new("exact")},
		"geofence":               {GeofenceLevel: new("loud")},
		"radius":                 {Radius: new(lastmile.Meters(-1))},
		"color":                  {Page: lastmile.PageSettingsChange{Color: new("green")}},
		"eta":                    {Messages: MessageChange{ETA: new(-time.Second)}},
		"at least one":           {Reasons: &[]string{}},
		"failureReasons[1] must": {Reasons: &[]string{"OTHER", "NONE"}},
		"already":                {Reasons: &[]string{"OTHER", "OTHER"}},
	} {
		s, m := newSettings()
		change.HideBarcodes = new(true)
		_, err := s.Update(t.Context(), lastmile.Principal{Organization: "acme"}, change)
		if err == nil || !strings.Contains(err.Error(), word) || len(m.saved) != 0 {
			t.Errorf("%s: %v, saved %v", word, err, m.saved)
		}
	}
}

func TestModificationsHaveIncreasingTimes(t *testing.T) {
	s, m := newSettings()
	for range 2 { // in the same millisecond
		before := m.all.Organization.Modified
		if _, err := s.Update(t.Context(), lastmile.Principal{Organization: "acme"}, Change{Name: new(m.all.Organization.Name + "!")}); err != nil {
			t.Fatal(err)
		}
		if !m.all.Organization.Modified.After(before) {
			t.Errorf("modified %v, then %v", before, m.all.Organization.Modified)
		}
	}
}

func TestPhonesAreOfTheNewCountry(t *testing.T) {
	s, m := newSettings()
	_, err := s.Update(t.Context(), lastmile.Principal{Organization: "acme"}, Change{Country: new("DE"), Page: lastmile.PageSettingsChange{Phone: new("030")}})
	if err != nil || m.all.Page.Phone != "DE030" {
		t.Errorf("the phone is %s: %v", m.all.Page.Phone, err)
	}
}

func TestAllReasonsInOrderAreTheDefault(t *testing.T) {
	var all []string
	for _, reason := range lastmile.FailureReasons {
		all = append(all, string(reason))
	}
	for want, sent := range map[string][]string{"": all, "OTHER,NO_ACCESS": {"OTHER", "NO_ACCESS"}} {
		if got, err := parseReasons(sent); err != nil || got != want {
			t.Errorf("%v is stored as %q: %v", sent, got, err)
		}
	}
}
