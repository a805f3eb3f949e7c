package tracking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
	"dray/internal/work"
)

// Limits of the loop that refreshes estimates.
const (
	pollInterval = time.Second           // interval of checks for changes made by other nodes
	pollGap      = 50 * time.Millisecond // so that changes made at the same time are handled together
	maxLeased    = 32
	maxRunning   = 8
	leaseFor     = time.Minute
	retryPause   = 5 * time.Second
)

const (
	// MaxEstimated is the maximum number of tasks at the start of a list that are
	// estimated.
	MaxEstimated = 500

	// After a refresh of n >= minRested tasks, changes cause the next refresh only after
	// n*restPerTask. Shorter lists are refreshed at once.
	restPerTask = store.MaxEstimateRest / MaxEstimated
	minRested   = 20

	// maxPredicted is the maximum number of predicted delays that one refresh
	// reports. The next refresh follows at once if there are more.
	maxPredicted = 50
)

// Run refreshes estimates until ctx ends.
func (t *Tracker) Run(ctx context.Context) { t.loop().Run(ctx) }

// RefreshDue refreshes the estimates of all workers who are due, and returns how
// many it refreshed.
func (t *Tracker) RefreshDue(ctx context.Context) (int, error) { return t.loop().RunDue(ctx) }

func (t *Tracker) loop() *work.Loop[Reader, Writer] {
	slots := make(chan struct{}, maxRunning)
	return &work.Loop[Reader, Writer]{
		Kind: work.Estimates, Store: t.Store, Prepare: begin, Locking: true,
		Do: func(ctx context.Context, l *work.Lease) (work.End[Writer], error) {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			defer func() { <-slots }()
			return t.refresh(ctx, l)
		},
		Limits:     work.Limits{Total: maxLeased, PerOrganization: maxLeased},
		Candidates: work.Limits{Total: 4 * maxLeased, PerOrganization: maxLeased},
		LeaseFor:   leaseFor,
		Poll:       work.Poll{Soon: pollInterval, Idle: cmp.Or(t.Idle, pollInterval), Gap: pollGap},
		Retry:      work.Retry{First: retryPause, Longest: retryPause},
		Wake:       t.Wake, Alone: t.Alone, Now: t.Now, NewID: t.NewID, Log: t.Log,
	}
}

// begin reads the schedules of workers whose estimates are about to be refreshed.
// A position that is reported from now on is checked the next time.
func begin(ctx context.Context, w Writer, items []*work.Prepared) error {
	for _, item := range items {
		schedule, err := w.EstimateSchedule(ctx, item.Organization, lastmile.WorkerID(item.ID))
		if err != nil {
			return err
		}
		if err := w.BeginEstimate(ctx, schedule); err != nil {
			return err
		}
		item.Value = schedule
	}
	return nil
}

// snapshot has the data that a refresh works with.
type snapshot struct {
	travel.Itinerary
	whole      bool               // it has all tasks, not only the active one
	hooks      []lastmile.Webhook // webhooks of the active task, and thresholds for recipients as webhooks
	experience travel.Experience
	reported   *lastmile.Point // location of the worker's action that is performed; nil for none
}

