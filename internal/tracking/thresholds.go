package tracking

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
	"dray/internal/threshold"
	"dray/internal/travel"
)

// A task or route plan fires once for each of these names. Webhooks use their id as
// the name.
const (
	firedPredicted = "predictedTaskDelay"
	firedPlanLate  = "routePlanDelayed"

	recipientETA   lastmile.WebhookID = "recipientEta"
	recipientDelay lastmile.WebhookID = "recipientDelay"
)

// recipientHooks returns the thresholds for notifying recipients as webhooks, so
// that they are checked in the same way.
func recipientHooks(org lastmile.OrganizationID, at textmessage.Thresholds) []lastmile.Webhook {
	var all []lastmile.Webhook
	for _, h := range []struct {
		id        lastmile.WebhookID
		trigger   lastmile.Trigger
		threshold time.Duration
	}{{recipientETA, lastmile.TriggerTaskEta, at.ETA}, {recipientDelay, lastmile.TriggerTaskDelayed, at.Delay}} {
		if h.threshold > 0 {
			all = append(all, lastmile.Webhook{ID: h.id, Organization: org, Trigger: h.trigger, Threshold: new(h.threshold.Seconds()), Enabled: true})
		}
	}
	return all
}

// positionsChecked is the number of latest positions that are checked against the
// threshold of an arrival. A worker who has moved on since has arrived as well.
const positionsChecked = 200

// checkThresholds checks the active task against thresholds, at most once in
// ThresholdInterval. A task fires once for each threshold, which is recorded in
// the transaction of the events.
func (t *Tracker) checkThresholds(ctx context.Context, w Writer, schedule *store.EstimateSchedule, snap snapshot, estimates []lastmile.Estimates, now time.Time) (out outgoing, err error) {
	active := snap.Active()
	if active == nil {
		schedule.Check = time.Time{}
		return out, nil
	}
	if schedule.CheckedTask == active.ID && now.Sub(schedule.Checked).Abs() < lastmile.ThresholdInterval { // the clock may have been set back
		schedule.Check = schedule.Checked.Add(lastmile.ThresholdInterval)
		return out, nil
	}
	schedule.Checked, schedule.CheckedTask = now, active.ID
	if !schedule.Check.IsZero() { // the worker has moved since
		schedule.Check = now.Add(lastmile.ThresholdInterval)
	}
	met, measured, err := t.newlyReached(ctx, w, snap, estimates[0], now)
	if err != nil || len(met) == 0 {
		return out, err
	}
	task, same, err := current(ctx, w, *active, estimates[0])
	if err != nil || !same {
		return out, err
	}
	hooks := map[lastmile.Trigger][]lastmile.WebhookID{}
	for _, h := range met {
		as := task // a copy, because the notice is not in the event log of the task
		notice := forRecipient(task, measured, now).Event(&as, h.Trigger, nil, now)
		if h.ID == recipientDelay {
			known, err := t.Notices.Repeats(ctx, w, notice)
			if err != nil {
				return out, err
			}
			if known { // do not call Fire: the delay may grow and is checked again
				continue
			}
		}
		first, err := w.Fire(ctx, task.Organization, string(h.ID), string(task.ID), now)
		switch {
		case err != nil:
			return out, err
		case !first:
		case h.ID == recipientETA || h.ID == recipientDelay:
			out.recipients = append(out.recipients, notice)
		default:
			hooks[h.Trigger] = append(hooks[h.Trigger], h.ID)
		}
	}
	if out.webhooks = reachedEvents(&task, measured, hooks, now); len(out.webhooks) == 0 {
		return out, nil
	}
	return out, w.SaveTask(ctx, task)
}

