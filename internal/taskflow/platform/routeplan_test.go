package platform_test

import (
	"maps"
	"slices"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
)

// depot is an organization with two workers whose use cases are called directly.
type depot struct {
	*apptest.Platform
	who      lastmile.Principal
	ada, bob lastmile.WorkerID
	seen     int64
}

func newDepot(t *testing.T, p *apptest.Platform) *depot {
	t.Helper()
	c := p.Organization(t, "Acme")
	d := &depot{Platform: p, who: lastmile.Principal{Organization: c.Organization.ID}}
	c.Must(t, "POST", "/teams", `{"name":"North","workers":[],"managers":[]}`)
	team := c.Call(t, "GET", "/teams", nil).List(t)[0]["id"].(string)
	for phone, worker := range map[string]*lastmile.WorkerID{"+12125550101": &d.ada, "+12125550102": &d.bob} {
		*worker = lastmile.WorkerID(c.Must(t, "POST", "/workers", `{"name":"W","phone":"`+phone+`","teams":["`+team+`"]}`)["id"].(string))
	}
	return d
}

// task creates a task.
func (d *depot) task(t *testing.T) lastmile.TaskID {
	t.Helper()
	at := lastmile.Point{Lon: 1, Lat: 2}
	made, err := d.Tasks.Create(t.Context(), d.who, lastmile.TaskDraft{
		Destination: &lastmile.DestinationRef{Draft: &lastmile.DestinationDraft{Address: &lastmile.Address{City: "X", Country: "Y"}, Location: &at}},
		Recipients:  &[]lastmile.RecipientRef{},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.Task.ID
}

// newEvents returns how often each trigger occurred since the last call.
func (d *depot) newEvents(t *testing.T) map[string]int {
	t.Helper()
	events := map[string]int{}
	err := d.Store.Write(t.Context(), func(w *sqlstore.Tx) error {
		_, err := w.NumberEvents(t.Context(), 1_000)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Store.Read(t.Context(), func(r *sqlstore.Tx) error {
		found, err := r.EventsAfter(t.Context(), d.who.Organization, d.seen, 1_000, 0)
		for _, e := range found {
			events[e.Trigger.String()]++
			d.seen = e.Seq
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestRoutePlanEvents(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		d := newDepot(t, p)
		tasks := []lastmile.TaskID{d.task(t), d.task(t), d.task(t)}
		d.newEvents(t)
		name, start, first := "Round", app.Clock(), tasks[:2]
		var plan lastmile.RoutePlan
		change := func(c lastmile.RoutePlanChange) func() error {
			return func() (err error) {
				plan, err = d.RoutePlans.Update(t.Context(), d.who, plan.ID, c)
				return err
			}
		}
		complete := func(id lastmile.TaskID) func() error {
			return func() error {
				err := d.Store.Write(t.Context(), func(w *sqlstore.Tx) error {
					task, err := w.Task(t.Context(), d.who.Organization, id)
					if err != nil {
						return err
					}
					if _, err := task.Start(nil, lastmile.Estimates{}, lastmile.Actor{}, app.Clock()); err != nil {
						return err
					}
					return w.SaveTask(t.Context(), task)
				})
				if err != nil {
					return err
				}
				return d.Tasks.Complete(t.Context(), d.who, id, lastmile.Outcome{Success: true})
			}
		}
		for _, step := range []struct {
			what string
			do   func() error
			want map[string]int
		}{
			{"a plan without a worker is created", func() (err error) {
				plan, err = d.RoutePlans.Create(t.Context(), d.who, lastmile.RoutePlanChange{Name: &name, Start: &start, Tasks: &first})
				return err
			}, map[string]int{"routePlanCreated": 1, "taskUpdated": 2}},
			{"a worker gets it", change(lastmile.RoutePlanChange{Worker: &d.ada}), map[string]int{"routePlanUpdated": 1, "routePlanAssigned": 1, "taskAssigned": 2, "taskUpdated": 2}},
			{"it gets the same name", change(lastmile.RoutePlanChange{Name: &name, Worker: &d.ada, Tasks: &first}), map[string]int{}},
			{"it gets another name", change(lastmile.RoutePlanChange{Name: new("Tour")}), map[string]int{"routePlanUpdated": 1}},
			{"a task is added", func() (err error) {
				plan, err = d.RoutePlans.AddTasks(t.Context(), d.who, plan.ID, tasks[2:])
				return err
			}, map[string]int{"routePlanUpdated": 1, "taskAssigned": 1, "taskUpdated": 1}},
			{"another worker gets it", change(lastmile.RoutePlanChange{Worker: &d.bob}), map[string]int{
				"routePlanUpdated": 1, "routePlanUnassigned": 1, "routePlanAssigned": 1, "taskUnassigned": 3, "taskAssigned": 3, "taskUpdated": 3,
			}},
			{"a task leaves", change(lastmile.RoutePlanChange{Tasks: &first}), map[string]int{"routePlanUpdated": 1, "taskUpdated": 1}},
			{"its first task is done", complete(tasks[0]), map[string]int{"taskCompleted": 1, "taskUpdated": 1, "routePlanStarted": 1}},
			{"its last task is done", complete(tasks[1]), map[string]int{"taskCompleted": 1, "taskUpdated": 1, "routePlanCompleted": 1}},
			{"it has no worker any more", change(lastmile.RoutePlanChange{Worker: new(lastmile.WorkerID(""))}), map[string]int{"routePlanUpdated": 1, "routePlanUnassigned": 1}},
			{"it is deleted", func() error { return d.RoutePlans.Delete(t.Context(), d.who, plan.ID) }, map[string]int{"taskUpdated": 2}},
		} {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.what, err)
			}
			if got := d.newEvents(t); !maps.Equal(got, step.want) {
				t.Errorf("%s: events %v, want %v", step.what, got, step.want)
			}
		}
	})
}

func TestRoutePlanIsMadeOnceForAKey(t *testing.T) {
	d := newDepot(t, apptest.New(t))
	d.who.Receipt = &lastmile.Receipt{
		Organization: d.who.Organization, Key: "once", Method: "POST", Path: "/routePlans", BodyHash: "h", Created: app.Clock(),
		Encode: func(any) ([]byte, error) { return []byte(`{}`), nil },
	}
	name, start := "Round", app.Clock()
	for range 2 {
		//nolint:errcheck // the second gets the response to the first
		d.RoutePlans.Create(t.Context(), d.who, lastmile.RoutePlanChange{Name: &name, Start: &start})
	}
	plans, _, err := d.RoutePlans.List(t.Context(), d.who, taskflow.RoutePlanQuery{Limit: 10})
	if err != nil || len(plans) != 1 || !slices.Equal([]string{plans[0].Name}, []string{name}) {
		t.Errorf("%d plans, %v", len(plans), err)
	}
}