// refresh estimates the tasks of a worker and checks the active task against
// thresholds. Most of it happens between two transactions, because it may call a
// router.
func (t *Tracker) refresh(ctx context.Context, l *work.Lease) (work.End[Writer], error) {
	due, ok := l.Value.(store.EstimateSchedule)
	if !ok {
		return nil, fmt.Errorf("the schedule of worker %s was not read", l.ID)
	}
	now := t.Now()
	snap, err := t.load(ctx, due, now)
	if lastmile.IsNotFound(err) { // the worker was deleted, and the schedule as well
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var legs []travel.Leg
	if way := snap.Waypoints(); len(way) > 1 {
		if legs, err = t.Travel.Legs(ctx, snap.Worker.TravelsBy(), way); err != nil {
			return nil, err
		}
	}
	estimates := snap.Estimate(legs, snap.experience, now)
	return func(ctx context.Context, w Writer) error {
		schedule, err := w.EstimateSchedule(ctx, due.Organization, due.Worker)
		if err != nil {
			return err
		}
		if err := t.save(ctx, w, &schedule, snap, estimates, now); err != nil {
			return err
		}
		if schedule.Changes != due.Changes { // the list has changed since the snapshot: refresh it again
			schedule.Refresh = schedule.AfterRest(now)
		}
		return w.SaveEstimateSchedule(ctx, schedule)
	}, nil
}

// load reads a worker with tasks and thresholds. Between two complete refreshes
// it reads only the active task, so that the cost of a moving worker does not
// grow with the number of tasks.
func (t *Tracker) load(ctx context.Context, due store.EstimateSchedule, now time.Time) (s snapshot, err error) {
	s.whole = !due.Refresh.After(now)
	err = t.Store.Read(ctx, func(r Reader) (err error) {
		read := r.Tracked
		if s.whole {
			read = r.WholeWorker
		}
		if s.Worker, err = read(ctx, due.Organization, due.Worker); err != nil {
			return err
		}
		route := s.Worker.Route()
		if s.Tasks, err = tasksOf(ctx, r, s.Worker, route[:min(len(route), MaxEstimated)]); err != nil {
			return err
		}
		if active := s.Active(); active != nil {
			s.Worker.Whereabouts = sinceStart(s.Worker.Whereabouts, *active)
			if s.hooks, err = hooksOf(ctx, r, *active); err != nil {
				return err
			}
		}
		if s.experience, err = t.experience(ctx, r, due.Organization); err != nil {
			return err
		}
		thresholds, err := r.NotificationThresholds(ctx, due.Organization)
		s.hooks = append(s.hooks, recipientHooks(due.Organization, thresholds)...)
		return err
	})
	return s, err
}

// tasksOf returns several tasks in the order of ids: the active task of a worker, which is the
// first, as a whole, and the others with only what their estimates depend on.
func tasksOf(ctx context.Context, r Reader, of lastmile.Worker, ids []lastmile.TaskID) (tasks []lastmile.Task, err error) {
	if len(ids) > 0 && ids[0] == of.ActiveTask {
		active, err := r.Task(ctx, of.Organization, of.ActiveTask)
		if err != nil {
			return nil, err
		}
		tasks, ids = append(tasks, active), ids[1:]
	}
	stops, err := r.StopsOf(ctx, of.Organization, ids)
	return append(tasks, stops...), err
}

// restAfter returns the time before which changes cause no further refresh of a list of
// this length, or zero if they cause one at once.
func restAfter(tasks int, now time.Time) time.Time {
	if tasks < minRested {
		return time.Time{}
	}
	return now.Add(time.Duration(tasks) * restPerTask)
}

// save saves estimates, and appends the events that follow from them.
func (t *Tracker) save(ctx context.Context, w Writer, schedule *store.EstimateSchedule, snap snapshot, estimates []lastmile.Estimates, now time.Time) error {
	tasks := make([]store.TaskEstimate, len(estimates))
	for i, task := range snap.Tasks {
		tasks[i] = store.TaskEstimate{Task: task.ID, State: task.State, Estimates: estimates[i]}
	}
	delay := travel.MaxDelay(estimates)
	if !snap.whole {
		delay = snap.Worker.Delay // only the active task was estimated: keep the delay of the whole route
	} else {
		schedule.Refresh, schedule.Rest = snap.NextRefresh(now), restAfter(len(snap.Tasks), now)
	}
	if err := w.SaveEstimates(ctx, schedule.Organization, schedule.Worker, tasks, delay); err != nil {
		return err
	}
	if err := t.Routes.Delayed(ctx, w, snap.Worker, delay); err != nil {
		return err
	}
	t.publish(w, snap, estimates)
	out, err := t.checkThresholds(ctx, w, schedule, snap, estimates, now)
	if err != nil {
		return err
	}
	if snap.whole {
		if out.all, err = t.predict(ctx, w, snap, estimates, now); err != nil {
			return err
		}
		if len(out.all) >= maxPredicted {
			schedule.Refresh = now
		}
	}
	return t.appendEvents(ctx, w, out)
}

// sinceStart returns the whereabouts of a worker updated with the location at which the active
// task was started.
func sinceStart(at lastmile.Whereabouts, active lastmile.Task) lastmile.Whereabouts {
	return travel.WithReport(at, active.Completion.FirstLocation, active.Started())
}

// Started estimates a task that its worker starts now. It runs in the transaction
// of the start and calls no service: it uses the travel time of the last refresh if
// that is still valid (see refreshedLeg), or else that of t.Ways. The next refresh,
// which is due at once, may be more accurate.
func (t *Tracker) Started(ctx context.Context, tx store.Transaction, worker lastmile.Worker, task lastmile.Task, a lastmile.Action, now time.Time) (e lastmile.Estimates, err error) {
	refreshed := a.Location == nil || travel.LocatedSince(worker.Whereabouts, a.At) != nil // from about here
	at := travel.WithReport(worker.Whereabouts, a.Location, a.At).Location
	task.State = lastmile.TaskActive
	way := travel.Itinerary{Worker: worker, Tasks: []lastmile.Task{task}}
	if at == nil {
		return way.Estimate(nil, travel.Experience{}, now)[0], nil
	}
	w, err := t.Store.Join(tx)
	if err != nil {
		return e, err
	}
	experience, err := t.experience(ctx, w, worker.Organization)
	if err != nil {
		return e, err
	}
	var leg travel.Leg
	if refreshed {
		if leg, err = refreshedLeg(ctx, w, worker, task, now); err != nil {
			return e, err
		}
	}
	legs := []travel.Leg{leg}
	if leg.Duration == 0 {
		if legs, err = t.Ways.Legs(ctx, worker.TravelsBy(), []lastmile.Point{*at, task.Destination.Location}); err != nil {
			return e, err
		}
	}
	return way.Estimate(legs, experience, now)[0], nil
}

// refreshedLeg returns the leg to the next task of a worker without an active task
// if it was estimated in the last minute and nothing has changed since; otherwise a
// leg without a duration. Its duration is the estimated arrival minus the time of
// the refresh, at which the worker was assumed to leave.
func refreshedLeg(ctx context.Context, r Reader, worker lastmile.Worker, task lastmile.Task, now time.Time) (leg travel.Leg, err error) {
	if len(worker.Tasks) == 0 || worker.Tasks[0] != task.ID {
		return leg, nil
	}
	schedule, err := r.EstimateSchedule(ctx, worker.Organization, worker.ID)
	if lastmile.IsNotFound(err) {
		return leg, nil
	}
	left := schedule.Refresh.Add(-travel.RefreshOnDuty)
	changed := schedule.Refresh.Equal(schedule.Rest) // a change sets Refresh to the end of the rest
	if err == nil && !changed && schedule.Refresh.After(now) && !left.After(now) && task.Estimates.Arrival.After(left) {
		leg.Duration = task.Estimates.Arrival.Sub(left)
	}
	return leg, err
}

// publish notifies the pages of tasks whose estimates changed, and the worker's
// phone if a task has become late or is no longer late.
func (t *Tracker) publish(w Writer, snap snapshot, estimates []lastmile.Estimates) {
	var topics []events.Topic
	flipped := false
	for i, task := range snap.Tasks {
		if !task.Estimates.Equal(estimates[i]) {
			topics = append(topics, events.TaskTopic(task.ID))
		}
		flipped = flipped || (task.Estimates.Delay == nil) != (estimates[i].Delay == nil)
	}
	if flipped {
		topics = append(topics, events.ListTopic(snap.Worker.ID))
	}
	if len(snap.Tasks) > 0 { // even if no estimate changed: the events of a change may show older ones
		topics = append(topics, events.MoveTopic(snap.Worker.Organization))
	}
	if len(topics) > 0 {
		t.Events.Publish(w, topics...)
	}
}

// outgoing has the events that follow from a refresh.
type outgoing struct {
	webhooks   []lastmile.Event // thresholds of webhooks that were reached, for those webhooks only
	recipients []lastmile.Event // thresholds of the organization, for recipients only
	all        []lastmile.Event // predicted delays and late plans, for webhooks and recipients
}

// appendEvents appends the events of a refresh.
func (t *Tracker) appendEvents(ctx context.Context, w Writer, out outgoing) error {
	for i := range out.recipients {
		out.recipients[i].RecipientsOnly = true
	}
	return t.Events.Append(ctx, w, slices.Concat(out.webhooks, out.recipients, out.all)...)
}

// current reads a task in the transaction, with its new estimates, and reports
// whether its state and worker are still those of the snapshot.
func current(ctx context.Context, w Writer, before lastmile.Task, e lastmile.Estimates) (lastmile.Task, bool, error) {
	task, err := w.Task(ctx, before.Organization, before.ID)
	if lastmile.IsNotFound(err) {
		return task, false, nil
	}
	if err != nil {
		return task, false, err
	}
	task.Estimates = e
	return task, task.State == before.State && task.Worker == before.Worker, nil
}
