package travel

import (
	"time"

	"dray/internal/lastmile"
)

// Manifest is the printable list of a worker's stops in order, with the worker,
// vehicle and hub.
type Manifest struct {
	At        time.Time // when it was created
	Departure time.Time
	Worker    lastmile.Worker
	Hub       lastmile.Hub
	Tasks     []lastmile.Task // in order, the active one first
}

// NewManifest returns a manifest of the tasks that can be carried out within a
// window, which may be open at either end. The worker departs at the earliest
// time of the first task, or now.
func NewManifest(worker lastmile.Worker, hub lastmile.Hub, tasks []lastmile.Task, within lastmile.Window, now time.Time) Manifest {
	m := Manifest{At: now, Departure: now, Worker: worker, Hub: hub}
	for _, t := range tasks {
		late := !within.To.IsZero() && t.CompleteAfter.After(within.To)
		early := !within.From.IsZero() && !t.CompleteBefore.IsZero() && t.CompleteBefore.Before(within.From)
		if !late && !early {
			m.Tasks = append(m.Tasks, t)
		}
	}
	if len(m.Tasks) > 0 && !m.Tasks[0].CompleteAfter.IsZero() {
		m.Departure = m.Tasks[0].CompleteAfter
	}
	return m
}
