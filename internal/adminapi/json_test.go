package adminapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/report"
	"dray/internal/settings"
	"dray/internal/textmessage"
)

func TestSettingsBodyDistinguishesAbsentAndNull(t *testing.T) {
	change := func(text string) settings.Change {
		t.Helper()
		var body OrganizationSettingsBody
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		return body.Change()
	}
	if c := change(`{}`); c.Email != nil || c.Radius != nil || c.Messages.From != nil || c.Messages.ETA != nil || c.Reasons != nil {
		t.Errorf("absent fields change %+v", c)
	}
	c := change(`{"email":null,"geofence":{"radius":null},"messages":{"from":null,"eta":90,"delay":1e300},"failureReasons":["OTHER"]}`)
	if *c.Email != "" || *c.Radius != lastmile.DefaultGeofenceRadius || *c.Messages.From != "" || *c.Messages.ETA != 90*time.Second || *c.Messages.Delay < 1e6*time.Hour/4 || (*c.Reasons)[0] != "OTHER" {
		t.Errorf("null and values change %+v", c)
	}
}

func TestInvitationsAreNotShown(t *testing.T) {
	for kind, shown := range map[textmessage.Kind]bool{textmessage.KindInvitation: false, textmessage.KindStarted: true} {
		m := NewMessage(textmessage.Message{Kind: kind, Body: "the password is secret"})
		if (m.Text != nil) != shown || m.Task != nil || m.Reason != nil {
			t.Errorf("%s: %+v", kind, m)
		}
	}
}

func TestAnalyticsOfAnEmptyPeriod(t *testing.T) {
	text, err := json.Marshal(NewAnalytics(report.Analytics{Total: report.Group{Created: new(0)}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"groups":[]`, `"failureReasons":{}`, `"rating":null`, `"created":0`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
}

func TestRatingsAreAverages(t *testing.T) {
	var totals report.Group
	totals.Ratings, totals.RatingTotal, totals.Succeeded, totals.Failed, totals.Failures = 2, 7, 3, 1, map[string]int{"OTHER": 1}
	group := newAnalyticsGroup(totals)
	if group.Completed != 4 || *group.Feedback.Rating != 3.5 || group.FailureReasons["OTHER"] != 1 || group.Created != nil {
		t.Errorf("%+v", group)
	}
}

func TestSearchResultsWithoutRecipients(t *testing.T) {
	found := NewSearchResult(report.Found{Tasks: []lastmile.Task{{ID: "t"}}, Workers: []lastmile.Worker{{ID: "w"}}})
	if len(found.Tasks) != 1 || found.Tasks[0].Recipient != nil || found.Tasks[0].Worker != nil || len(found.Workers) != 1 || found.Recipients == nil {
		t.Errorf("%+v", found)
	}
}

// TestTriggersAreInOrder also keeps the names that the dashboard reads: id, name,
// description, hasThreshold and sample.
func TestTriggersAreInOrder(t *testing.T) {
	all, err := Triggers()
	if err != nil || len(all) != len(about) {
		t.Fatalf("%d triggers: %v", len(all), err)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var shown []struct {
		ID           *int
		Name         string
		Description  string
		HasThreshold *bool
		Sample       map[string]any
	}
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, one := range shown {
		if one.ID == nil || *one.ID <= last || one.HasThreshold == nil || one.Description == "" || one.Sample["triggerName"] != one.Name {
			t.Fatalf("%+v", one)
		}
		last = *one.ID
	}
}
