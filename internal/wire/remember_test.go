package wire_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func TestATaskIsEncodedAgainOnlyIfItDiffers(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	assigned := lastmile.Assignment{Actor: lastmile.Actor{Type: lastmile.ActorAPI, ID: "key"}, Container: lastmile.OrganizationContainer("acme"), At: now}
	task := lastmile.Task{
		ID: "task", Organization: "acme", Notes: "one", Modified: now, Recipient: &lastmile.Recipient{Name: "Ada"},
		History: []lastmile.Assignment{assigned},
	}
	forms := []struct {
		name   string
		encode func(*sync.Map, lastmile.Task) ([]byte, error)
	}{
		{"as shown", func(known *sync.Map, t lastmile.Task) ([]byte, error) { return wire.EncodeTask(known, t, wire.NewTask) }},
		{"as stored", func(known *sync.Map, t lastmile.Task) ([]byte, error) {
			return wire.EncodeTask(known, t, wire.NewTaskRecord)
		}},
		{"assignments", wire.EncodeAssignments},
	}
	changes := []func(*lastmile.Task){
		func(t *lastmile.Task) { t.Notes = "two" },
		func(t *lastmile.Task) { t.Modified = t.Modified.Add(time.Second) },
		func(t *lastmile.Task) { t.Recipient = &lastmile.Recipient{Name: "Bob"} },
		func(t *lastmile.Task) { t.Organization = "other" },
		func(t *lastmile.Task) { t.History = append(slices.Clip(t.History), assigned) },
		func(t *lastmile.Task) { t.Events++ },
	}
	known := &sync.Map{} // shared by all forms
	for _, form := range forms {
		changed := task
		for i := -1; i < len(changes); i++ {
			if i >= 0 {
				changes[i](&changed)
			}
			want, err := form.encode(nil, changed)
			if err != nil {
				t.Fatal(err)
			}
			first, _ := form.encode(known, changed)
			second, _ := form.encode(known, changed)
			equal := changed
			equal.Recipient = new(*changed.Recipient)
			third, _ := form.encode(known, equal)
			if string(first) != string(want) || string(second) != string(want) || string(third) != string(want) {
				t.Errorf("%s, change %d: %s, %s and %s, want %s", form.name, i, first, second, third, want)
			}
			if &first[0] != &second[0] || &first[0] != &third[0] {
				t.Errorf("%s, change %d: the same task was encoded twice", form.name, i)
			}
		}
	}
}
