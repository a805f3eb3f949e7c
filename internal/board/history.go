package board

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// Limits of the positions of a past day.
const (
	HistoryPage         = time.Hour        // time span of a response
	HistoryStep         = 20 * time.Second // minimum time between two positions of a worker
	MaxHistoryPositions = 50_000           // maximum positions of a response
)

// Histories returns boards of the past, rebuilt from stored events and positions.
type Histories struct {
	Store store.Transactor[HistoryReader, HistoryReader]
	Now   func() time.Time

	turns rate.Turns // one request of an organization at a time, because rebuilding a day is expensive
}

// History is the board at the beginning of a day, as far as it can be rebuilt, and the range
// of the day's events.
type History struct {
	Board
	LastEvent int64     // the number of the last event of the day, so far
	Stored    time.Time // when the oldest stored event was stored; zero if there is none
	Unlogged  []Task    // tasks created on the day without an event, as they were then
}

// PastTask is a task as it was after an event.
type PastTask struct {
	Task
	At   time.Time         // time of the event; zero if there was none
	List []lastmile.TaskID // list of the worker who had the task then; nil if it is not known
}

// Read returns the board at the beginning of a day.
func (h *Histories) Read(ctx context.Context, who lastmile.Principal, q Query) (past History, err error) {
	if len(q.Teams) > MaxTeams {
		return past, lastmile.Invalid("teams has %d ids; at most %d are allowed", len(q.Teams), MaxTeams)
	}
	end, err := h.turns.Request(ctx, who.Organization)
	if err != nil {
		return past, err
	}
	defer end()
	now := h.Now()
	err = h.Store.Read(ctx, func(r HistoryReader) error {
		past = History{}
		org, err := r.Organization(ctx, who.Organization)
		if err != nil {
			return err
		}
		past.Organization = org
		filter := Filter{Teams: q.Teams, Manager: who.Manager()}
		if past.Date, filter.Day, _, err = day(org, q.Date, now); err != nil {
			return err
		}
		if filter.Day.From.After(now) {
			return lastmile.Invalid("date must be today or earlier, not %q", past.Date)
		}
		for _, id := range q.Teams {
			if err := r.CheckTeam(ctx, org.ID, id); err != nil {
				return err
			}
		}
		past.Day = filter.Day
		return past.read(ctx, r, filter)
	})
	return past, err
}

func (past *History) read(ctx context.Context, r HistoryReader, f Filter) (err error) {
	org := past.Organization.ID
	if past.Stored, err = r.FirstEvent(ctx, org); err != nil {
		return err
	}
	if past.Cursor, err = r.EventBefore(ctx, org, past.Day.From); err != nil {
		return err
	}
	if past.LastEvent, err = r.EventBefore(ctx, org, past.Day.To); err != nil {
		return err
	}
	if past.Teams, err = r.Teams(ctx, org, store.TeamFilter{Manager: f.Manager}); err != nil {
		return err
	}
	if len(f.Teams) > 0 {
		past.Teams = slices.DeleteFunc(past.Teams, func(t lastmile.Team) bool { return !slices.Contains(f.Teams, t.ID) })
	}
	if past.Hubs, err = r.Hubs(ctx, org); err != nil {
		return err
	}
	if err := past.Board.readWorkers(ctx, r, f); err != nil {
		return err
	}
	if err := past.rewindWorkers(ctx, r); err != nil {
		return err
	}
	found, err := r.PastTasks(ctx, org, past.Cursor, past.Day.From, MaxTasks+1)
	if err != nil {
		return err
	}
	if len(found) > MaxTasks {
		found, past.Truncated = found[:MaxTasks], true
	}
	unlogged, err := r.UnloggedTasks(ctx, org, past.Day, MaxTasks+1)
	if err != nil {
		return err
	}
	if len(unlogged) > MaxTasks {
		unlogged, past.Truncated = unlogged[:MaxTasks], true
	}
	seen := past.seenBy(f)
	past.place(slices.DeleteFunc(found, func(t PastTask) bool {
		return t.State == lastmile.TaskCompleted || !t.CompleteAfter.Before(past.Day.To) || !seen(t.Task)
	}))
	for _, tasks := range [][]Task{past.Tasks, unlogged} {
		for i := range tasks {
			if in := &tasks[i].Container; in.Kind == lastmile.InOrganization && in.Owner == "" {
				*in = lastmile.OrganizationContainer(past.Organization.ID)
			}
		}
	}
	past.Unlogged = slices.DeleteFunc(unlogged, func(t Task) bool { return !seen(t) })
	return nil
}