// Reached checks an active task against thresholds when its worker reports its
// arrival or completion, because the task may be completed before the next refresh.
// The location of the report counts as well, because phones send positions later
// than actions. It runs in the transaction of that action.
func (t *Tracker) Reached(ctx context.Context, tx store.Transaction, task *lastmile.Task, report lastmile.CompletionEvent, now time.Time) error {
	w, err := t.Store.Join(tx)
	if err != nil {
		return err
	}
	hooks, err := hooksOf(ctx, w, *task)
	if err != nil {
		return err
	}
	hooks = slices.DeleteFunc(hooks, func(h lastmile.Webhook) bool { return !h.Trigger.HasThreshold() })
	if len(hooks) == 0 || task.State != lastmile.TaskActive {
		return nil
	}
	worker, err := w.Worker(ctx, task.Organization, task.Worker)
	if err != nil {
		return err
	}
	worker.Whereabouts = sinceStart(worker.Whereabouts, *task)
	after := *task
	after.Completion.Events = append(slices.Clip(task.Completion.Events), report)
	var e lastmile.Estimates // of this moment: the lateness, and nothing to travel after the arrival
	if late := after.Late(report.At); late > 0 {
		e.Delay = &late
	}
	if !after.Completion.Arrived().IsZero() {
		e.ETA = new(time.Duration(0))
	}
	snap := snapshot{Itinerary: travel.Itinerary{Worker: worker, Tasks: []lastmile.Task{after}}, hooks: hooks, reported: report.Location}
	met, measured, err := t.newlyReached(ctx, w, snap, e, now)
	if err != nil {
		return err
	}
	fired := map[lastmile.Trigger][]lastmile.WebhookID{}
	for _, h := range met {
		first, err := w.Fire(ctx, task.Organization, string(h.ID), string(task.ID), now)
		if err != nil {
			return err
		}
		if first {
			fired[h.Trigger] = append(fired[h.Trigger], h.ID)
		}
	}
	return t.Events.Append(ctx, w, reachedEvents(task, measured, fired, now)...)
}

// reachedEvents returns an event for each trigger whose webhooks have thresholds that a task
// has reached.
func reachedEvents(task *lastmile.Task, by threshold.Measurement, hooks map[lastmile.Trigger][]lastmile.WebhookID, now time.Time) (events []lastmile.Event) {
	for _, trigger := range []lastmile.Trigger{lastmile.TriggerTaskEta, lastmile.TriggerTaskArrival, lastmile.TriggerTaskDelayed} {
		if len(hooks[trigger]) > 0 {
			events = append(events, by.Event(task, trigger, hooks[trigger], now))
		}
	}
	return events
}

// hooksOf returns the webhooks that may be notified of a task: of the organization that
// has it, and of the one that placed it there.
func hooksOf(ctx context.Context, r Reader, task lastmile.Task) ([]lastmile.Webhook, error) {
	hooks, err := r.Webhooks(ctx, task.Organization)
	if err != nil || task.Origin == "" {
		return hooks, err
	}
	more, err := r.Webhooks(ctx, task.Origin)
	return slices.DeleteFunc(append(hooks, more...), func(h lastmile.Webhook) bool { return !h.Covers(&task) }), err
}

// newlyReached returns the webhooks whose thresholds the active task has reached
// for the first time.
func (t *Tracker) newlyReached(ctx context.Context, r Reader, snap snapshot, e lastmile.Estimates, now time.Time) (met []lastmile.Webhook, by threshold.Measurement, err error) {
	waiting := slices.DeleteFunc(slices.Clone(snap.hooks), func(h lastmile.Webhook) bool { return !h.Enabled || !h.Trigger.HasThreshold() })
	if len(waiting) == 0 {
		return nil, by, nil
	}
	task := *snap.Active()
	task.Estimates = e
	fired, err := r.Fired(ctx, task.Organization, string(task.ID))
	if err != nil {
		return nil, by, err
	}
	waiting = slices.DeleteFunc(waiting, func(h lastmile.Webhook) bool { return slices.Contains(fired, string(h.ID)) })
	var points []lastmile.Point
	if slices.ContainsFunc(waiting, func(h lastmile.Webhook) bool { return h.Trigger == lastmile.TriggerTaskArrival }) {
		if points, err = visited(ctx, r, snap.Worker, task); err != nil {
			return nil, by, err
		}
		if snap.reported != nil {
			points = append(points, *snap.reported)
		}
	}
	by = threshold.Measure(&task, points)
	if task.Completion.Arrived().IsZero() && !travel.IsCurrent(snap.Worker.Whereabouts, now) {
		by.ETA = nil // it is the travel time from where the worker was long ago
	}
	return slices.DeleteFunc(waiting, func(h lastmile.Webhook) bool {
		if h.ID == recipientETA {
			return !forRecipient(task, by, now).Reaches(h)
		}
		return !by.Reaches(h)
	}), by, nil
}

