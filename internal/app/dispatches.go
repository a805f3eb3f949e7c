package app

import (
	"runtime"
	"time"

	"dray/internal/dispatch"
	"dray/internal/rate"
	"dray/internal/store/sqlstore"
	"dray/internal/work"
)

// dispatchLoop runs the dispatches of teams, and replanLoop starts those of continuous
// re-planning.
type (
	dispatchLoop = work.Loop[dispatch.Reader, dispatch.Writer]
	replanLoop   = work.Loop[dispatch.ReplanReader, dispatch.ReplanWriter]
)

// dispatchFailures is the number of failures after which a dispatch is given up and its team
// is released.
const dispatchFailures = 3

// addDispatches sets up the dispatch of teams, the loop that runs it, and the one that
// starts dispatches for continuous re-planning.
func (a *App) addDispatches(newID func() string) {
	wake, begun := a.Replanner.Wake, time.Now()
	limits := dispatchLimits(runtime.GOMAXPROCS(0), memoryLimit())
	a.Dispatches = &dispatch.Dispatches{
		Store: sqlstore.For[dispatch.Reader, dispatch.Writer](a.Store), Lists: a.Containers, Travel: a.Travel, Events: a.Events,
		Now: a.Now, Elapsed: func() time.Duration { return time.Since(begun) }, NewID: newID, Wake: wake, MaxTime: a.Config.DispatchTime, Speed: a.Config.Speed, Log: a.Log,
		Checks: rate.NewShares(1), Estimates: rate.NewShares(runtime.GOMAXPROCS(0)),
		Processors: dispatch.NewProcessors(limits.Total),
	}
	a.Dispatching = &dispatchLoop{
		Kind: work.Dispatch, Store: a.Dispatches.Store, Do: a.Dispatches.Run, GiveUp: a.Dispatches.GiveUp,
		Limits: limits,
		Retry:  work.Retry{Failures: dispatchFailures, Attempts: 20, First: 2 * time.Second},
		Poll:   work.Poll{Idle: a.Config.Poll},
		Wake:   wake.Channel(),
		Alone:  a.Store.Engine() == "sqlite",
		Now:    a.Now, NewID: newID, Log: a.Log,
	}
	a.Replanning = &replanLoop{
		Kind: work.Replans, Store: a.Replanner.Store, Do: a.Replanner.Run,
		Limits: work.Limits{Total: 4, PerOrganization: 1},
		Poll:   work.Poll{Idle: a.Config.Poll},
		Alone:  a.Store.Engine() == "sqlite",
		Now:    a.Now, NewID: newID, Log: a.Log,
	}
}

// dispatchMemory is an upper bound of the memory of a dispatch.
const dispatchMemory = 512 << 20

// dispatchLimits returns how many dispatches run at once: at most half as many as there are
// processors, because the others serve requests, and no more than fit in memory. As many
// processors plan: a dispatch also uses those that no other dispatch needs. An organization runs
// at most half of the dispatches, so that one with many teams does not keep others waiting;
// organizations take turns.
func dispatchLimits(processors int, memory int64) work.Limits {
	total := max(min(processors/2, int(memory/dispatchMemory)), 1)
	return work.Limits{Total: total, PerOrganization: max(total/2, 1)}
}
