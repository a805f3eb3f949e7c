package tracking

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
	"dray/internal/travel"
)

// The names under which tasks and route plans fire for everybody, once, and
// tasks for their recipients. Those of webhooks are their ids.
const (
	firedPredicted = "predictedTaskDelay"
	firedPlanLate  = "routePlanDelayed"

	recipientsNear lastmile.WebhookID = "recipientEta"
	recipientsLate lastmile.WebhookID = "recipientDelay"
)

// recipientsOf are an organization's thresholds for telling recipients, in the
// form of webhooks that have them.
func recipientsOf(org lastmile.OrganizationID, at textmessage.Thresholds) []lastmile.Webhook {
	var all []lastmile.Webhook
	for _, h := range []struct {
		id        lastmile.WebhookID
		trigger   lastmile.Trigger
		threshold time.Duration
	}{{recipientsNear, lastmile.TriggerTaskEta, at.ETA}, {recipientsLate, lastmile.TriggerTaskDelayed, at.Delay}} {
		if h.threshold > 0 {
			all = append(all, lastmile.Webhook{ID: h.id, Organization: org, Trigger: h.trigger, Threshold: new(h.threshold.Seconds()), Enabled: true})
		}
	}
	return all
}

// positionsJudged is how many of the latest positions are held against the
// threshold of an arrival: a worker who was there and has gone on was there.
const positionsJudged = 200

// judge holds the active task against thresholds, unless it was a moment ago. A
// task fires once for each: the row that says so is saved with what comes of
// it.
func (t *Tracker) judge(ctx context.Context, w store.Writer, watch *store.Watch, seen view, estimates []lastmile.Estimates, now time.Time) (told fallout, err error) {
	active := seen.Active()
	if active == nil {
		watch.Judge = time.Time{}
		return told, nil
	}
	if watch.JudgedTask == active.ID && now.Sub(watch.Judged) < lastmile.ThresholdInterval {
		watch.Judge = watch.Judged.Add(lastmile.ThresholdInterval)
		return told, nil
	}
	watch.Judged, watch.JudgedTask = now, active.ID
	if !watch.Judge.IsZero() { // the worker has moved since
		watch.Judge = now.Add(lastmile.ThresholdInterval)
	}
	met, sighting, err := t.met(ctx, w, seen, estimates[0])
	if err != nil || len(met) == 0 {
		return told, err
	}
	task, same, err := current(ctx, w, *active, estimates[0])
	if err != nil || !same {
		return told, err
	}
	hooks := map[lastmile.Trigger][]lastmile.WebhookID{}
	for _, h := range met {
		first, err := w.Fire(ctx, h.Organization, string(h.ID), string(task.ID), now)
		switch {
		case err != nil:
			return told, err
		case !first:
		case h.ID == recipientsNear || h.ID == recipientsLate:
			as := task // recipients are told of it, and the log is not
			told.recipients = append(told.recipients, as.Cross(h.Trigger, sighting, nil, now))
		default:
			hooks[h.Trigger] = append(hooks[h.Trigger], h.ID)
		}
	}
	for _, trigger := range []lastmile.Trigger{lastmile.TriggerTaskEta, lastmile.TriggerTaskArrival, lastmile.TriggerTaskDelayed} {
		if len(hooks[trigger]) > 0 {
			told.webhooks = append(told.webhooks, task.Cross(trigger, sighting, hooks[trigger], now))
		}
	}
	if len(told.webhooks) == 0 {
		return told, nil
	}
	return told, w.SaveTask(ctx, task)
}

