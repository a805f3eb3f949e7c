package app

import (
	"dray/internal/events"
	"dray/internal/store"
	"dray/internal/work"
)

// addJobs sets up the loop that creates the tasks of batches, which batches
// wakes.
func (a *App) addJobs(newID func() string, batches *events.Wake) {
	a.Jobs = &workLoop{
		Kind: store.CreateBatch, Store: a.Store, Do: a.Tasks.RunBatch, GiveUp: a.Tasks.GiveUpBatch,
		Limits: work.Limits{Total: 4, PerOrganization: 2},
		// A claim that ended without an error, because a process was killed, is
		// not the batch's fault, but only so often: it may be the batch that takes
		// processes down.
		Retry: work.Retry{Failures: 10, Attempts: 200},
		Wake:  batches.Channel(),
		Alone: a.Store.Engine() == "sqlite", // a data folder has one server
		Now:   a.Now, NewID: newID, Log: a.Log,
	}
}
