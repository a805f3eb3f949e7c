package fleet_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app/apptest"
	"dray/internal/fleet"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/work"
)

func TestMain(m *testing.M) { apptest.Main(m) }

var (
	west = lastmile.Point{Lon: -74.00, Lat: 40.70}
	east = lastmile.Point{Lon: -73.98, Lat: 40.70}
)

// expectCode fails unless err is a rejection with the code.
func expectCode(t *testing.T, err error, want lastmile.Code) {
	t.Helper()
	if apptest.Code(err) != want {
		t.Errorf("the error is %v, want one of code %v", err, want)
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

// draft is a worker with a phone number.
func draft(phone string, teams ...lastmile.TeamID) fleet.WorkerDraft {
	return fleet.WorkerDraft{WorkerDraft: lastmile.WorkerDraft{Phone: phone, Change: lastmile.WorkerChange{Name: new("Ada"), Teams: &teams}}}
}

func TestCreateWorkerInvitesTheWorker(t *testing.T) {
	o := apptest.NewOrg(t)
	phone, team := apptest.Phone(), o.Team(t, "North")
	made, err := o.Fleet.CreateWorker(t.Context(), o.Principal, draft(string(phone[2:]), team))
	if err != nil || made.Phone != phone || made.AccountStatus != lastmile.AccountInvited || !slices.Equal(made.Teams, []lastmile.TeamID{team}) {
		t.Fatalf("the worker is %+v: %v", made, err)
	}
	expectTriggers(t, o, "workerCreated")
	texts := o.Outbox(t, string(phone))
	if len(texts) != 1 {
		t.Fatalf("%d text messages were sent, want the invitation", len(texts))
	}
	password := temporaryPassword(t, o, phone)
	session, err := o.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: string(phone), Password: password})
	if err != nil || !session.MustSetPassword || session.Principal.Worker != made.ID {
		t.Errorf("signed in with %q as %+v: %v", password, session.Principal, err)
	}
	_, err = o.Fleet.CreateWorker(t.Context(), o.Principal, draft(string(phone), team))
	expectCode(t, err, lastmile.CodeDuplicate)
}

// temporaryPassword returns the password in the latest invitation.
func temporaryPassword(t *testing.T, o *apptest.Org, phone lastmile.Phone) string {
	t.Helper()
	texts := o.Outbox(t, string(phone))
	if len(texts) == 0 {
		t.Fatalf("no text message to %s", phone)
	}
	_, rest, _ := strings.Cut(texts[len(texts)-1].Body, "temporary password ")
	password, _, _ := strings.Cut(rest, " ")
	return password
}

func TestInviteSendsANewPassword(t *testing.T) {
	o, ctx := apptest.NewOrg(t), t.Context()
	phone := apptest.Phone()
	made, err := o.Fleet.CreateWorker(ctx, o.Principal, draft(string(phone), o.Team(t, "North")))
	if err != nil {
		t.Fatal(err)
	}
	attempt := access.SignInAttempt{Phone: string(phone), Password: temporaryPassword(t, o, phone)}
	session, err := o.Sessions.SignIn(ctx, attempt)
	if err != nil {
		t.Fatal(err)
	}
	guess := access.SignInAttempt{Phone: string(phone), Password: "guess"}
	for range 6 {
		_, err = o.Sessions.SignIn(ctx, guess)
	}
	expectCode(t, err, lastmile.CodeTooMany)
	o.Triggers(t)
	o.Advance(time.Second)
	if _, err := o.Fleet.Invite(ctx, o.Principal, made.ID); err != nil {
		t.Fatal(err)
	}
	expectTriggers(t, o)
	_, err = o.Sessions.Authenticate(ctx, session.Token)
	expectCode(t, err, lastmile.CodeUnauthenticated) // sessions end
	_, err = o.Sessions.SignIn(ctx, attempt)
	expectCode(t, err, lastmile.CodeUnauthenticated) // the first invitation is replaced
	attempt.Password = temporaryPassword(t, o, phone)
	if session, err = o.Sessions.SignIn(ctx, attempt); err != nil || !session.MustSetPassword {
		t.Fatalf("signed in with the new invitation as %+v: %v", session, err)
	}
	if err := o.Fleet.SignOut(ctx, o.Principal, made.ID); err != nil {
		t.Fatal(err)
	}
	_, err = o.Sessions.Authenticate(ctx, session.Token)
	expectCode(t, err, lastmile.CodeUnauthenticated)
	other := apptest.NewOrg(t)
	_, err = o.Fleet.Invite(ctx, other.Principal, made.ID)
	expectCode(t, err, lastmile.CodeOutsideScope)
	expectCode(t, o.Fleet.SignOut(ctx, other.Principal, made.ID), lastmile.CodeOutsideScope)
}

