// Package platform_test tests taskflow as a part of the platform.
package platform_test

import (
	"slices"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// Points in a row, about one kilometre from each other.
var (
	west   = lastmile.Point{Lon: -74.00, Lat: 40.70}
	middle = lastmile.Point{Lon: -73.99, Lat: 40.70}
	east   = lastmile.Point{Lon: -73.98, Lat: 40.70}
)

// in returns a draft of a task in a container.
func in(c lastmile.ContainerRef) lastmile.TaskDraft {
	d := apptest.Draft(middle)
	d.Container = &c
	return d
}

// list returns the tasks in a container, in their order.
func list(t *testing.T, o *apptest.Org, c lastmile.ContainerRef) []lastmile.TaskID {
	t.Helper()
	found, err := o.Containers.Container(t.Context(), o.Principal, c)
	if err != nil {
		t.Fatalf("read a container: %v", err)
	}
	return found.Tasks
}

// expectList fails unless a container has exactly these tasks.
func expectList(t *testing.T, o *apptest.Org, c lastmile.ContainerRef, want ...lastmile.TaskID) {
	t.Helper()
	if got := list(t, o, c); !slices.Equal(got, want) {
		t.Errorf("container %v has the tasks %v, want %v", c, got, want)
	}
}

// expectTriggers fails unless exactly these events were appended since the last
// call.
func expectTriggers(t *testing.T, o *apptest.Org, want ...string) {
	t.Helper()
	if got := o.Triggers(t); !slices.Equal(got, want) {
		t.Errorf("the events are %v, want %v", got, want)
	}
}

// expectCode fails unless err is a rejection with the code.
func expectCode(t *testing.T, err error, want lastmile.Code) {
	t.Helper()
	if apptest.Code(err) != want {
		t.Errorf("the error is %v, want one of code %v", err, want)
	}
}

// home returns the container of the organization.
func home(o *apptest.Org) lastmile.ContainerRef {
	return lastmile.OrganizationContainer(o.Principal.Organization)
}

// listOf returns the container of a worker.
func listOf(worker lastmile.Principal) lastmile.ContainerRef {
	return lastmile.WorkerContainer(worker.Worker)
}

// action returns an action of a worker's phone, with a new id.
func action(at *lastmile.Point) lastmile.Action {
	return lastmile.Action{ID: apptest.NewID[string](), Location: at}
}

// estimate saves estimates of a task, as tracking does.
func estimate(t *testing.T, o *apptest.Org, id lastmile.TaskID, e lastmile.Estimates) {
	t.Helper()
	o.Write(t, func(w *sqlstore.Tx) error {
		task, err := w.Task(t.Context(), o.Principal.Organization, id)
		if err != nil {
			return err
		}
		task.Estimates = e
		return w.SaveTask(t.Context(), task)
	})
}

// listen saves a webhook with a threshold.
func listen(t *testing.T, o *apptest.Org, trigger lastmile.Trigger, threshold float64) {
	t.Helper()
	hook := lastmile.Webhook{
		ID: apptest.NewID[lastmile.WebhookID](), Organization: o.Principal.Organization, Created: o.Now(), Modified: o.Now(),
		URL: "https://hooks.example.com/", Trigger: trigger, Threshold: &threshold, Enabled: true,
	}
	o.Write(t, func(w *sqlstore.Tx) error { return w.SaveWebhook(t.Context(), hook) })
}

// since selects the tasks since a time.
func since(from time.Time) taskflow.Query { return taskflow.Query{From: from} }
