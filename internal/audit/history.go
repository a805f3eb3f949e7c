package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// Limits of the history of a task.
const (
	// HistorySize is the number of entries in a page.
	HistorySize = 50
	// historyBytes is the number of bytes of events that are read for a page.
	historyBytes = 1 << 20
)

// ActorType is the type of an actor in a history.
type ActorType string

// The types of actors.
const (
	ByAdmin        ActorType = "admin"
	ByKey          ActorType = "key"
	ByWorker       ActorType = "worker"
	ByOrganization ActorType = "organization" // another one, or the caller's for what it did in another
	ByRecipient    ActorType = "recipient"    // on the tracking page
	BySystem       ActorType = "system"
)

// Values lists every type of actor.
func (ActorType) Values() []ActorType {
	return []ActorType{ByAdmin, ByKey, ByWorker, ByOrganization, ByRecipient, BySystem}
}

// typeOf returns the type of an administrator, a worker or a key.
func typeOf(a lastmile.Actor) ActorType {
	switch a.Type { //nolint:exhaustive // the other is a key
	case lastmile.ActorAdmin:
		return ByAdmin
	case lastmile.ActorWorker:
		return ByWorker
	}
	return ByKey
}

// Named is a person, a key or an organization with its name.
type Named struct {
	ID   string
	Name string // empty if it is unknown
}

// Change is one entry of the history of a task.
type Change struct {
	ID            string
	Time          time.Time // when it happened
	Recorded      time.Time // when it was recorded, which is later if a phone was offline
	Trigger       *lastmile.Trigger
	Method, Route string // method and route of a request that has no event
	ActorType     ActorType
	Actor         Named
	Worker        *Named   // worker to whom the task was assigned, or from whom it was taken
	Step          string   // step that the worker has reported: arrival or departure
	Changed       []string // names of the changed fields; nil if unknown
}

// Mark is a position in the history of a task, which begins with the newest entry. An event
// comes after the requests of the same time.
type Mark struct {
	At       time.Time
	Sequence int64  // sequence of the event; the greatest number for a request
	ID       string // id of the request; empty for an event
}

// before orders marks from the newest to the oldest.
func (m Mark) before(n Mark) int {
	return cmp.Or(n.At.Compare(m.At), cmp.Compare(n.Sequence, m.Sequence), cmp.Compare(n.ID, m.ID))
}

// TaskEvent is an event of a task.
type TaskEvent struct {
	Mark
	Event   string // its id
	Trigger lastmile.Trigger
	Body    []byte
}

// Histories returns what happened to tasks: their events, and the requests in the audit log
// that have none.
type Histories struct {
	Store store.Transactor[HistoryReader, HistoryReader]
	Log   *Log

	turns rate.Turns // turns of organizations, because a read may skip many requests about a task
}

// item is a change with its position.
type item struct {
	Change
	Mark
	by     lastmile.Actor
	hidden bool // it repeats the entry before it
}