func TestCreateWorkerRejects(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	team, foreign := o.Team(t, "North"), other.Team(t, "North")
	noName := draft(string(apptest.Phone()), team)
	noName.Change.Name = nil
	foreignAddress := draft(string(apptest.Phone()), team)
	foreignAddress.Routing = &fleet.RoutingAddress{ID: apptest.NewID[lastmile.DestinationID]()}
	for name, c := range map[string]struct {
		draft fleet.WorkerDraft
		want  lastmile.Code
	}{
		"no name":                     {noName, lastmile.CodeMalformed},
		"an invalid phone number":     {draft("12", team), lastmile.CodeInvalid},
		"another organization's team": {draft(string(apptest.Phone()), foreign), lastmile.CodeOutsideScope},
		"an unknown address":          {foreignAddress, lastmile.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.Fleet.CreateWorker(t.Context(), o.Principal, c.draft)
			expectCode(t, err, c.want)
		})
	}
	expectTriggers(t, o)
}

// teamStore counts the teams that transactions read with their members.
type teamStore struct {
	sqlstore.View[fleet.Reader, fleet.Writer]
	teams int
}

type teamReads struct {
	*sqlstore.Tx
	teams *int
}

func (r teamReads) Team(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error) {
	*r.teams++
	return r.Tx.Team(ctx, org, id)
}

func (s *teamStore) Write(ctx context.Context, fn func(fleet.Writer) error) error {
	return s.View.Write(ctx, func(w fleet.Writer) error { return fn(teamReads{w.(*sqlstore.Tx), &s.teams}) })
}

func TestTheTeamsOfAWorkerAreCheckedTogether(t *testing.T) {
	o := apptest.NewOrg(t)
	north, south := o.Team(t, "North"), o.Team(t, "South")
	s := &teamStore{View: sqlstore.For[fleet.Reader, fleet.Writer](o.Store)}
	counted := *o.Fleet
	counted.Store = s
	worker, err := counted.CreateWorker(t.Context(), o.Principal, draft(string(apptest.Phone()), north, south))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := counted.UpdateWorker(t.Context(), o.Principal, worker.ID, fleet.WorkerDraft{WorkerDraft: lastmile.WorkerDraft{
		Change: lastmile.WorkerChange{Teams: &[]lastmile.TeamID{south, north}},
	}}); err != nil {
		t.Fatal(err)
	}
	_, err = counted.CreateWorker(t.Context(), o.Principal, draft(string(apptest.Phone()), north, apptest.NewID[lastmile.TeamID]()))
	expectCode(t, err, lastmile.CodeNotFound)
	if s.teams > 0 {
		t.Errorf("%d teams were read with their members", s.teams)
	}
}

func TestUpdateWorker(t *testing.T) {
	o := apptest.NewOrg(t)
	north, south := o.Team(t, "North"), o.Team(t, "South")
	worker := o.Worker(t, "Ada", nil, north)
	changed, err := o.Fleet.UpdateWorker(t.Context(), o.Principal, worker.Worker, fleet.WorkerDraft{
		WorkerDraft: lastmile.WorkerDraft{Change: lastmile.WorkerChange{Name: new("Ada L."), Teams: &[]lastmile.TeamID{south}}},
		Routing:     &fleet.RoutingAddress{Draft: &lastmile.DestinationDraft{Address: &lastmile.Address{City: "X", Country: "US"}, Location: &east}},
	})
	if err != nil || changed.Name != "Ada L." || !slices.Equal(changed.Teams, []lastmile.TeamID{south}) || changed.Routing == nil || changed.Routing.Location != east {
		t.Errorf("the worker is %+v: %v", changed, err)
	}
	expectTriggers(t, o, "workerUpdated")
	stored, err := o.Fleet.Self(t.Context(), worker)
	if err != nil || stored.Name != "Ada L." {
		t.Errorf("stored is %+v: %v", stored, err)
	}
}

