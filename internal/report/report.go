package report

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"dray/internal/calendar"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// Limits of positions over time.
const (
	MaxPositions     = 1_000 // maximum positions of a page
	MaxSimplified    = 5_000 // maximum positions that are simplified to a page
	MaxPositionsSpan = 31 * 24 * time.Hour
	MaxTolerance     = lastmile.Meters(10_000) // maximum tolerance of a simplified way
)

// Track is a page of the positions of a worker.
type Track struct {
	Positions []lastmile.Position
	Next      time.Time // where the next page begins; zero for none
}

// Positions returns the positions of a worker of the caller's organization, oldest first, by
// default of the last 24 hours. With a tolerance, it leaves out positions that are at most
// that far from the line between others.
func (rs *Reports) Positions(ctx context.Context, who lastmile.Principal, worker lastmile.WorkerID, from, to time.Time, tolerance lastmile.Meters) (track Track, err error) {
	in, err := rs.window(from, to, 24*time.Hour, MaxPositionsSpan)
	if err != nil {
		return track, err
	}
	if !(tolerance >= 0 && tolerance <= MaxTolerance) {
		return track, lastmile.Invalid("simplify must be between 0 and %.0f metres", float64(MaxTolerance))
	}
	limit := MaxPositions
	if tolerance > 0 {
		limit = MaxSimplified
	}
	err = rs.Store.Read(ctx, func(r Reader) (err error) {
		if _, err = r.Tracked(ctx, who.Organization, worker); err != nil {
			return err
		}
		track.Positions, err = r.PositionsBetween(ctx, who.Organization, worker, in, limit+1)
		return err
	})
	if err != nil {
		return track, err
	}
	if len(track.Positions) > limit {
		track.Next = track.Positions[limit].At
		track.Positions = track.Positions[:limit]
	}
	track.Positions = travel.Simplify(track.Positions, tolerance)
	return track, nil
}

// MaxStops is the maximum number of completed, and of open, stops of a worker on a page.
const MaxStops = 500

// Stop is a task of a worker, completed or not.
type Stop struct {
	lastmile.Task
	Promised time.Time // the arrival that was estimated when the task was started; zero if unknown
}

// Round is a page of the stops of a worker.
type Round struct {
	Stops []Stop
	Next  time.Time       // where the next page begins; zero for none
	Last  lastmile.TaskID // task after which the next page of open tasks begins; empty for none
}

// Stops returns the tasks that a worker of the caller's organization completed in a window,
// by default in the last 24 hours, in order. If the window has not ended, the worker's open
// tasks follow. If after is set, it returns only the open tasks after that one, whatever the
// window.
func (rs *Reports) Stops(ctx context.Context, who lastmile.Principal, worker lastmile.WorkerID, from, to time.Time, after lastmile.TaskID) (round Round, err error) {
	in, err := rs.window(from, to, 24*time.Hour, MaxPositionsSpan)
	if err != nil {
		return round, err
	}
	now := rs.Now()
	err = rs.Store.Read(ctx, func(r Reader) error {
		round = Round{}
		if _, err := r.Tracked(ctx, who.Organization, worker); err != nil {
			return err
		}
		found, err := round.completed(ctx, r, who.Organization, worker, in, after)
		if err != nil {
			return err
		}
		later := after != "" || in.To.After(now.Add(time.Millisecond)) // than the end of the default window
		if later && round.Next.IsZero() {
			open, err := round.open(ctx, r, who.Organization, worker, after)
			if err != nil {
				return err
			}
			found = append(found, open...)
		}
		ids, promised := make([]lastmile.TaskID, len(found)), map[lastmile.TaskID]time.Time{}
		for i, t := range found {
			ids[i], promised[t.Task] = t.Task, t.Arrival
		}
		tasks, err := r.TasksOf(ctx, who.Organization, ids)
		for _, t := range tasks {
			t.Estimates = store.EstimatesAt(t.Estimates, t.State, t.CompleteBefore, now)
			round.Stops = append(round.Stops, Stop{Task: t, Promised: promised[t.ID]})
		}
		return err
	})
	return round, err
}