// seenBy returns a function that reports whether the caller sees a task: a team on the board
// or one of its workers has the task, or it is unassigned.
func (past *History) seenBy(f Filter) func(Task) bool {
	if f.Manager == "" && len(f.Teams) == 0 {
		return func(Task) bool { return true }
	}
	owners := map[string]bool{}
	for _, t := range past.Teams {
		owners[string(t.ID)] = true
	}
	for _, w := range past.Workers {
		owners[string(w.ID)] = true
	}
	return func(t Task) bool {
		return t.Container.Kind == lastmile.InOrganization || owners[t.Container.Owner] || owners[string(t.Worker)]
	}
}

// rewindWorkers sets the duty status and locations of workers back to the beginning of the
// day. Names, teams and vehicles are not logged, so the current ones are kept.
func (past *History) rewindWorkers(ctx context.Context, r HistoryReader) error {
	org, from := past.Organization.ID, past.Day.From
	duty, err := r.DutyAt(ctx, org, from)
	if err != nil {
		return err
	}
	moves, err := r.MovesAt(ctx, org, from)
	if err != nil {
		return err
	}
	past.Workers = slices.DeleteFunc(past.Workers, func(w Worker) bool { return !w.Created.Before(past.Day.To) })
	for i := range past.Workers {
		w := &past.Workers[i]
		w.Whereabouts = lastmile.Whereabouts{OnDuty: duty[w.ID]}
		w.Last, w.Delay, w.Modified, w.ActiveTask, w.Tasks = moves[w.ID], nil, w.Created, "", nil
		if !w.Last.At.IsZero() {
			w.Whereabouts.Location, w.Whereabouts.LocatedAt, w.Whereabouts.LastSeen = &w.Last.Location, w.Last.At, w.Last.At
		}
	}
	for i := range past.Teams {
		past.Teams[i].Tasks = nil
	}
	return nil
}

// place adds tasks to the board, and to the lists of workers and teams. A worker's list has
// the order of the latest event that shows it.
func (past *History) place(tasks []PastTask) {
	type known struct {
		at   time.Time
		list []lastmile.TaskID
	}
	orders, workers, teams := map[lastmile.WorkerID]known{}, map[lastmile.WorkerID]*Worker{}, map[lastmile.TeamID]*lastmile.Team{}
	for i := range past.Workers {
		workers[past.Workers[i].ID] = &past.Workers[i]
	}
	for i := range past.Teams {
		teams[past.Teams[i].ID] = &past.Teams[i]
	}
	slices.SortFunc(tasks, func(a, b PastTask) int { return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.ID, b.ID)) })
	for _, t := range tasks {
		past.Tasks = append(past.Tasks, t.Task)
		if of := orders[t.Worker]; t.List != nil && !t.At.Before(of.at) {
			orders[t.Worker] = known{t.At, t.List}
		}
		if w := workers[t.Worker]; w != nil && t.State == lastmile.TaskActive {
			w.ActiveTask = t.ID
		} else if w != nil && t.State == lastmile.TaskAssigned {
			w.Tasks = append(w.Tasks, t.ID)
		}
		if team := teams[lastmile.TeamID(t.Container.Owner)]; team != nil && t.Container.Kind == lastmile.InTeam {
			team.Tasks = append(team.Tasks, t.ID)
		}
	}
	for id, w := range workers {
		places := map[lastmile.TaskID]int{}
		for i, task := range orders[id].list {
			places[task] = i + 1
		}
		place := func(id lastmile.TaskID) int { return cmp.Or(places[id], len(places)+1) }
		slices.SortStableFunc(w.Tasks, func(a, b lastmile.TaskID) int { return cmp.Compare(place(a), place(b)) })
	}
}

// Positions returns the positions, at intervals, of the workers that the caller may see, for
// an hour from a time on, and when the next page begins.
func (h *Histories) Positions(ctx context.Context, who lastmile.Principal, from time.Time) (all []Moved, next time.Time, err error) {
	if from.IsZero() {
		return nil, next, lastmile.Missing("from")
	}
	end, err := h.turns.Request(ctx, who.Organization)
	if err != nil {
		return nil, next, err
	}
	defer end()
	in := lastmile.Window{From: from, To: from.Add(HistoryPage)}
	err = h.Store.Read(ctx, func(r HistoryReader) error {
		workers, err := r.Workers(ctx, who.Organization, store.WorkerFilter{Manager: who.Manager()})
		if err != nil {
			return err
		}
		ids := make([]lastmile.WorkerID, len(workers))
		for i, w := range workers {
			ids[i] = w.ID
		}
		all, err = r.MovesIn(ctx, who.Organization, ids, in, stepFor(len(ids)))
		return err
	})
	slices.SortStableFunc(all, func(a, b Moved) int { return a.At.Compare(b.At) })
	return all, in.To, err
}

// stepFor returns the minimum time between positions of a worker at which a page with the
// given number of workers has no more than MaxHistoryPositions.
func stepFor(workers int) time.Duration {
	return max(HistoryStep, HistoryPage*time.Duration(workers)/MaxHistoryPositions)
}
