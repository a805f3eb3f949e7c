package travel

import (
	"time"

	"dray/internal/lastmile"
)

// Manifest is what a worker has to do, on paper: who drives what from where,
// and each stop in the order of the route.
type Manifest struct {
	At        time.Time // when it was made
	Departure time.Time
	Worker    lastmile.Worker
	Hub       lastmile.Hub
	Tasks     []lastmile.Task // the active one first, then the list in order
}

// NewManifest makes a manifest of the tasks that can be done in a window, of
// which either end may be open. The worker departs when the first task may be
// begun, or now.
func NewManifest(worker lastmile.Worker, hub lastmile.Hub, tasks []lastmile.Task, within lastmile.Window, now time.Time) Manifest {
	m := Manifest{At: now, Departure: now, Worker: worker, Hub: hub}
	for _, t := range tasks {
		late := !within.To.IsZero() && t.CompleteAfter.After(within.To)
		early := !within.From.IsZero() && !t.CompleteBy.IsZero() && t.CompleteBy.Before(within.From)
		if !late && !early {
			m.Tasks = append(m.Tasks, t)
		}
	}
	if len(m.Tasks) > 0 && !m.Tasks[0].CompleteAfter.IsZero() {
		m.Departure = m.Tasks[0].CompleteAfter
	}
	return m
}