// completed returns a page of the tasks that a worker completed, and sets when the next page
// begins.
func (page *Round) completed(ctx context.Context, r Reader, org lastmile.OrganizationID, worker lastmile.WorkerID, in lastmile.Window, after lastmile.TaskID) ([]store.Promised, error) {
	if after != "" {
		return nil, nil
	}
	found, err := r.CompletedBy(ctx, org, worker, in, MaxStops+1)
	if err != nil || len(found) <= MaxStops {
		return found, err
	}
	next, err := r.TasksOf(ctx, org, []lastmile.TaskID{found[MaxStops].Task})
	if err == nil {
		page.Next = next[0].Completion.At
	}
	return found[:MaxStops], err
}

// open returns a page of the tasks that a worker has, and sets after which one the next page
// begins.
func (page *Round) open(ctx context.Context, r Reader, org lastmile.OrganizationID, worker lastmile.WorkerID, after lastmile.TaskID) ([]store.Promised, error) {
	found, err := r.OpenOf(ctx, org, worker, after, MaxStops+2)
	switch {
	case err != nil:
		return nil, err
	case after != "" && len(found) == 0:
		return nil, lastmile.NotFound("task of the worker", lastmile.Truncate(string(after), 64)).Because("lastId is the ID of a task that the worker no longer has: begin with the first page")
	case after != "":
		found = found[1:]
	}
	if len(found) > MaxStops {
		found = found[:MaxStops]
		page.Last = found[MaxStops-1].Task
	}
	return found, nil
}

// window returns the window of a request. Zero times were not given and have defaults.
func (rs *Reports) window(from, to time.Time, usual, longest time.Duration) (lastmile.Window, error) {
	switch {
	case to.IsZero() && from.IsZero():
		to = rs.Now().Add(time.Millisecond) // now is included
		from = to.Add(-usual)
	case to.IsZero():
		to = from.Add(usual)
	case from.IsZero():
		from = to.Add(-usual)
	}
	if !from.Before(to) {
		return lastmile.Window{}, lastmile.Invalid("from must be before to")
	}
	if to.Sub(from) > longest {
		return lastmile.Window{}, lastmile.Invalid("from and to must be at most %.0f days apart", longest.Hours()/24)
	}
	return lastmile.Window{From: from, To: to}, nil
}

// MaxAnalyticsSpan is the maximum window of analytics: a month with a day that is an hour
// longer because clocks change.
const MaxAnalyticsSpan = 31*24*time.Hour + time.Hour

// defaultAnalyticsSpan is the default window of analytics.
const defaultAnalyticsSpan = 7 * 24 * time.Hour

// Grouping is how analytics are grouped.
type Grouping string

// The groupings.
const (
	ByDay    Grouping = "day"
	ByTeam   Grouping = "team"
	ByWorker Grouping = "worker"
)

// Group is a group of analytics.
type Group struct {
	Day     string // set by ByDay, as 2006-01-02
	Team    lastmile.TeamID
	Created *int // set by ByDay and in totals
	store.Totals
}

// Analytics sum up the work done in a window.
type Analytics struct {
	Window lastmile.Window
	Total  Group
	Groups []Group
}

// Analytics sums up the tasks of the caller's organization that were completed in a window:
// by day in the organization's time zone, by worker, or by the current teams of workers. A
// worker in several teams counts in each. Managers of some teams see only their tasks and
// teams.
func (rs *Reports) Analytics(ctx context.Context, who lastmile.Principal, from, to time.Time, by Grouping) (a Analytics, err error) {
	if by != ByDay && by != ByTeam && by != ByWorker {
		return a, lastmile.Malformed("by must be day, team or worker, not %q", lastmile.Truncate(string(by), 32))
	}
	if a.Window, err = rs.window(from, to, defaultAnalyticsSpan, MaxAnalyticsSpan); err != nil {
		return a, err
	}
	end, err := rs.turns.Request(ctx, who.Organization)
	if err != nil {
		return a, err
	}
	defer end()
	err = rs.Store.Read(ctx, func(r Reader) error {
		org, err := r.Organization(ctx, who.Organization)
		if err != nil {
			return err
		}
		a.Total, a.Groups = Group{}, nil
		created, err := r.CreatedIn(ctx, store.ViewerOf(who), a.Window)
		if err != nil {
			return err
		}
		a.Total.Created = &created
		zone := calendar.Zone(org.Timezone)
		if by == ByDay {
			return a.addDays(ctx, r, store.ViewerOf(who), zone)
		}
		return a.addWorkers(ctx, r, who, by, zone)
	})
	return a, err
}

