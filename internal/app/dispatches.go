package app

import (
	"time"

	"dray/internal/dispatch"
	"dray/internal/events"
	"dray/internal/store/sqlstore"
	"dray/internal/work"
)

// dispatchLoop runs the dispatches of teams.
type dispatchLoop = work.Loop[dispatch.Reader, dispatch.Writer]

// dispatchFailures is how often a dispatch may fail before its team is released.
const dispatchFailures = 3

// addDispatches sets up the dispatch of teams, and the loop that runs it. One dispatch
// runs at a time, on one processor: the others serve requests.
func (a *App) addDispatches(newID func() string) {
	wake, begun := &events.Wake{}, time.Now()
	a.Dispatches = &dispatch.Dispatches{
		Store: sqlstore.For[dispatch.Reader, dispatch.Writer](a.Store), Lists: a.Containers, Travel: a.Travel, Events: a.Events,
		Now: a.Now, Elapsed: func() time.Duration { return time.Since(begun) }, NewID: newID, Wake: wake, MaxTime: a.Config.DispatchTime, Threads: 1, Speed: a.Config.Speed, Log: a.Log,
	}
	a.Dispatching = &dispatchLoop{
		Kind: work.Dispatch, Store: a.Dispatches.Store, Do: a.Dispatches.Run, GiveUp: a.Dispatches.GiveUp,
		Limits: work.Limits{Total: 1, PerOrganization: 1},
		Retry:  work.Retry{Failures: dispatchFailures, Attempts: 20},
		Poll:   work.Poll{Idle: a.Config.Poll},
		Wake:   wake.Channel(),
		Alone:  a.Store.Engine() == "sqlite",
		Now:    a.Now, NewID: newID, Log: a.Log,
	}
}