// Read returns a page of the history of a task that the caller may see, newest first, and
// the id that the next page starts after; empty for the last page.
func (h *Histories) Read(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, after string) (page []Change, last string, err error) {
	var task lastmile.Task
	err = h.Store.Read(ctx, func(r HistoryReader) (err error) {
		task, err = r.VisibleTask(ctx, who.Organization, id)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if err := h.Log.flushOf(ctx, who.Organization); err != nil {
		return nil, "", err
	}
	end, err := h.turns.Request(ctx, who.Organization)
	if err != nil {
		return nil, "", err
	}
	defer end()
	err = h.Store.Read(ctx, func(r HistoryReader) (err error) {
		page, last, err = read(ctx, r, who, task, after)
		return err
	})
	return page, last, err
}

func read(ctx context.Context, r HistoryReader, who lastmile.Principal, task lastmile.Task, after string) (page []Change, last string, err error) {
	org := who.Organization
	from := Mark{At: time.UnixMilli(math.MaxInt64), Sequence: math.MaxInt64}
	if after != "" {
		if from, err = r.HistoryMark(ctx, org, task.ID, after); err != nil {
			return nil, "", err
		}
	}
	first, err := r.FirstTaskEvent(ctx, org, task.ID)
	if err != nil {
		return nil, "", err
	}
	events, moreEvents, err := r.TaskEvents(ctx, org, task.ID, from, HistorySize+1, historyBytes)
	if err != nil {
		return nil, "", err
	}
	requests, err := r.TaskRequests(ctx, org, task.ID, from, reportedSince(task, first), HistorySize+1)
	if err != nil {
		return nil, "", err
	}
	moreRequests := len(requests) > HistorySize
	requests = requests[:min(len(requests), HistorySize)]
	all := eventEntries(events, moreEvents)
	floors := []Mark{}
	if moreEvents {
		floors = append(floors, all[len(all)-1].Mark)
	}
	for _, e := range requests {
		all = append(all, item{
			Mark: Mark{At: e.Time, Sequence: math.MaxInt64, ID: e.ID}, by: e.Actor,
			Change: Change{ID: e.ID, Time: e.Time, Recorded: e.Time, Method: e.Method, Route: e.Route, Actor: Named{ID: e.Actor.ID, Name: e.Name}},
		})
	}
	if moreRequests {
		floors = append(floors, all[len(all)-1].Mark)
	}
	slices.SortFunc(all, func(a, b item) int { return a.before(b.Mark) })
	// Entries below a floor may come after some that were not read.
	all = slices.DeleteFunc(all, func(e item) bool {
		return slices.ContainsFunc(floors, func(f Mark) bool { return f.before(e.Mark) < 0 })
	})
	if more := len(floors) > 0 || len(all) > HistorySize; more {
		all = all[:min(len(all), HistorySize)]
		last = all[len(all)-1].Change.ID
	} else if first == nil || !first.Trigger.IsCreation() {
		all = append(all, creation(task))
	}
	all = slices.DeleteFunc(all, func(e item) bool { return e.hidden })
	page, err = named(ctx, r, who, all)
	return page, last, err
}

// reportedSince returns the time since which each change of a task has a stored event.
func reportedSince(t lastmile.Task, first *TaskEvent) time.Time {
	switch {
	case first == nil && t.Events > 0: // all are deleted
		return time.UnixMilli(math.MaxInt64)
	case first == nil || first.Sequence == 1:
		return time.Time{}
	}
	return first.At
}

// creation returns the entry for the creation of a task whose event is deleted, or which has
// none because a batch created it.
func creation(t lastmile.Task) item {
	made := lastmile.TriggerTaskCreated
	if t.SourceTask != "" {
		made = lastmile.TriggerTaskCloned
	}
	return item{Change: Change{ID: string(t.ID), Time: t.Created, Recorded: t.Created, Trigger: &made, Changed: []string{}}, by: lastmile.Actor{ID: t.Creator}}
}

// snapshot is the body of an event.
type snapshot struct {
	Time          int64 `json:"time"`
	ActionContext *struct {
		Type lastmile.ActorType `json:"type"`
		ID   string             `json:"id"`
	} `json:"actionContext"`
	Data struct {
		Task map[string]json.RawMessage `json:"task"`
	} `json:"data"`
}

func (s snapshot) actor() lastmile.Actor {
	if s.ActionContext == nil {
		return lastmile.Actor{}
	}
	return lastmile.Actor{Type: s.ActionContext.Type, ID: s.ActionContext.ID}
}

// worker returns the id of the worker who has the task, or nil.
func (s snapshot) worker() *Named {
	id := ""
	if json.Unmarshal(s.Data.Task["worker"], &id) != nil || id == "" {
		return nil
	}
	return &Named{ID: id}
}

// steps returns the names of the steps that the worker has reported.
func (s snapshot) steps() []string {
	var details struct {
		Events []struct {
			Name string `json:"name"`
		} `json:"events"`
	}
	_ = json.Unmarshal(s.Data.Task["completionDetails"], &details)
	names := make([]string, len(details.Events))
	for i, e := range details.Events {
		names[i] = e.Name
	}
	return names
}

// eventEntries returns the entries of events, newest first. If there are more events, the
// last one has no entry, and is only compared with the one before it.
func eventEntries(events []TaskEvent, more bool) []item {
	all := make([]item, 0, len(events))
	states := make([]snapshot, len(events))
	for i, e := range events {
		_ = json.Unmarshal(e.Body, &states[i]) // it is what the platform has encoded
	}
	for i, e := range events {
		if more && i == len(events)-1 {
			break
		}
		now := states[i]
		made := item{Mark: e.Mark, by: now.actor(), Change: Change{ID: e.Event, Time: time.UnixMilli(now.Time).UTC(), Recorded: e.At, Trigger: &events[i].Trigger}}
		switch {
		case i+1 < len(events):
			made.compare(states[i+1], now)
		case e.Trigger.IsCreation():
			made.Changed = []string{}
		}
		if e.Trigger == lastmile.TriggerTaskAssigned {
			made.Worker = now.worker()
		}
		all = append(all, made)
	}
	return all
}

// compare sets the fields that an event has changed.
func (e *item) compare(before, now snapshot) {
	trigger := *e.Trigger
	e.Changed = changes(before.Data.Task, now.Data.Task, trigger)
	if trigger == lastmile.TriggerTaskUnassigned {
		e.Worker = before.worker()
	}
	if trigger != lastmile.TriggerTaskUpdated {
		return
	}
	steps, by := now.steps(), now.actor().Type
	if len(steps) > len(before.steps()) {
		e.Step = steps[len(steps)-1]
	}
	if e.Step != "" || by == lastmile.ActorAPI || by == lastmile.ActorAdmin { // it shows what a worker has done since the previous event
		e.Changed = slices.DeleteFunc(e.Changed, func(name string) bool { return name == "completionDetails" })
	}
	if before.Time == now.Time && before.actor() == now.actor() { // one request has assigned and updated the task
		in := struct {
			Type lastmile.ContainerKind `json:"type"`
		}{}
		_ = json.Unmarshal(now.Data.Task["container"], &in)
		e.hidden = e.Step == "" && (len(e.Changed) == 0 || slices.Equal(e.Changed, []string{"container"}) && in.Type != lastmile.InTeam)
	}
}

// Fields that are not compared: they change without a change of the task.
var incidental = []string{"timeLastModified", "estimatedCompletionTime", "estimatedArrivalTime", "eta", "delayTime", "type", "didAutoAssign"}

// implied are fields that the triggers of tasks, except for updates, imply.
var implied = []string{"state", "worker", "container", "completionDetails"}

// changes returns the names of the fields that differ between two states of a task.
func changes(before, now map[string]json.RawMessage, trigger lastmile.Trigger) []string {
	if trigger == lastmile.TriggerTaskCompleted || trigger == lastmile.TriggerTaskFailed || trigger == lastmile.TriggerTaskDeleted {
		return []string{} // the proof is part of the completion
	}
	names := maps.Clone(now)
	maps.Copy(names, before)
	changed := []string{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if slices.Contains(incidental, name) || trigger != lastmile.TriggerTaskUpdated && slices.Contains(implied, name) {
			continue
		}
		a, b := before[name], now[name]
		if name == "destination" || name == "recipients" { // their contents may change without the task
			a, b = idsIn(a, now["timeLastModified"]), idsIn(b, now["timeLastModified"])
		}
		if !bytes.Equal(a, b) {
			changed = append(changed, name)
		}
	}
	return changed
}

// idsIn returns the ids of a record, or of a list of records, each with the time of its last
// change if that is when the task has changed.
func idsIn(raw, changed json.RawMessage) []byte {
	type record struct {
		ID               string          `json:"id"`
		TimeLastModified json.RawMessage `json:"timeLastModified"`
	}
	all := []record{{}}
	if json.Unmarshal(raw, &all[0]) != nil {
		_ = json.Unmarshal(raw, &all)
	}
	ids := []byte{}
	for _, r := range all {
		ids = append(append(ids, r.ID...), ' ')
		if bytes.Equal(r.TimeLastModified, changed) {
			ids = append(ids, changed...)
		}
	}
	return ids
}

// named returns the changes of entries with the names of their actors.
func named(ctx context.Context, r HistoryReader, who lastmile.Principal, all []item) ([]Change, error) {
	n := names{ctx: ctx, r: r, org: who.Organization, known: map[lastmile.Actor]found{}}
	if manager := who.Manager(); manager != "" {
		_, own, err := r.Managed(ctx, who.Organization, manager)
		if err != nil {
			return nil, err
		}
		n.hides = func(id string) bool { return !slices.Contains(own, lastmile.WorkerID(id)) }
	}
	page := make([]Change, len(all))
	for i, e := range all {
		if e.Actor.Name == "" { // the audit log has names
			of, err := n.of(e.by)
			if err != nil {
				return nil, err
			}
			e.ActorType, e.Actor = of.kind, of.Named
			if of.kind == BySystem && e.isByRecipient() {
				e.ActorType = ByRecipient
			}
		} else {
			e.ActorType = typeOf(e.by)
		}
		if e.Worker != nil {
			of, err := n.of(lastmile.Actor{Type: lastmile.ActorWorker, ID: e.Worker.ID})
			if err != nil {
				return nil, err
			}
			e.Worker = &of.Named
		}
		page[i] = e.Change
	}
	return page, nil
}

// isByRecipient reports whether an entry without an actor is a change that the recipient
// made on the tracking page.
func (e item) isByRecipient() bool {
	return len(e.Changed) > 0 && !slices.ContainsFunc(e.Changed, func(name string) bool { return name != "trackingViewed" && name != "feedback" })
}

// names finds the names of actors, each once.
type names struct {
	ctx   context.Context //nolint:containedctx // it is used by one call
	r     HistoryReader
	org   lastmile.OrganizationID
	known map[lastmile.Actor]found
	hides func(worker string) bool // reports whether the caller may not see a worker; nil if the caller may see all
}

type found struct {
	kind ActorType
	Named
}

// of returns an actor. One without a type is the creator of a task: a key, an administrator
// or an organization.
func (n names) of(by lastmile.Actor) (found, error) {
	if by == (lastmile.Actor{}) {
		return found{kind: BySystem}, nil
	}
	if of, ok := n.known[by]; ok {
		return of, nil
	}
	of, err := n.find(by)
	n.known[by] = of
	return of, err
}

func (n names) find(by lastmile.Actor) (found, error) {
	of := found{Named: Named{ID: by.ID}}
	if by.Type == lastmile.ActorWorker && n.hides != nil && n.hides(by.ID) {
		of.kind = ByWorker
		return of, nil
	}
	tries := []lastmile.Actor{by}
	if by.Type == "" {
		tries = []lastmile.Actor{{Type: lastmile.ActorAPI, ID: by.ID}, {Type: lastmile.ActorAdmin, ID: by.ID}}
	}
	for _, try := range tries {
		of.kind = typeOf(try)
		var err error
		if of.Name, err = n.r.ActorName(n.ctx, n.org, try); err != nil || of.Name != "" {
			return of, err
		}
	}
	if by.Type == lastmile.ActorAdmin || by.Type == lastmile.ActorWorker {
		return of, nil
	}
	org, err := n.r.Organization(n.ctx, lastmile.OrganizationID(by.ID))
	if lastmile.IsNotFound(err) {
		return of, nil
	}
	of.kind, of.Name = ByOrganization, org.Name
	return of, err
}
