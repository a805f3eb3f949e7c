package app

import (
	"dray/internal/events"
	"dray/internal/work"
)

// addJobs sets up the loop that creates the tasks of batches. A signal on batches
// wakes it before the next poll.
func (a *App) addJobs(newID func() string, batches *events.Wake) {
	a.Jobs = &workLoop{
		Kind: work.CreateBatch, Store: a.Batches.Store, Do: a.Batches.Run, GiveUp: a.Batches.GiveUp,
		Limits: batchLimits(),
		// A lease that expired because its process was killed does not count as a failure.
		// The number of attempts is limited too, because the batch itself may be the cause
		// of the crashes.
		Retry: work.Retry{Failures: 10, Attempts: 200},
		Poll:  work.Poll{Idle: a.Config.Poll},
		Wake:  batches.Channel(),
		Alone: a.Store.Engine() == "sqlite", // only one server can use a data folder
		Now:   a.Now, NewID: newID, Log: a.Log,
	}
}

// batchLimits returns how many batches are in progress at once. A batch can have 32 MiB, and
// several copies of it are in memory.
func batchLimits() work.Limits {
	if memoryLimit() < 1<<30 {
		return work.Limits{Total: 2, PerOrganization: 1}
	}
	return work.Limits{Total: 4, PerOrganization: 2}
}