func TestDeleteWorkerUnassignsTasks(t *testing.T) {
	o := apptest.NewOrg(t)
	worker := o.Worker(t, "Ada", &west)
	d := apptest.Draft(east)
	d.Container = new(lastmile.WorkerContainer(worker.Worker))
	active, waiting := o.Task(t, d), o.Task(t, d)
	start := lastmile.Action{ID: apptest.NewID[string]()}
	if _, err := o.Work.Start(t.Context(), worker, active.ID, start); err != nil {
		t.Fatal(err)
	}
	expectCode(t, o.Fleet.DeleteWorker(t.Context(), o.Principal, worker.Worker), lastmile.CodeInvalid)
	if err := o.Tasks.Complete(t.Context(), o.Principal, active.ID, lastmile.Outcome{Success: true}); err != nil {
		t.Fatal(err)
	}
	o.Triggers(t)
	if err := o.Fleet.DeleteWorker(t.Context(), o.Principal, worker.Worker); err != nil {
		t.Fatal(err)
	}
	expectTriggers(t, o, "taskUnassigned", "taskUpdated", "workerDeleted")
	if got := o.Stored(t, waiting.ID); got.State != lastmile.TaskUnassigned || got.Worker != "" {
		t.Errorf("the task is %v of %q", got.State, got.Worker)
	}
	_, err := o.Fleet.Self(t.Context(), worker)
	expectCode(t, err, lastmile.CodeNotFound)
}

// steps runs transactions and records how many positions of a worker each of them deleted.
type steps struct {
	work.Store[work.Reader, fleet.ClearingWriter]
	count   func() int
	deleted []int
}

func (s *steps) Write(ctx context.Context, fn func(fleet.ClearingWriter) error) error {
	before := s.count()
	err := s.Store.Write(ctx, fn)
	s.deleted = append(s.deleted, before-s.count())
	return err
}

// TestDeleteWorkerKeepsPositionsOfWorkersWhoRemain rejects the deletion of a worker in the
// last moment: nothing of the worker is lost.
func TestDeleteWorkerKeepsPositionsOfWorkersWhoRemain(t *testing.T) {
	o := apptest.NewOrg(t)
	worker := o.Worker(t, "Ada", nil)
	err := o.Store.Write(t.Context(), func(w *sqlstore.Tx) error {
		return w.SavePositions(t.Context(), worker.Organization, worker.Worker, []lastmile.Position{{Location: west, At: o.Now()}})
	})
	if err != nil {
		t.Fatal(err)
	}
	busy := *o.Fleet
	busy.Store = overloaded{o.Fleet.Store, worker}
	if err := busy.DeleteWorker(t.Context(), o.Principal, worker.Worker); apptest.Code(err) != lastmile.CodeOverloaded {
		t.Fatalf("the deletion ended with %v", err)
	}
	o.Read(t, func(r *sqlstore.Tx) error {
		left, err := r.Positions(t.Context(), worker.Organization, worker.Worker, time.UnixMilli(0), 2)
		if len(left) != 1 {
			t.Errorf("%d positions are left, want 1", len(left))
		}
		return err
	})
}

// overloaded fails the transaction that deletes a worker, and no other.
type overloaded struct {
	store.Transactor[fleet.Reader, fleet.Writer]
	worker lastmile.Principal
}

func (s overloaded) Write(ctx context.Context, fn func(fleet.Writer) error) error {
	return s.Transactor.Write(ctx, func(w fleet.Writer) error {
		if err := fn(w); err != nil {
			return err
		}
		if _, err := w.Worker(ctx, s.worker.Organization, s.worker.Worker); lastmile.IsNotFound(err) {
			return lastmile.Overloaded("busy")
		}
		return nil
	})
}

