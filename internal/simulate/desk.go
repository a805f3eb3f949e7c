package simulate

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Parameters of the dispatch desk.
const (
	openForEach   = 3 // open tasks per worker
	maxForEach    = 6 // maximum tasks per worker in automatic assignment
	batchSize     = 10
	holdEach      = 8 // one of this many errands is unassigned at first
	deskPause     = 200 * time.Millisecond
	leftoverPause = 3 * time.Second
	maxUnassigned = 10 // leftovers in a round that the server assigns to no worker
	inheritFor    = 30 * 24 * time.Hour
)

// desk creates tasks and has them assigned to workers.
type desk struct {
	*simulation
	number    uint64 // number of the next errand
	made      int    // tasks
	batch     []errand
	leftovers []leftover
	tried     time.Time // when leftovers were last assigned
	last      time.Time // when the last errand was created
}

// leftover is an unassigned task.
type leftover struct {
	team  int    // -1 for any
	order string // short id of the order of the tasks; empty for none
	tasks []string
}

// container identifies a container as the API does.
type container struct {
	Type   string `json:"type"`
	Team   string `json:"team,omitempty"`
	Worker string `json:"worker,omitempty"`
}

// runDesk creates tasks until the context ends or all tasks are created and
// completed.
func (s *simulation) runDesk(ctx context.Context) error {
	d := &desk{simulation: s, number: s.options.Errand}
	select {
	case <-s.staffed:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := d.inherit(ctx); err != nil {
		return err
	}
	open := s.options.Open
	if open == 0 {
		open = openForEach * s.options.Workers
	}
	for ctx.Err() == nil {
		var err error
		switch {
		case d.cancelDue():
			err = d.cancelOrder(ctx)
		case d.leftoversDue():
			err = d.assignLeftovers(ctx)
		case d.finished() && len(d.batch) > 0:
			err = d.submit(ctx)
		case d.finished() && s.ledger.open() == 0:
			return nil
		case d.finished() || s.ledger.open()+len(d.batch) >= open || d.canPause():
			wait(ctx, deskPause)
		case d.orderDue():
			err = d.placeOrder(ctx)
		default:
			err = d.createNext(ctx)
		}
		if err != nil && !rejected(err) {
			return err
		}
	}
	return ctx.Err()
}

// canPause reports whether the next errand can wait. It never can before every
// worker has something to do.
func (d *desk) canPause() bool {
	enough := d.number-d.options.Errand > uint64(openForEach*d.options.Workers)
	return enough && d.now().Sub(d.last) < d.scaled(d.options.Pause)
}

// finished reports whether all tasks have been created.
func (d *desk) finished() bool { return d.options.Tasks > 0 && d.made >= d.options.Tasks }

// inherit finds the open tasks of earlier runs.
func (d *desk) inherit(ctx context.Context) error {
	since, last := d.now().Add(-inheritFor).UnixMilli(), ""
	for {
		var page struct {
			LastID string      `json:"lastId"`
			Tasks  []shownTask `json:"tasks"`
		}
		path := "/tasks/all?state=0,1,2&from=" + strconv.FormatInt(since, 10)
		if last != "" {
			path += "&lastId=" + last
		}
		if err := d.api(ctx, "GET /tasks/all", http.MethodGet, path, nil, &page); err != nil {
			return err
		}
		for _, t := range page.Tasks {
			d.take(t)
		}
		if last = page.LastID; last == "" || d.borrowed {
			return nil
		}
	}
}

// take takes over a task from an earlier run, unless it is the visitor's.
func (d *desk) take(t shownTask) {
	if d.borrowed || d.options.Check {
		return // possibly created by another client
	}
	if t.State == 0 {
		d.takeLeftover(t)
	}
	if t.State == 0 || t.Worker != d.visitor {
		d.ledger.inherit(t.ID)
	}
}

// takeLeftover takes over an unassigned task. The tasks of an order stay together.
func (d *desk) takeLeftover(t shownTask) {
	for i, l := range d.leftovers {
		if t.Order != "" && l.order == t.Order {
			d.leftovers[i].tasks = append(l.tasks, t.ID)
			return
		}
	}
	d.leftovers = append(d.leftovers, leftover{team: -1, order: t.Order, tasks: []string{t.ID}})
}

// createNext creates the next errand.
func (d *desk) createNext(ctx context.Context) error {
	e := d.plan.errand(d.number)
	d.number++
	d.last = d.now()
	if left := d.options.Tasks - d.made; d.options.Tasks > 0 && len(e.stops) > left {
		e.stops = e.stops[len(e.stops)-left:]
	}
	d.made += len(e.stops)
	switch {
	case d.borrowed:
		return d.assignInTurn(ctx, e)
	case e.manner == byBatch:
		if d.batch = append(d.batch, e); len(d.batch) < batchSize {
			return nil
		}
		return d.submit(ctx)
	case e.manner == byClaim:
		return d.offer(ctx, e)
	case len(e.stops) == 1 && (len(d.leftovers) < d.kept() || d.kept() > 0 && d.number%holdEach == 0):
		return d.hold(ctx, e)
	}
	return d.assign(ctx, e)
}

// assign creates the tasks of an errand and lets the server choose the worker.
func (d *desk) assign(ctx context.Context, e errand) error {
	first := d.body(e.stops[0])
	first["autoAssign"] = map[string]any{"mode": e.mode, "team": d.teams[e.team], "maxAssignedTaskCount": maxForEach}
	made, err := d.create(ctx, first)
	if err != nil {
		return err
	}
	ids := []string{made.ID}
	for _, then := range e.stops[1:] {
		body := d.body(then)
		body["dependencies"] = ids
		if made.Worker != "" {
			body["container"] = container{Type: "WORKER", Worker: made.Worker}
		}
		next, err := d.create(ctx, body)
		if err != nil {
			return err
		}
		ids = append(ids, next.ID)
	}
	if made.Worker == "" {
		d.leftovers = append(d.leftovers, leftover{team: e.team, tasks: ids})
	}
	return nil
}

// kept returns how many tasks stay unassigned.
func (d *desk) kept() int {
	if d.finished() {
		return 0
	}
	return d.options.Unassigned
}

// hold creates a task that stays unassigned for a while.
func (d *desk) hold(ctx context.Context, e errand) error {
	made, err := d.create(ctx, d.body(e.stops[0]))
	if err == nil {
		d.leftovers = append(d.leftovers, leftover{team: e.team, tasks: []string{made.ID}})
	}
	return err
}

// assignInTurn creates the tasks of an errand for the workers on duty, in turn.
func (d *desk) assignInTurn(ctx context.Context, e errand) error {
	to := d.nextWorker(-1)
	var ids []string
	for _, stop := range e.stops {
		body := d.body(stop)
		body["container"] = container{Type: "WORKER", Worker: to.worker}
		body["dependencies"] = ids
		made, err := d.create(ctx, body)
		if err != nil {
			return err
		}
		ids = append(ids, made.ID)
	}
	return nil
}

// offer creates a task in the team's container and offers it to a worker of the
// team, who claims it.
func (d *desk) offer(ctx context.Context, e errand) error {
	body := d.body(e.stops[0])
	body["container"] = container{Type: "TEAM", Team: d.teams[e.team]}
	made, err := d.create(ctx, body)
	if err != nil {
		return err
	}
	if to := d.nextWorker(e.team); to != nil {
		select {
		case to.offers <- made.ID:
			return nil
		default: // has enough offers
		}
	}
	d.leftovers = append(d.leftovers, leftover{team: e.team, tasks: []string{made.ID}})
	return nil
}

// nextWorker returns a worker on duty, of a team or of any, in turn.
func (d *desk) nextWorker(team int) *phone {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.phones {
		p := d.phones[(int(d.number)+i)%len(d.phones)]
		if team < 0 || p.person.team == team {
			return p
		}
	}
	return nil
}

// submit creates the tasks of several errands as a batch, waits for them and
// assigns them.
func (d *desk) submit(ctx context.Context) error {
	tasks := make([]map[string]any, 0, len(d.batch))
	for _, e := range d.batch {
		tasks = append(tasks, d.body(e.stops[0]))
	}
	batch := d.batch
	d.batch = nil
	var job struct {
		JobID string `json:"jobId"`
	}
	err := d.api(ctx, "POST /tasks/batch-async", http.MethodPost, "/tasks/batch-async", map[string]any{"tasks": tasks}, &job)
	if err != nil {
		return err
	}
	for {
		var state struct {
			Status       string      `json:"status"`
			TasksErrored int         `json:"tasksErrored"`
			NewTasks     []shownTask `json:"newTasks"`
		}
		if err := d.api(ctx, "GET /tasks/batch/{jobId}", http.MethodGet, "/tasks/batch/"+job.JobID, nil, &state); err != nil {
			return err
		}
		if state.Status != "pending" && state.Status != "inProgress" {
			if state.TasksErrored > 0 || len(state.NewTasks) != len(batch) {
				d.ledger.violation("batch %s of %d tasks ended as %s with %d tasks and %d errors", job.JobID, len(batch), state.Status, len(state.NewTasks), state.TasksErrored)
			}
			for _, t := range state.NewTasks {
				d.ledger.create(t.ID)
				d.leftovers = append(d.leftovers, leftover{team: -1, tasks: []string{t.ID}})
			}
			return d.assignLeftovers(ctx)
		}
		if !wait(ctx, deskPause) {
			return ctx.Err()
		}
	}
}

// leftoversDue reports whether to assign the leftovers now.
func (d *desk) leftoversDue() bool {
	return len(d.leftovers) > d.kept() && d.now().Sub(d.tried) >= leftoverPause
}

// assignLeftovers has the server assign the leftovers, the oldest first, except those that
// are kept. Once it has assigned none of several, the workers have enough to do, and the round
// ends; the next one begins with the leftovers that were not tried.
func (d *desk) assignLeftovers(ctx context.Context) error {
	d.tried = d.now()
	var still []leftover
	due := max(len(d.leftovers)-d.kept(), 0)
	left, kept := d.leftovers[:due], d.leftovers[due:]
	for ; len(left) > 0 && len(still) < maxUnassigned; left = left[1:] {
		assigned, err := d.autoAssign(ctx, left[0])
		if err != nil && !rejected(err) {
			d.leftovers = slices.Concat(still, left, kept)
			return err
		}
		if err == nil && !assigned {
			still = append(still, left[0])
		}
	}
	d.leftovers = slices.Concat(left, still, kept)
	return nil
}

// autoAssign has the server assign tasks, and reports whether it did.
func (d *desk) autoAssign(ctx context.Context, l leftover) (assigned bool, err error) {
	options := map[string]any{"mode": "load", "maxAssignedTaskCount": maxForEach, "considerDependencies": true, "restrictAutoAssignmentToTeam": true, "teams": d.teams}
	if l.team >= 0 {
		options["teams"] = d.teams[l.team : l.team+1]
	}
	var response struct {
		AssignedTasks map[string]string `json:"assignedTasks"`
	}
	err = d.api(ctx, "POST /tasks/autoAssign", http.MethodPost, "/tasks/autoAssign", map[string]any{"tasks": l.tasks, "options": options}, &response)
	return len(response.AssignedTasks) > 0, err
}

// create creates a task.
func (d *desk) create(ctx context.Context, body map[string]any) (made shownTask, err error) {
	err = d.api(ctx, "POST /tasks", http.MethodPost, "/tasks", body, &made)
	if err == nil {
		d.ledger.create(made.ID)
	}
	return made, err
}

// body returns a task in the form that the API accepts.
func (s *simulation) body(t stop) map[string]any {
	need := t.requirements
	need.Photo = need.Photo && s.photos.Load()
	body := map[string]any{
		"destination": map[string]any{"address": t.door.address, "location": s.plan.axes().location(t.door.at)},
		"recipients":  []recipient{t.recipient},
		"notes":       t.notes, "pickupTask": t.pickup, "quantity": t.quantity, "serviceTime": float64(t.service) / s.speed, "requirements": need,
	}
	now := s.now()
	if t.after != 0 {
		body["completeAfter"] = now.Add(s.scaled(t.after)).UnixMilli()
	}
	if t.until != 0 {
		body["completeBefore"] = now.Add(s.scaled(t.until)).UnixMilli()
	}
	if t.barcode != "" {
		body["barcodes"] = []map[string]any{{"data": t.barcode, "blockCompletion": true}}
	}
	return body
}
