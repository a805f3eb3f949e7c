package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// taskRow holds a row of taskColumns. Its documents are valid until the next row is read.
type taskRow struct {
	id                              lastmile.TaskID
	doc, destination, recipient     engine.Raw
	arrival, completion, eta, delay *int64
	completeBefore                  *int64
	state                           int64
	tracking                        string
	history                         engine.Raw
	events, noService, planPosition int64
	plannedService                  *int64
}

func (r *taskRow) scan(s scanner, more ...any) error {
	return s.Scan(append([]any{(*string)(&r.id), &r.doc, &r.arrival, &r.completion, &r.eta, &r.delay, &r.completeBefore, &r.state, &r.destination, &r.recipient}, more...)...)
}

// scanWhole scans the columns of wholeTask.
func (r *taskRow) scanWhole(s rows, more ...any) error {
	return r.scan(s, append([]any{&r.tracking, &r.history, &r.events, &r.noService, &r.plannedService, &r.planPosition}, more...)...)
}

// estimates returns the estimates of the task as of now.
func (r *taskRow) estimates(now time.Time) lastmile.Estimates {
	e := lastmile.Estimates{
		Arrival: instant(r.arrival), Completion: instant(r.completion), ETA: duration(r.eta), Delay: duration(r.delay),
	}
	return store.EstimatesAt(e, lastmile.TaskState(r.state), instant(r.completeBefore), now)
}

// fixedUntil returns until when, from now on, estimates returns the same; the zero time for
// ever. fixed is false while the delay grows.
func (r *taskRow) fixedUntil(now time.Time) (until time.Time, fixed bool) {
	if lastmile.TaskState(r.state) == lastmile.TaskCompleted || r.completeBefore == nil {
		return time.Time{}, true
	}
	until = instant(r.completeBefore)
	return until, !now.After(until)
}

// shown joins the parts of a task to its JSON in the API.
func (r *taskRow) shown(now time.Time) []byte {
	times := wire.NewTaskTimes(r.estimates(now))
	joined := make([]byte, 0, len(r.doc)+len(r.destination)+len(r.recipient)+200)
	joined = append(joined, r.doc[:len(r.doc)-1]...)
	joined = append(joined, `,"recipients":[`...)
	joined = append(joined, r.recipient...)
	joined = append(joined, `],"destination":`...)
	joined = append(joined, r.destination...)
	joined = append(joined, ',')
	return append(times.AppendMembers(joined), '}')
}

// decodedTask is a task decoded from documents. Fields from other columns may be stale.
type decodedTask struct {
	doc, destination, recipient, history []byte
	task                                 lastmile.Task
}

// domain returns the task. It decodes the documents unless ctx has them decoded; see
// store.Remember.
func (r *taskRow) domain(ctx context.Context, org lastmile.OrganizationID, now time.Time) (t lastmile.Task, err error) {
	known := store.Remembered(ctx)
	if known == nil {
		t, err = r.decode(org)
	} else if found, ok := known.Load(r.id); ok && found.(*decodedTask).of(r) {
		t = found.(*decodedTask).task
	} else if t, err = r.decode(org); err == nil {
		t.History = slices.Clip(t.History)
		t.TrackingToken, t.Estimates, t.PlannedService = r.tracking, r.estimates(now), duration(r.plannedService)
		known.Store(r.id, &decodedTask{
			doc: slices.Clone(r.doc), destination: slices.Clone(r.destination), recipient: slices.Clone(r.recipient), history: slices.Clone(r.history), task: t,
		})
	}
	t.Events, t.PlanPosition = r.events, r.planPosition
	if t.TrackingToken != r.tracking {
		t.TrackingToken = r.tracking
	}
	before := t.Estimates
	t.Estimates = r.estimates(now)
	t.Estimates.ETA, t.Estimates.Delay = keep(before.ETA, t.Estimates.ETA), keep(before.Delay, t.Estimates.Delay)
	r.addService(&t)
	return t, err
}

