package tracking

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// Tracker follows the workers of all organizations.
type Tracker struct {
	Store  store.Store
	Travel Travel
	Now    func() time.Time
	NewID  func() string
	Log    *slog.Logger
	Woken  <-chan struct{} // when something was committed here
	Alone  bool            // no other process looks: claims of one that is gone end at the start

	// Notify is told, in the transaction of a look, of what recipients are to
	// hear of: the organization's thresholds that were met, and events for all;
	// nil tells nobody.
	Notify func(ctx context.Context, w store.Writer, events []lastmile.Event) error

	mu      sync.Mutex
	learned map[lastmile.OrganizationID]learned
}

// Travel tells how long the legs of a way take.
type Travel interface {
	Legs(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error)
}

// Report takes in where the worker who is asking was. It returns how many
// positions were believed.
func (t *Tracker) Report(ctx context.Context, who lastmile.Principal, positions []lastmile.Position) (believed int, err error) {
	if len(positions) > travel.MaxPositions {
		return 0, lastmile.Invalid("positions has %d entries; at most %d are allowed", len(positions), travel.MaxPositions)
	}
	now := t.Now()
	err = t.Store.Write(ctx, func(w store.Writer) error {
		last, err := w.Whereabouts(ctx, who.Organization, who.Worker)
		if err != nil {
			return err
		}
		kept := travel.FilterPositions(positions, last, now)
		believed = len(kept)
		if believed == 0 {
			return nil
		}
		if err := w.SavePositions(ctx, who.Organization, who.Worker, kept); err != nil {
			return err
		}
		seen := last.See(kept)
		if seen == last {
			return nil
		}
		if last.Location == nil { // now the whole list can be estimated
			if err := w.Watch(ctx, who.Organization, who.Worker, now); err != nil {
				return err
			}
		}
		return w.SaveSighting(ctx, who.Organization, who.Worker, seen, now)
	})
	return believed, err
}

// learned is what an organization's past work says, for a while.
type learned struct {
	experience travel.Experience
	until      time.Time
}

// keepLearned is how long experience is not asked for again: one trip more
// changes little.
const keepLearned = 5 * time.Minute

// experience is what an organization's past work says of the work to come.
func (t *Tracker) experience(ctx context.Context, org lastmile.OrganizationID) (travel.Experience, error) {
	now := t.Now()
	t.mu.Lock()
	known, ok := t.learned[org]
	t.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.experience, nil
	}
	err := t.Store.Read(ctx, func(r store.Reader) error {
		trips, err := r.Trips(ctx, org, travel.LearnedTrips)
		known = learned{travel.Learn(trips), now.Add(keepLearned)}
		return err
	})
	if err != nil {
		return known.experience, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.learned == nil {
		t.learned = map[lastmile.OrganizationID]learned{}
	}
	t.learned[org] = known
	return known.experience, nil
}
