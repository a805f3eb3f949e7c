package app

import (
	"dray/internal/events"
	"dray/internal/jobs"
	"dray/internal/store"
)

// addJobs builds the runner of background work, which batches wakes.
func (a *App) addJobs(batches *events.Wake) {
	a.Jobs = &jobs.Runner{
		Store: a.Store, Now: a.Now, Log: a.Log, Added: batches.Channel(),
		Alone: a.Store.Engine() == "sqlite", // a data folder has one server
		Handlers: map[jobs.Kind]jobs.Handler{
			store.CreateBatch: {Run: a.Tasks.RunBatch, GiveUp: a.Tasks.GiveUpBatch},
		},
	}
}
