package app

import (
	"dray/internal/jobs"
	"dray/internal/store"
)

// addJobs builds the runner of background work, which added wakes.
func (a *App) addJobs(added jobs.Wake) {
	a.Jobs = &jobs.Runner{
		Store: a.Store, Now: a.Now, Log: a.Log, Added: added,
		Alone: a.Store.Engine() == "sqlite", // a data folder has one server
		Handlers: map[jobs.Kind]jobs.Handler{
			store.CreateBatch: {Run: a.Tasks.RunBatch, GiveUp: a.Tasks.GiveUpBatch},
		},
	}
}
