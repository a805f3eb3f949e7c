package tracking

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
	"dray/internal/travel"
)

// Tracker follows the workers of all organizations.
type Tracker struct {
	Store  Store
	Events *events.Log
	Travel Travel
	Ways   Travel  // calls no external service, so that it can be used in transactions
	Speed  float64 // speed of simulated workers; 1 is real time; see travel.Learn
	Now    func() time.Time
	NewID  func() string
	Log    *slog.Logger
	Wake   <-chan struct{} // receives a value after this process has committed events
	Idle   time.Duration   // between polls while no worker is due; 0 for the default
	Alone  bool            // no other process refreshes estimates of this database

	Admission *Admission // limits of positions
	Routes    Routes
	Notices   Notices

	phones   rate.Turns // one report of each worker at a time, because several would conflict
	previews rate.Turns // one preview for each organization at a time

	mu      sync.Mutex
	learned map[lastmile.OrganizationID]learned
}

// Routes is notified of the delays of workers.
type Routes interface {
	// Delayed is called in the transaction that saves the delay of a worker. worker.Delay
	// is still the previous one.
	Delayed(ctx context.Context, tx store.Transaction, worker lastmile.Worker, delay *time.Duration) error
}

// Notices knows the messages that were sent to recipients.
type Notices interface {
	// Repeats reports whether the recipient knows of an event from the message that the
	// worker is on the way, and is not notified of it.
	Repeats(ctx context.Context, tx store.Transaction, e lastmile.Event) (bool, error)
}

// Travel returns the legs of a way, with distances and durations.
type Travel interface {
	Legs(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error)
}

// Report saves positions that a worker reports, and returns how many were
// accepted.
func (t *Tracker) Report(ctx context.Context, who lastmile.Principal, positions []lastmile.Position) (accepted int, err error) {
	if len(positions) > travel.MaxPositions {
		return 0, lastmile.Invalid("positions has %d entries; at most %d are allowed", len(positions), travel.MaxPositions)
	}
	if err := t.Admission.admit(who, len(positions)); err != nil {
		return 0, err
	}
	end, err := t.phones.Take(ctx, string(who.Worker))
	if err != nil {
		return 0, err
	}
	defer end()
	now := t.Now()
	err = t.Store.Write(ctx, func(w Writer) error {
		last, err := w.Whereabouts(ctx, who.Organization, who.Worker)
		if err != nil {
			return err
		}
		last = travel.WithoutFuture(last, now)
		kept := travel.FilterPositions(positions, last, now)
		accepted = len(kept)
		if accepted == 0 {
			return nil
		}
		latest := last.WithPositions(kept)
		if latest.Odometer, err = measure(ctx, w, who, kept, last); err != nil {
			return err
		}
		if err := w.SavePositions(ctx, who.Organization, who.Worker, kept); err != nil {
			return err
		}
		if latest == last {
			return nil
		}
		if err := t.correctDistances(ctx, w, who, last.LocatedAt, latest.LocatedAt, now); err != nil {
			return err
		}
		if last.Location == nil { // now the whole list can be estimated
			if err := w.ScheduleEstimate(ctx, who.Organization, who.Worker, now); err != nil {
				return err
			}
		}
		t.Events.Publish(w, events.WorkerTopic(who.Worker), events.MoveTopic(who.Organization))
		return w.SaveLatestPosition(ctx, who.Organization, who.Worker, latest, now)
	})
	return accepted, err
}

// learned is the cached experience from an organization's past trips.
type learned struct {
	experience travel.Experience
	until      time.Time
}

// keepLearned is the time for which learned travel times are cached: one more trip changes
// little.
const keepLearned = 5 * time.Minute

// experience returns what was learned from an organization's past trips.
func (t *Tracker) experience(ctx context.Context, r Reader, org lastmile.OrganizationID) (travel.Experience, error) {
	now := t.Now()
	t.mu.Lock()
	known, ok := t.learned[org]
	t.mu.Unlock()
	if left := known.until.Sub(now); ok && left > 0 && left <= keepLearned { // else the clock was set back
		return known.experience, nil
	}
	trips, err := r.Trips(ctx, org, travel.LearnedTrips)
	if err != nil {
		return known.experience, err
	}
	known = learned{travel.Learn(trips, t.Speed), now.Add(keepLearned)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.learned == nil {
		t.learned = map[lastmile.OrganizationID]learned{}
	}
	t.learned[org] = known
	return known.experience, nil
}