// days returns the days of a window in a time zone. The first and the last may be partial.
func days(in lastmile.Window, zone *time.Location) iter.Seq[lastmile.Window] {
	return func(yield func(lastmile.Window) bool) {
		for at := in.From; at.Before(in.To); {
			end := calendar.End(at, zone)
			if end.After(in.To) {
				end = in.To
			}
			if !yield(lastmile.Window{From: at, To: end.UTC()}) {
				return
			}
			at = end.UTC()
		}
	}
}

func (a *Analytics) addDays(ctx context.Context, r Reader, by store.Viewer, zone *time.Location) error {
	for day := range days(a.Window, zone) {
		created, err := r.CreatedIn(ctx, by, day)
		if err != nil {
			return err
		}
		group := Group{Day: day.From.In(zone).Format(time.DateOnly), Created: &created}
		parts, err := r.TotalsIn(ctx, by, day)
		if err != nil {
			return err
		}
		for _, part := range parts {
			group.Add(part)
			a.Total.Add(part)
		}
		a.Groups = append(a.Groups, group)
	}
	return nil
}

// addWorkers adds the groups by worker or team. It reads one day at a time, because the
// database may hold all tasks that it sums up in memory.
func (a *Analytics) addWorkers(ctx context.Context, r Reader, who lastmile.Principal, by Grouping, zone *time.Location) error {
	var teams map[lastmile.WorkerID][]lastmile.TeamID
	if by == ByTeam {
		var err error
		if teams, err = memberships(ctx, r, who); err != nil {
			return err
		}
	}
	groups := map[subject]*Group{}
	add := func(key subject, part store.Totals) {
		if groups[key] == nil {
			groups[key] = &Group{Team: key.team, Totals: store.Totals{Worker: key.worker}}
		}
		groups[key].Add(part)
	}
	for day := range days(a.Window, zone) {
		parts, err := r.TotalsByWorker(ctx, store.ViewerOf(who), day)
		if err != nil {
			return err
		}
		for _, part := range parts {
			a.Total.Add(part)
			switch of := teams[part.Worker]; {
			case by == ByWorker:
				add(subject{worker: part.Worker}, part)
			case len(of) == 0:
				add(subject{}, part)
			default:
				for _, team := range of {
					add(subject{team: team}, part)
				}
			}
		}
	}
	for _, group := range groups {
		a.Groups = append(a.Groups, *group)
	}
	slices.SortFunc(a.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Team, b.Team), cmp.Compare(a.Worker, b.Worker))
	})
	return nil
}

// memberships returns the teams of workers that the caller may see.
func memberships(ctx context.Context, r Reader, who lastmile.Principal) (map[lastmile.WorkerID][]lastmile.TeamID, error) {
	all, err := r.Memberships(ctx, who.Organization)
	if err != nil || who.Manager() == "" {
		return all, err
	}
	for worker, teams := range all {
		all[worker] = slices.DeleteFunc(teams, func(id lastmile.TeamID) bool { return !slices.Contains(who.Role.Teams, id) })
	}
	return all, nil
}

// subject is the worker or the team of a group of analytics.
type subject struct {
	worker lastmile.WorkerID
	team   lastmile.TeamID
}

// fillBatch is the number of records that one transaction fills.
const fillBatch = 200

// Fill completes records that were saved by a version without search and analytics, in
// batches, until all are complete.
func (rs *Reports) Fill(ctx context.Context) error {
	for _, kind := range []store.Kind{store.Workers, store.Tasks, store.Destinations} {
		for filled := fillBatch; filled == fillBatch; {
			err := rs.Store.Write(ctx, func(w Writer) error {
				records, err := w.Unfilled(ctx, kind, fillBatch)
				filled = len(records)
				for _, record := range records {
					if err == nil {
						err = fill(ctx, w, kind, record)
					}
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func fill(ctx context.Context, w Writer, kind store.Kind, record store.Unfilled) error {
	switch kind {
	case store.Workers:
		worker, err := w.Tracked(ctx, record.Organization, lastmile.WorkerID(record.ID))
		if err != nil {
			return err
		}
		return w.FillWorker(ctx, worker)
	case store.Tasks:
		task, err := w.Task(ctx, record.Organization, lastmile.TaskID(record.ID))
		if err != nil {
			return err
		}
		return w.FillTask(ctx, task)
	default:
		destination, err := w.Destination(ctx, record.Organization, lastmile.DestinationID(record.ID))
		if err != nil {
			return err
		}
		return w.FillDestination(ctx, destination)
	}
}