// forRecipient returns a measurement with the time that matters to the recipient:
// until service begins, which may be later than the arrival. The ETA is nil once the
// worker has arrived.
func forRecipient(task lastmile.Task, by threshold.Measurement, now time.Time) threshold.Measurement {
	if by.ETA == nil || !task.Completion.Arrived().IsZero() {
		by.ETA = nil
		return by
	}
	by.ETA = new(max(task.Estimates.ServiceStart(task.Window()).Sub(now), 0))
	return by
}

// visited returns the latest locations of the worker since the task was started.
func visited(ctx context.Context, r Reader, worker lastmile.Worker, task lastmile.Task) ([]lastmile.Point, error) {
	positions, err := r.Positions(ctx, task.Organization, worker.ID, task.Started(), positionsChecked)
	if err != nil {
		return nil, err
	}
	var points []lastmile.Point
	if at := travel.LocatedSince(worker.Whereabouts, task.Started()); at != nil {
		points = append(points, *at)
	}
	for _, p := range positions {
		points = append(points, p.Location)
	}
	return points, nil
}

// predict returns events for tasks that are not started and will be late, and for
// route plans that are late, once for each.
func (t *Tracker) predict(ctx context.Context, w Writer, snap snapshot, estimates []lastmile.Estimates, now time.Time) ([]lastmile.Event, error) {
	events, err := t.latePlans(ctx, w, snap, now)
	if err != nil {
		return nil, err
	}
	var late []lastmile.TaskID
	for i, task := range snap.Tasks {
		if task.State == lastmile.TaskAssigned && estimates[i].Delay != nil {
			late = append(late, task.ID)
		}
	}
	fired, err := w.FiredAmong(ctx, snap.Worker.Organization, firedPredicted, late)
	if err != nil {
		return nil, err
	}
	for i, task := range snap.Tasks {
		if !slices.Contains(late, task.ID) || slices.Contains(fired, task.ID) {
			continue
		}
		if len(events) >= maxPredicted {
			break
		}
		fresh, same, err := current(ctx, w, task, estimates[i])
		if err != nil {
			return nil, err
		}
		if !same {
			continue
		}
		if _, err := w.Fire(ctx, task.Organization, firedPredicted, string(task.ID), now); err != nil {
			return nil, err
		}
		events = append(events, threshold.PredictedDelay(&fresh, now))
		if err := w.SaveTask(ctx, fresh); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// latePlans returns events for the late route plans of tasks, once for each plan.
func (t *Tracker) latePlans(ctx context.Context, w Writer, snap snapshot, now time.Time) ([]lastmile.Event, error) {
	var (
		events []lastmile.Event
		known  = map[lastmile.RoutePlanID]bool{"": true}
	)
	for _, task := range snap.Tasks {
		if known[task.RoutePlan] {
			continue
		}
		known[task.RoutePlan] = true
		plan, err := w.RoutePlan(ctx, task.Organization, task.RoutePlan)
		if lastmile.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		late, is := plan.DelayedEvent(now)
		if !is {
			continue
		}
		first, err := w.Fire(ctx, task.Organization, firedPlanLate, string(plan.ID), now)
		if err != nil {
			return nil, err
		}
		if first {
			events = append(events, late)
		}
	}
	return events, nil
}
