package trackingpage_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/trackingpage"
)

func TestTimesThatMayBeRequested(t *testing.T) {
	const zone = "America/New_York"
	newYork, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour int) time.Time { return time.Date(2026, time.March, day, hour, 0, 0, 0, newYork) }
	for name, tt := range map[string]struct {
		now, first, last time.Time
		count            int
	}{
		"early in the morning":  {at(4, 5), at(4, 8), at(10, 17), 21}, // with a change to daylight saving time
		"two hours before noon": {at(4, 10), at(4, 12), at(10, 17), 20},
		"less than two hours":   {at(4, 10).Add(time.Minute), at(4, 17), at(10, 17), 19},
		"in the evening":        {at(4, 20), at(5, 8), at(10, 17), 18},
	} {
		t.Run(name, func(t *testing.T) {
			slots := trackingpage.Slots(tt.now, zone)
			if len(slots) != tt.count || !slots[0].After.Equal(tt.first) || !slots[len(slots)-1].After.Equal(tt.last) {
				t.Errorf("%d slots from %v to %v, want %d from %v to %v", len(slots), slots[0].After, slots[len(slots)-1].After, tt.count, tt.first, tt.last)
			}
			for _, s := range slots {
				if hours := s.Before.Sub(s.After).Hours(); hours < 4 || hours > 5 {
					t.Errorf("a slot of %v hours", hours)
				}
			}
		})
	}
}

func TestRequestingAnotherTime(t *testing.T) {
	task := failed("NO_ACCESS", "start")
	open := func(now time.Time, allowed bool) trackingpage.Page {
		t.Helper()
		page, err := trackingpage.New(&task, lastmile.Organization{Timezone: "UTC"}, nil, now)
		if err != nil {
			t.Fatal(err)
		}
		page.Customize(&task, lastmile.PageSettings{NewTimes: allowed}, allowed, now)
		return page
	}
	tomorrow := noon.Add(20 * time.Hour) // at eight
	page := open(noon, false)
	if _, err := page.Request(&task, tomorrow, noon); err == nil || !strings.Contains(err.Error(), "contact") {
		t.Errorf("without permission: %v", err)
	}
	page = open(noon, true)
	for _, begin := range []time.Time{{}, noon, tomorrow.Add(time.Minute), tomorrow.AddDate(0, 1, 0), tomorrow.AddDate(0, 0, -7)} {
		if _, err := page.Request(&task, begin, noon); err == nil {
			t.Errorf("%v was accepted", begin)
		}
	}
	if len(task.Metadata) != 0 {
		t.Fatalf("a rejected request was stored: %v", task.Metadata)
	}
	changes, err := page.Request(&task, tomorrow, noon)
	if err != nil || len(changes) != 1 || changes[0].Trigger != lastmile.TriggerTaskUpdated {
		t.Fatalf("%v %v", changes, err)
	}
	page = open(noon, true)
	if page.Requested == nil || !page.Requested.After.Equal(tomorrow) || !page.Requested.Before.Equal(tomorrow.Add(4*time.Hour)) {
		t.Fatalf("requested %v", page.Requested)
	}
	if changes, err := page.Request(&task, tomorrow, noon); err != nil || len(changes) != 0 {
		t.Errorf("the same request again: %v %v", changes, err)
	}
	if changes, err := page.Request(&task, tomorrow.Add(4*time.Hour), noon); err != nil || len(changes) != 1 || len(task.Metadata) != 1 {
		t.Errorf("another one: %v %v, stored %v", changes, err, task.Metadata)
	}
	active := lastmile.Task{State: lastmile.TaskActive}
	page, err = trackingpage.New(&active, lastmile.Organization{}, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	page.Customize(&active, lastmile.PageSettings{NewTimes: true}, true, noon)
	if _, err := page.Request(&active, tomorrow, noon); err == nil || len(page.NewTimes) != 0 {
		t.Errorf("another time for a task on its way: %v", err)
	}
}

func TestNoTimeIsOfferedThatCannotBeStored(t *testing.T) {
	text := func(name string, size int) lastmile.MetadataEntry {
		return lastmile.MetadataEntry{Name: name, Type: lastmile.MetadataString, Value: strings.Repeat("x", size)}
	}
	var many lastmile.Metadata
	for range lastmile.MaxMetadataEntries {
		many = append(many, text("name"+string(rune('A'+len(many))), 1))
	}
	large := lastmile.Metadata{}
	for size := range 4 {
		large = append(large, text("large"+string(rune('A'+size)), lastmile.MaxMetadataBytes/4-20))
	}
	requested := lastmile.MetadataEntry{Name: trackingpage.RequestedTime, Type: lastmile.MetadataObject, Value: map[string]any{
		"completeAfter": 1e12, "completeBefore": 1e12 + 1, "time": 1e12,
	}}
	for name, test := range map[string]struct {
		has     lastmile.Metadata
		offered bool
	}{
		"no metadata":                {nil, true},
		"as many entries as allowed": {many, false},
		"as many with a request":     {append(slices.Clone(many[1:]), requested), true},
		"almost as many bytes":       {large, false},
	} {
		t.Run(name, func(t *testing.T) {
			task := failed("NO_ACCESS", "start")
			if err := test.has.Validate("metadata"); err != nil {
				t.Fatal(err)
			}
			task.Metadata = test.has
			page, err := trackingpage.New(&task, lastmile.Organization{Timezone: "UTC"}, nil, noon)
			if err != nil {
				t.Fatal(err)
			}
			page.Customize(&task, lastmile.PageSettings{NewTimes: true}, true, noon)
			if got := len(page.NewTimes) > 0; got != test.offered {
				t.Fatalf("%d times are offered", len(page.NewTimes))
			}
			_, err = page.Request(&task, noon.Add(20*time.Hour), noon)
			if test.offered != (err == nil) || err != nil && !strings.Contains(err.Error(), "contact") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
