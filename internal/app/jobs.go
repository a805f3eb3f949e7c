package app

import (
	"dray/internal/api"
	"dray/internal/jobs"
	"dray/internal/store"
	"dray/internal/wire"
)

// addJobs says who does which background work.
func (a *App) addJobs() {
	a.Jobs = &jobs.Runner{
		Store: a.Store, Now: a.Now, Log: a.Log,
		Alone: a.Store.Engine() == "sqlite", // a data folder has one server
		Handlers: map[jobs.Kind]jobs.Handler{
			store.CreateBatch: {Run: a.Tasks.RunBatch, GiveUp: a.Tasks.GiveUpBatch},
		},
	}
	a.Tasks.ReadDraft, a.Tasks.Explain, a.Tasks.JobAdded = api.ReadDraft, wire.NewBatchFault, a.Jobs.Wake
}
