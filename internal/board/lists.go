package board

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Limits of the log of lists.
const (
	MaxListed = 1_000 // maximum tasks of a list that an entry shows
	maxLists  = 20    // maximum lists that are logged together
	maxNew    = 100   // maximum new tasks that are logged together
	maxTurns  = 20    // maximum transactions for lists, and for new tasks, of one Log
)

// List is the list of a worker or a team.
type List struct {
	Container lastmile.ContainerRef
	Version   int64 // 0 if the worker or the team is gone
	Active    lastmile.TaskID
	Tasks     []lastmile.TaskID // nil if there are more than MaxListed
	Pins      map[lastmile.TaskID]lastmile.Pin
}

// ChangedList is a list that has changed and is not logged yet.
type ChangedList struct {
	Organization lastmile.OrganizationID
	List
	Notes []int64 // numbers of the notes of its changes
}

// NewTask is a task that was created without an event.
type NewTask struct {
	Task
	Owner string // the worker or the team that has it; empty if everyone in the organization sees it
}

// Lists logs the lists of workers and teams after they have changed. Several changes of a
// list become one entry. It also logs tasks that were created without an event.
type Lists struct {
	Store       store.Transactor[ListReader, ListWriter]
	Hub         *events.Hub
	Encode      func(List) ([]byte, error)
	EncodeTasks func([]Task) ([]byte, error)
	Now         func() time.Time

	mu   sync.Mutex
	last lastmile.OrganizationID // whose new tasks were logged last; organizations take turns
}

// Log logs the lists that have changed, and new tasks. While there are always more, it ends
// after maxTurns of each, so that neither keeps the other from being logged.
func (ls *Lists) Log(ctx context.Context) error {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if err := ls.logLists(ctx); err != nil {
		return err
	}
	for range maxTurns {
		var org lastmile.OrganizationID
		err := ls.Store.Read(ctx, func(r ListReader) (err error) {
			if org, err = r.WithNewTasks(ctx, ls.last); err == nil && org == "" && ls.last != "" {
				org, err = r.WithNewTasks(ctx, "")
			}
			return err
		})
		if err != nil || org == "" {
			return err
		}
		ls.last = org // the next one has its turn even if this one fails
		if err := ls.logTasks(lastmile.WithCaller(ctx, logOf(org)), org); err != nil {
			return err
		}
	}
	return nil
}

// logOf returns the name of the caller that logs the new tasks of an organization. It is not
// the organization itself: one with thousands of waiting writes would delay all that follow.
func logOf(org lastmile.OrganizationID) string { return "log of " + string(org) }

// logTasks logs new tasks of an organization. They are read in the transaction that logs
// them, so that later changes of them have later events.
func (ls *Lists) logTasks(ctx context.Context, org lastmile.OrganizationID) error {
	err := ls.Store.Write(lastmile.Locking(ctx), func(w ListWriter) error {
		found, err := w.TakeNewTasks(ctx, org, maxNew)
		if err != nil {
			return err
		}
		now, owned := ls.Now(), map[string][]Task{}
		for _, t := range found {
			t.Estimates = store.EstimatesAt(t.Estimates, t.State, t.CompleteBefore, now)
			owned[t.Owner] = append(owned[t.Owner], t.Task)
		}
		for _, owner := range slices.Sorted(maps.Keys(owned)) {
			body, err := ls.EncodeTasks(owned[owner])
			if err != nil {
				return err
			}
			if err := w.LogTasks(ctx, org, owner, body, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		ls.Hub.Publish(events.BoardTopic(org))
	}
	return err
}

// logLists logs the lists that have changed. An entry shows a list at some time after the
// change, with its version, and replaces entries of older versions, because clients need
// only the latest.
func (ls *Lists) logLists(ctx context.Context) error {
	for range maxTurns {
		var (
			changed []ChangedList
			more    bool
		)
		err := ls.Store.Read(ctx, func(r ListReader) (err error) {
			changed, more, err = r.ChangedLists(ctx, maxLists, MaxListed)
			return err
		})
		if err != nil || len(changed) == 0 {
			return err
		}
		// All nodes lock the logs of organizations in the same order.
		slices.SortStableFunc(changed, func(a, b ChangedList) int { return cmp.Compare(a.Organization, b.Organization) })
		bodies := make([][]byte, len(changed))
		for i, list := range changed {
			if list.Version == 0 {
				continue
			}
			if bodies[i], err = ls.Encode(list.List); err != nil {
				return err
			}
		}
		now := ls.Now()
		err = ls.Store.Write(lastmile.Locking(ctx), func(w ListWriter) error {
			for i, list := range changed {
				if err := w.LogList(ctx, list, bodies[i], now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, list := range changed {
			ls.Hub.Publish(events.BoardTopic(list.Organization))
		}
		if !more {
			break
		}
	}
	return nil
}