func TestDeleteWorkerDeletesPositionsInSteps(t *testing.T) {
	const many, most = 1201, 500
	o := apptest.NewOrg(t)
	worker := o.Worker(t, "Ada", nil)
	positions := make([]lastmile.Position, many)
	for i := range positions {
		positions[i] = lastmile.Position{Location: west, At: o.Now().Add(-time.Duration(i) * time.Second)}
	}
	err := o.Store.Write(t.Context(), func(w *sqlstore.Tx) error {
		return w.SavePositions(t.Context(), worker.Organization, worker.Worker, positions)
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := &steps{Store: sqlstore.For[work.Reader, fleet.ClearingWriter](o.Store), count: func() (n int) {
		err := o.Store.Read(t.Context(), func(r *sqlstore.Tx) error {
			left, err := r.Positions(t.Context(), worker.Organization, worker.Worker, time.UnixMilli(0), 2*many)
			n = len(left)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}}
	if err := o.Fleet.DeleteWorker(t.Context(), o.Principal, worker.Worker); err != nil {
		t.Fatal(err)
	}
	if left := seen.count(); left != many {
		t.Errorf("the request left %d positions, want all for the job", left)
	}
	clearer := &fleet.Clearer{Store: seen, Now: o.Now}
	jobs := &work.Loop[work.Reader, fleet.ClearingWriter]{Kind: fleet.Clearing, Store: seen, Do: clearer.Clear, Limits: work.Limits{Total: 1, PerOrganization: 1}, Now: o.Now, NewID: o.Tasks.NewID, Log: o.Log}
	if n, err := jobs.RunDue(t.Context()); n == 0 || err != nil {
		t.Errorf("%d jobs were done: %v", n, err)
	}
	if slices.Max(seen.deleted) > most || seen.count() != 0 {
		t.Errorf("transactions deleted %v positions and left %d, want at most %d at once and none left", seen.deleted, seen.count(), most)
	}
}

func TestWorkersAreFiltered(t *testing.T) {
	o := apptest.NewOrg(t)
	team := o.Team(t, "North")
	near, member := o.Worker(t, "Near", &west), o.Worker(t, "Member", nil, team)
	far := o.Worker(t, "Far", &lastmile.Point{Lon: -80, Lat: 40})
	names := func(q fleet.WorkerQuery) []lastmile.WorkerID {
		t.Helper()
		found, err := o.Fleet.Workers(t.Context(), o.Principal, q)
		if err != nil {
			t.Fatal(err)
		}
		return ids(found)
	}
	self, err := o.Fleet.Self(t.Context(), near)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		query fleet.WorkerQuery
		want  []lastmile.WorkerID
	}{
		"of a team":           {fleet.WorkerQuery{Teams: []lastmile.TeamID{team}}, []lastmile.WorkerID{member.Worker}},
		"off duty":            {fleet.WorkerQuery{States: []lastmile.WorkerState{lastmile.WorkerOffDuty}}, []lastmile.WorkerID{member.Worker}},
		"with a phone number": {fleet.WorkerQuery{Phones: []string{string(self.Phone)}}, []lastmile.WorkerID{near.Worker}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := names(c.query); !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
		})
	}
	found, err := o.Fleet.WorkersNear(t.Context(), o.Principal, west, 0)
	if got := ids(found); err != nil || !slices.Equal(got, []lastmile.WorkerID{near.Worker}) {
		t.Errorf("near are %v, not %v: %v", got, far.Worker, err)
	}
	_, err = o.Fleet.WorkersNear(t.Context(), o.Principal, west, fleet.MaxRadius+1)
	expectCode(t, err, lastmile.CodeInvalid)
}

func ids(workers []lastmile.Worker) []lastmile.WorkerID {
	all := []lastmile.WorkerID{}
	for _, w := range workers {
		all = append(all, w.ID)
	}
	return all
}

func TestDuty(t *testing.T) {
	o := apptest.NewOrg(t)
	worker := o.Worker(t, "Ada", nil)
	set := func(onDuty bool) lastmile.Worker {
		t.Helper()
		got, err := o.Fleet.SetDuty(t.Context(), worker, onDuty, &lastmile.DeviceReport{Device: lastmile.Device{Platform: "ANDROID"}, Battery: new(0.5)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := set(true); !got.Whereabouts.OnDuty || got.Device.Platform != "ANDROID" {
		t.Errorf("the worker is %+v", got)
	}
	expectTriggers(t, o, "workerDuty")
	set(true)
	expectTriggers(t, o) // nothing has changed
	o.Advance(time.Hour)
	set(false)
	expectTriggers(t, o, "workerDuty")
	o.Advance(time.Minute)
	window := lastmile.Window{From: o.Now().Add(-2 * time.Hour), To: o.Now()}
	details, err := o.Fleet.WorkerDetails(t.Context(), o.Principal, worker.Worker, &window)
	if err != nil || details.Analytics == nil || len(details.Analytics.Events) != 2 {
		t.Errorf("the details are %+v: %v", details.Analytics, err)
	}
}

func TestTeams(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	team, worker, foreign := o.Team(t, "North"), o.Worker(t, "Ada", nil), other.Worker(t, "Eve", nil)
	create := func(name string, workers ...lastmile.WorkerID) error {
		_, err := o.Fleet.CreateTeam(t.Context(), o.Principal, lastmile.TeamChange{Name: &name, Workers: &workers, Managers: &[]lastmile.AdminID{}})
		return err
	}
	expectCode(t, create("North"), lastmile.CodeNotUnique)
	expectCode(t, create("South", foreign.Worker), lastmile.CodeOutsideScope)
	expectCode(t, create("South", apptest.NewID[lastmile.WorkerID]()), lastmile.CodeInvalid)

	changed, err := o.Fleet.UpdateTeam(t.Context(), o.Principal, team, lastmile.TeamChange{Workers: &[]lastmile.WorkerID{worker.Worker}})
	if err != nil || !slices.Equal(changed.Workers, []lastmile.WorkerID{worker.Worker}) {
		t.Fatalf("the team is %+v: %v", changed, err)
	}
	_, err = other.Fleet.UpdateTeam(t.Context(), other.Principal, team, lastmile.TeamChange{Name: new("Taken over")})
	expectCode(t, err, lastmile.CodeOutsideScope)

	d := apptest.Draft(west)
	d.Container = new(lastmile.TeamContainer(team))
	task := o.Task(t, d)
	if err := o.Fleet.DeleteTeam(t.Context(), o.Principal, team); err != nil {
		t.Fatal(err)
	}
	if got := o.Stored(t, task.ID).Container; got != lastmile.OrganizationContainer(o.Principal.Organization) {
		t.Errorf("the task of the team is in %v", got)
	}
	if got, err := o.Fleet.Self(t.Context(), worker); err != nil || len(got.Teams) != 0 {
		t.Errorf("the worker is in the teams %v: %v", got.Teams, err)
	}
	if teams, err := o.Fleet.Teams(t.Context(), o.Principal, nil); err != nil || len(teams) != 0 {
		t.Errorf("the teams are %+v: %v", teams, err)
	}
}

// hub creates a hub of teams.
func hub(t *testing.T, o *apptest.Org, teams ...lastmile.TeamID) (lastmile.Hub, error) {
	t.Helper()
	return o.Fleet.CreateHub(t.Context(), o.Principal, fleet.HubDraft{
		Change: lastmile.HubChange{Name: new("Depot"), Teams: &teams}, Phone: new("(212) 555-0123"),
		Address: &lastmile.DestinationDraft{Address: &lastmile.Address{Number: "1", Street: "Main", City: "X", Country: "US"}, Location: &west},
	})
}

func TestHubs(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	team, foreign := o.Team(t, "North"), other.Team(t, "North")
	made, err := hub(t, o, team)
	if err != nil || made.Location != west || made.Phone != "+12125550123" {
		t.Fatalf("the hub is %+v: %v", made, err)
	}
	_, err = hub(t, o, foreign)
	expectCode(t, err, lastmile.CodeOutsideScope)
	changed, err := o.Fleet.UpdateHub(t.Context(), o.Principal, made.ID, fleet.HubDraft{Change: lastmile.HubChange{Name: new("Yard")}, Phone: new("")})
	if err != nil || changed.Name != "Yard" || changed.Phone != "" || changed.Location != west {
		t.Errorf("the hub is %+v: %v", changed, err)
	}
	if hubs, err := o.Fleet.Hubs(t.Context(), o.Principal); err != nil || len(hubs) != 1 {
		t.Errorf("the hubs are %+v: %v", hubs, err)
	}
}

func TestSchedules(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	worker := o.Worker(t, "Ada", nil)
	day := o.Now().Add(48 * time.Hour).Truncate(24 * time.Hour)
	entry := lastmile.ScheduleEntry{Date: day.Format(time.DateOnly), Timezone: "UTC", Shifts: []lastmile.Shift{{Start: day.Add(8 * time.Hour), End: day.Add(16 * time.Hour)}}}
	past := lastmile.ScheduleEntry{Date: "2020-01-01", Timezone: "UTC"}
	set, err := o.Fleet.SetSchedule(t.Context(), o.Principal, worker.Worker, []lastmile.ScheduleEntry{past, entry})
	if err != nil || len(set) != 1 {
		t.Fatalf("the schedule is %+v, want only days to come: %v", set, err)
	}
	stored, err := o.Fleet.Schedule(t.Context(), o.Principal, worker.Worker)
	if err != nil || len(stored) != 1 || stored[0].Date != entry.Date || len(stored[0].Shifts) != 1 {
		t.Errorf("the schedule is %+v: %v", stored, err)
	}
	_, err = o.Fleet.SetSchedule(t.Context(), o.Principal, worker.Worker, []lastmile.ScheduleEntry{entry, entry})
	expectCode(t, err, lastmile.CodeInvalid)
	_, err = other.Fleet.Schedule(t.Context(), other.Principal, worker.Worker)
	expectCode(t, err, lastmile.CodeOutsideScope)
}
