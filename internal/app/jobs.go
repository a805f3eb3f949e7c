package app

import (
	"dray/internal/api"
	"dray/internal/store"
	"dray/internal/work"
)

// addJobs sets up the loop that creates the tasks of batches.
func (a *App) addJobs(newID func() string) {
	added := work.NewSignal()
	a.Jobs = &workLoop{
		Kind: store.CreateBatch, Store: a.Store, Do: a.Tasks.RunBatch, GiveUp: a.Tasks.GiveUpBatch,
		Limits: work.Limits{Total: 4, PerOrganization: 2},
		// A claim that ended without an error, because a process was killed, is
		// not the batch's fault, but only so often: it may be the batch that takes
		// processes down.
		Retry: work.Retry{Failures: 10, Attempts: 200},
		Wake:  added,
		Alone: a.Store.Engine() == "sqlite", // a data folder has one server
		Now:   a.Now, NewID: newID, Log: a.Log,
	}
	a.Tasks.ReadDraft, a.Tasks.Explain, a.Tasks.JobAdded = api.ReadDraft, api.Explain, added.Notify
}