// Reached holds an active task whose worker says to be there, or done, against
// the thresholds of arrivals: before the next look the task may be over. It runs
// in the transaction of that action.
func (t *Tracker) Reached(ctx context.Context, w store.Writer, task *lastmile.Task, now time.Time) error {
	hooks, err := w.Webhooks(ctx, task.Organization)
	if err != nil {
		return err
	}
	hooks = slices.DeleteFunc(hooks, func(h lastmile.Webhook) bool { return h.Trigger != lastmile.TriggerTaskArrival })
	if len(hooks) == 0 || task.State != lastmile.TaskActive {
		return nil
	}
	worker, err := w.Worker(ctx, task.Organization, task.Worker)
	if err != nil {
		return err
	}
	seen := view{Itinerary: travel.Itinerary{Worker: worker, Tasks: []lastmile.Task{*task}}, hooks: hooks}
	met, sighting, err := t.met(ctx, w, seen, task.Estimates)
	if err != nil {
		return err
	}
	var told []lastmile.WebhookID
	for _, h := range met {
		first, err := w.Fire(ctx, h.Organization, string(h.ID), string(task.ID), now)
		if err != nil {
			return err
		}
		if first {
			told = append(told, h.ID)
		}
	}
	if len(told) == 0 {
		return nil
	}
	return t.tell(ctx, w, fallout{webhooks: []lastmile.Event{task.Cross(lastmile.TriggerTaskArrival, sighting, told, now)}}, now)
}

// met are the webhooks whose thresholds the active task meets and has not met
// before.
func (t *Tracker) met(ctx context.Context, r store.Reader, seen view, e lastmile.Estimates) (met []lastmile.Webhook, by lastmile.Sighting, err error) {
	waiting := slices.DeleteFunc(slices.Clone(seen.hooks), func(h lastmile.Webhook) bool { return !h.Enabled || !h.Trigger.HasThreshold() })
	if len(waiting) == 0 {
		return nil, by, nil
	}
	task := *seen.Active()
	task.Estimates = e
	fired, err := r.Fired(ctx, task.Organization, string(task.ID))
	if err != nil {
		return nil, by, err
	}
	waiting = slices.DeleteFunc(waiting, func(h lastmile.Webhook) bool { return slices.Contains(fired, string(h.ID)) })
	var places []lastmile.Point
	if slices.ContainsFunc(waiting, func(h lastmile.Webhook) bool { return h.Trigger == lastmile.TriggerTaskArrival }) {
		if places, err = visited(ctx, r, seen.Worker, task); err != nil {
			return nil, by, err
		}
	}
	by = task.See(places)
	return slices.DeleteFunc(waiting, func(h lastmile.Webhook) bool { return !h.Met(by) }), by, nil
}

// visited is where the worker was since the task was started.
func visited(ctx context.Context, r store.Reader, worker lastmile.Worker, task lastmile.Task) ([]lastmile.Point, error) {
	positions, err := r.Positions(ctx, task.Organization, worker.ID, task.Started(), positionsJudged)
	if err != nil {
		return nil, err
	}
	var places []lastmile.Point
	if worker.Whereabouts.Location != nil {
		places = append(places, *worker.Whereabouts.Location)
	}
	for _, p := range positions {
		places = append(places, p.Location)
	}
	return places, nil
}

// predict tells of tasks that are not started and will be late, and of route
// plans that are, once.
func (t *Tracker) predict(ctx context.Context, w store.Writer, seen view, estimates []lastmile.Estimates, now time.Time) ([]lastmile.Event, error) {
	events, err := t.latePlans(ctx, w, seen, now)
	if err != nil {
		return nil, err
	}
	var late []lastmile.TaskID
	for i, task := range seen.Tasks {
		if task.State == lastmile.TaskAssigned && estimates[i].Delay != nil {
			late = append(late, task.ID)
		}
	}
	fired, err := w.FiredAmong(ctx, seen.Worker.Organization, firedPredicted, late)
	if err != nil {
		return nil, err
	}
	for i, task := range seen.Tasks {
		if !slices.Contains(late, task.ID) || slices.Contains(fired, task.ID) {
			continue
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
		events = append(events, fresh.PredictDelay(now))
		if err := w.SaveTask(ctx, fresh); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// latePlans tells of the route plans of tasks that are late, once.
func (t *Tracker) latePlans(ctx context.Context, w store.Writer, seen view, now time.Time) ([]lastmile.Event, error) {
	var (
		events []lastmile.Event
		known  = map[lastmile.RoutePlanID]bool{"": true}
	)
	for _, task := range seen.Tasks {
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
		late, is := plan.Delayed(now)
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
