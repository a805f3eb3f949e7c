package board

import (
	"context"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Limits of the log of lists.
const (
	MaxListed = 1_000 // tasks of a list that an entry shows
	maxNotes  = 500   // changes that are logged together
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
	Notes []int64 // of the changes
}

// Lists logs the lists of workers and teams after they have changed. Many changes of a list
// at the same time are one entry.
type Lists struct {
	Store  store.Transactor[ListReader, ListWriter]
	Hub    *events.Hub
	Encode func(List) ([]byte, error)
	Now    func() time.Time
}

// Log logs the lists that have changed. An entry shows the list at some time after the
// change, with its version.
func (ls *Lists) Log(ctx context.Context) error {
	for {
		var changed []ChangedList
		err := ls.Store.Read(ctx, func(r ListReader) (err error) {
			changed, err = r.ChangedLists(ctx, maxNotes, MaxListed)
			return err
		})
		if err != nil || len(changed) == 0 {
			return err
		}
		bodies, notes := make([][]byte, len(changed)), 0
		for i, list := range changed {
			notes += len(list.Notes)
			if list.Version == 0 {
				continue
			}
			if bodies[i], err = ls.Encode(list.List); err != nil {
				return err
			}
		}
		now := ls.Now()
		err = ls.Store.Write(ctx, func(w ListWriter) error {
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
		if notes < maxNotes {
			return nil
		}
	}
}