// keep returns before if both point to the same value, and otherwise after: wire.EncodeTask
// recognizes a task by its pointers.
func keep[T comparable](before, after *T) *T {
	if before != nil && after != nil && *before == *after {
		return before
	}
	return after
}

// addService sets the service times that are not in the document of the task.
func (r *taskRow) addService(t *lastmile.Task) {
	t.PlannedService = keep(t.PlannedService, duration(r.plannedService))
	if r.noService != 0 {
		t.ServiceTime = new(time.Duration(0))
	}
}

// of reports whether the task was decoded from the documents of a row.
func (d *decodedTask) of(r *taskRow) bool {
	return bytes.Equal(d.doc, r.doc) && bytes.Equal(d.destination, r.destination) && bytes.Equal(d.recipient, r.recipient) && bytes.Equal(d.history, r.history)
}

// decode decodes the documents of the task.
func (r *taskRow) decode(org lastmile.OrganizationID) (lastmile.Task, error) {
	var (
		form        wire.TaskRecord
		destination wire.Destination
		history     []wire.Assignment
	)
	err := errors.Join(wire.Unmarshal(r.doc, &form), wire.Unmarshal(r.destination, &destination), wire.Unmarshal(r.history, &history))
	if err != nil {
		return lastmile.Task{}, fmt.Errorf("decode task %s: %w", r.id, err)
	}
	t := form.Domain()
	if t.Organization != org {
		t.Origin, t.Organization = t.Organization, org
	}
	t.Destination, t.History = destination.Domain(org), wire.Assignments(history)
	if r.recipient != nil {
		var recipient wire.Recipient
		if err := wire.Unmarshal(r.recipient, &recipient); err != nil {
			return t, fmt.Errorf("decode recipient of task %s: %w", r.id, err)
		}
		known := recipient.Domain()
		t.Recipient = &known
	}
	return t, nil
}

// duration converts a stored number of milliseconds; null is nil.
func duration(ms *int64) *time.Duration {
	if ms == nil {
		return nil
	}
	d := time.Duration(*ms) * time.Millisecond
	return &d
}

func durationMillis(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

// StopsOf returns several tasks in the order of their ids, with only what the estimates of tasks
// that are not started depend on: their worker, state, location, window, service times, route
// plan and former estimates.
func (t taskTx) StopsOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	scan := func(r rows) (lastmile.Task, error) {
		var (
			row               taskRow
			after             *int64
			worker, routePlan *string
			at                lastmile.Point
		)
		err := r.Scan((*string)(&row.id), &row.doc, &row.arrival, &row.completion, &row.eta, &row.delay, &row.completeBefore, &row.state,
			&row.noService, &row.plannedService, &after, &worker, &routePlan, &at.Lon, &at.Lat)
		if err != nil {
			return lastmile.Task{}, err
		}
		service, err := wire.ServiceTime(row.doc)
		if err != nil {
			return lastmile.Task{}, fmt.Errorf("decode task %s: %w", row.id, err)
		}
		task := lastmile.Task{
			ID: row.id, Organization: org, State: lastmile.TaskState(row.state), Destination: lastmile.Destination{Location: at},
			CompleteAfter: instant(after), CompleteBefore: instant(row.completeBefore), Estimates: row.estimates(t.now()), ServiceTime: service,
		}
		row.addService(&task)
		if worker != nil {
			task.Worker = lastmile.WorkerID(*worker)
		}
		if routePlan != nil {
			task.RoutePlan = lastmile.RoutePlanID(*routePlan)
		}
		return task, nil
	}
	return t.all(ctx, org, ids, func(where *condition) ([]lastmile.Task, error) {
		found, err := collect(ctx, t, scan, `SELECT t.id, t.doc, t.arrival, t.completion, t.eta, t.delay, t.complete_before, t.state,
			t.no_service, t.planned_service, t.complete_after, t.worker, t.route_plan, t.lon, t.lat FROM task t WHERE `+where.text, where.args...)
		if err != nil {
			return nil, fmt.Errorf("read stops: %w", err)
		}
		return found, nil
	})
}
