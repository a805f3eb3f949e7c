package board

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dray/internal/calendar"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Limits of a board.
const (
	MaxTasks = 20_000 // maximum tasks of a day
	MaxTeams = 200    // maximum teams by which a board is filtered
	MaxNotes = 200    // maximum characters of the notes on a task
)

// Boards returns the boards of organizations.
type Boards struct {
	Store store.Transactor[Reader, Reader]
	Now   func() time.Time
}

// Query selects a board.
type Query struct {
	Date         string // a day as YYYY-MM-DD; empty for today
	Teams        []lastmile.TeamID
	WithoutTasks bool
}

// Filter selects the tasks of a board.
type Filter struct {
	Day     lastmile.Window
	Overdue bool // include open tasks whose windows ended before the day
	Teams   []lastmile.TeamID
	None    bool             // no tasks
	Manager lastmile.AdminID // if not empty, only what this manager of some teams may see
}

// Board is a day as dispatchers see it.
type Board struct {
	Cursor       int64 // the number of the last event that it includes
	Fleet        int64 // version of teams, hubs and schedules
	Date         string
	Day          lastmile.Window
	Organization lastmile.Organization
	Teams        []lastmile.Team
	Hubs         []lastmile.Hub
	Workers      []Worker
	Tasks        []Task
	Truncated    bool // there are more tasks
	Versions     map[lastmile.ContainerRef]int64
}

// Worker is a worker on the board.
type Worker struct {
	lastmile.Worker
	Last   lastmile.Position // with the speed and the heading, if the phone reported them
	Shifts []lastmile.Shift
}

// Task is the part of a task that the board shows.
type Task struct {
	ID                            lastmile.TaskID
	ShortID, OrderShortID         string
	State                         lastmile.TaskState
	Created, Modified             time.Time
	CompleteAfter, CompleteBefore time.Time
	Pickup                        bool
	Quantity                      float64
	ServiceTime                   time.Duration
	Priority                      int
	Estimates                     lastmile.Estimates
	Started, Arrived              time.Time // when the worker started and arrived; zero if not yet
	Worker                        lastmile.WorkerID
	Container                     lastmile.ContainerRef // empty if completed
	Dependencies                  []lastmile.TaskID
	Pin                           lastmile.Pin
	Completed                     time.Time // zero if it is not
	Success                       bool
	FailureReason                 string
	Notes                         string // the first MaxNotes characters
	Destination                   lastmile.DestinationID
	Location                      lastmile.Point
	Address                       string // on one line
	Warnings                      []string
	Recipient                     string // name; empty if there is none
	Phone                         lastmile.Phone
}

// Read returns the board of a day.
func (bs *Boards) Read(ctx context.Context, who lastmile.Principal, q Query) (b Board, err error) {
	if len(q.Teams) > MaxTeams {
		return b, lastmile.Invalid("teams has %d ids; at most %d are allowed", len(q.Teams), MaxTeams)
	}
	err = bs.Store.Read(ctx, func(r Reader) error {
		b = Board{}
		org, err := r.Organization(ctx, who.Organization)
		if err != nil {
			return err
		}
		b.Organization = org
		filter := Filter{Teams: q.Teams, Manager: who.Manager(), None: q.WithoutTasks}
		if b.Date, filter.Day, filter.Overdue, err = day(org, q.Date, bs.Now()); err != nil {
			return err
		}
		for _, id := range q.Teams {
			if err := r.CheckTeam(ctx, org.ID, id); err != nil {
				return err
			}
		}
		b.Day = filter.Day
		return b.read(ctx, r, filter)
	})
	now := bs.Now()
	for i := range b.Tasks {
		t := &b.Tasks[i]
		t.Estimates = store.EstimatesAt(t.Estimates, t.State, t.CompleteBefore, now)
	}
	return b, err
}

// read fills the board from one snapshot. Events up to the cursor were committed before it,
// so that the records include their changes.
func (b *Board) read(ctx context.Context, r Reader, f Filter) (err error) {
	org := b.Organization.ID
	if b.Cursor, err = r.LastEvent(ctx, org); err != nil {
		return err
	}
	if b.Fleet, err = r.FleetVersion(ctx, org); err != nil {
		return err
	}
	if b.Teams, err = r.Teams(ctx, org, store.TeamFilter{Manager: f.Manager}); err != nil {
		return err
	}
	if len(f.Teams) > 0 {
		b.Teams = slices.DeleteFunc(b.Teams, func(t lastmile.Team) bool { return !slices.Contains(f.Teams, t.ID) })
	}
	if b.Hubs, err = r.Hubs(ctx, org); err != nil {
		return err
	}
	if b.Versions, err = r.BoardVersions(ctx, org); err != nil {
		return err
	}
	if err := b.readWorkers(ctx, r, f); err != nil {
		return err
	}
	if f.None {
		return nil
	}
	b.Tasks, b.Truncated, err = r.BoardTasks(ctx, org, f, MaxTasks)
	// Equal values are next to each other, so that the response compresses better.
	slices.SortFunc(b.Tasks, func(a, b Task) int { return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.ID, b.ID)) })
	return err
}

func (b *Board) readWorkers(ctx context.Context, r Reader, f Filter) error {
	org := b.Organization.ID
	workers, err := r.Workers(ctx, org, store.WorkerFilter{Teams: f.Teams, Manager: f.Manager})
	if err != nil {
		return err
	}
	moves, err := r.LastMoves(ctx, org)
	if err != nil {
		return err
	}
	schedules, err := r.Schedules(ctx, org)
	if err != nil {
		return err
	}
	for _, w := range workers {
		shown := Worker{Worker: w, Last: moves[w.ID]}
		for _, entry := range schedules[w.ID] {
			for _, shift := range entry.Shifts {
				if shift.Start.Before(f.Day.To) && shift.End.After(f.Day.From) {
					shown.Shifts = append(shown.Shifts, shift)
				}
			}
		}
		slices.SortFunc(shown.Shifts, func(a, b lastmile.Shift) int { return a.Start.Compare(b.Start) })
		b.Workers = append(b.Workers, shown)
	}
	return nil
}

// day returns a day of an organization, and whether it is today. On today's board, overdue
// tasks are also due.
func day(org lastmile.Organization, date string, now time.Time) (string, lastmile.Window, bool, error) {
	zone := calendar.Zone(org.Timezone)
	today := now.In(zone).Format(time.DateOnly)
	if date == "" {
		date = today
	}
	begin, end, err := calendar.Day(date, zone)
	if err != nil || date < "2000" || date >= "2100" {
		return "", lastmile.Window{}, false, lastmile.Malformed("date must be a day as YYYY-MM-DD between 2000 and 2099, not %q", lastmile.Truncate(date, 32))
	}
	return date, lastmile.Window{From: begin.UTC(), To: end.UTC()}, date == today, nil
}
