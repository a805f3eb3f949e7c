package apptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// Org is a new organization, for tests of use cases. All tests of a binary share one
// platform on SQLite, which serves no requests and does no background work. Its clock is
// stopped; tests advance it.
type Org struct {
	*Platform
	Principal lastmile.Principal // with the organization's first API key

	seen int // number of events that Triggers has returned
}

// shared is the platform of the test binary.
var shared struct {
	once   sync.Once
	folder string
	made   *Platform
	err    error
}

// Main runs the tests of a binary that use NewOrg, for TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if err := closeShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func openShared() {
	if shared.folder, shared.err = os.MkdirTemp("", "dray-test-"); shared.err != nil {
		return
	}
	config := app.DefaultConfig()
	config.Data, config.Patience = shared.folder, time.Minute
	clock := new(clock)
	clock.stop()
	a, err := app.New(context.Background(), config, slog.New(slog.DiscardHandler), clock.now, true)
	if err == nil {
		hashQuickly(a)
	}
	shared.made, shared.err = &Platform{App: a, clock: clock}, err
}

func closeShared() error {
	var err error
	if shared.made != nil && shared.err == nil {
		err = shared.made.Stop(context.Background())
	}
	if shared.folder != "" {
		err = errors.Join(err, os.RemoveAll(shared.folder))
	}
	return err
}

// NewOrg creates an organization in the United States.
func NewOrg(t testing.TB) *Org {
	t.Helper()
	shared.once.Do(openShared)
	if shared.err != nil {
		t.Fatalf("build the platform: %v", shared.err)
	}
	p := shared.made
	p.Advance(time.Second)
	made, err := p.Organizations.Create(t.Context(), lastmile.OrganizationDraft{Name: "Acme", Country: "US", Timezone: "America/New_York"})
	if err != nil {
		t.Fatalf("create an organization: %v", err)
	}
	who, err := p.Keys.Authenticate(t.Context(), made.APIKey)
	if err != nil {
		t.Fatalf("authenticate: %v", err)
	}
	return &Org{Platform: p, Principal: who}
}

// phones counts the phone numbers that Phone has returned.
var phones atomic.Int64

// Phone returns a valid phone number that no other record of the binary has.
func Phone() lastmile.Phone {
	return lastmile.Phone(fmt.Sprintf("+1212%07d", 2_000_000+phones.Add(1)))
}

// Worker saves a worker, without a password or an invitation. The worker is on duty at the
// location, or off duty if it is nil.
func (o *Org) Worker(t testing.TB, name string, at *lastmile.Point, teams ...lastmile.TeamID) lastmile.Principal {
	t.Helper()
	now := o.Now()
	worker := lastmile.Worker{
		ID: NewID[lastmile.WorkerID](), Organization: o.Principal.Organization, Created: now, Modified: now,
		Name: name, Phone: Phone(), Teams: teams, Vehicle: &lastmile.Vehicle{ID: NewID[lastmile.VehicleID](), Type: lastmile.Car},
	}
	seen := lastmile.Whereabouts{OnDuty: at != nil, Location: at}
	if at != nil {
		seen.LastSeen, seen.LocatedAt = now, now
	}
	o.Write(t, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveWorker(t.Context(), worker), w.SaveWhereabouts(t.Context(), worker.Organization, worker.ID, seen))
	})
	return lastmile.Principal{Organization: worker.Organization, Worker: worker.ID}
}

// Team creates a team whose workers may claim tasks from its container.
func (o *Org) Team(t testing.TB, name string) lastmile.TeamID {
	t.Helper()
	made, err := o.Fleet.CreateTeam(t.Context(), o.Principal, lastmile.TeamChange{
		Name: &name, Workers: &[]lastmile.WorkerID{}, Managers: &[]lastmile.AdminID{}, EnableSelfAssignment: new(true),
	})
	if err != nil {
		t.Fatalf("create a team: %v", err)
	}
	return made.Record.ID
}

// Draft returns the draft of a task at a location, without a recipient.
func Draft(at lastmile.Point) lastmile.TaskDraft {
	return lastmile.TaskDraft{
		Destination: &lastmile.DestinationRef{Draft: &lastmile.DestinationDraft{
			Address: &lastmile.Address{Number: "1", Street: "Main Street", City: "Springfield", Country: "United States"}, Location: &at,
		}},
		Recipients: &[]lastmile.RecipientRef{},
	}
}

// Task creates a task from a draft.
func (o *Org) Task(t testing.TB, d lastmile.TaskDraft) lastmile.Task {
	t.Helper()
	made, err := o.Tasks.Create(t.Context(), o.Principal, d, nil)
	if err != nil {
		t.Fatalf("create a task: %v", err)
	}
	return made.Task
}

// Stored reads a task as it is stored.
func (o *Org) Stored(t testing.TB, id lastmile.TaskID) lastmile.Task {
	t.Helper()
	task, err := o.Tasks.Task(t.Context(), o.Principal, id)
	if err != nil {
		t.Fatalf("read task %s: %v", id, err)
	}
	return task
}

// Triggers returns the names of the triggers of the organization's events since
// the last call, in order.
func (o *Org) Triggers(t testing.TB) []string {
	t.Helper()
	names := []string{}
	all := o.Events(t, o.Principal.Organization)
	for _, body := range all[o.seen:] {
		var event struct{ TriggerName string }
		if err := json.Unmarshal(body, &event); err != nil {
			t.Fatalf("decode event %s: %v", body, err)
		}
		names = append(names, event.TriggerName)
	}
	o.seen = len(all)
	return names
}

// Write runs a transaction.
func (o *Org) Write(t testing.TB, fn func(*sqlstore.Tx) error) {
	t.Helper()
	if err := o.Store.Write(t.Context(), fn); err != nil {
		t.Fatalf("write: %v", err)
	}
}

// Read runs a read transaction.
func (o *Org) Read(t testing.TB, fn func(*sqlstore.Tx) error) {
	t.Helper()
	if err := o.Store.Read(t.Context(), fn); err != nil {
		t.Fatalf("read: %v", err)
	}
}

// NewID returns a new id.
func NewID[ID ~string]() ID { return ID(access.RandomSecret(lastmile.IDLength)) }

// Code returns the code of an error, or 0.
func Code(err error) lastmile.Code {
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok {
		return rejected.Code
	}
	return 0
}

// RunJobs processes batches until none is left.
func (o *Org) RunJobs(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { o.Jobs.Run(ctx) })
	o.Settle(t)
	stop()
	running.Wait()
}
