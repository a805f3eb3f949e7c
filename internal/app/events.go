package app

import (
	"cmp"
	"context"
	"time"

	"dray/internal/dispatch"
	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/ordering"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/wire"
)

// The intervals at which a node polls for changes by processes that send it no notification.
const (
	pollSQLite   = 250 * time.Millisecond // commands that run beside the server send no notifications
	pollPostgres = time.Second            // used while the LISTEN connection is down
)

// addEvents sets up the event log and the hub that wakes its followers. texts
// wakes the loop that sends text messages.
func (a *App) addEvents(newID func() string, texts *events.Wake) {
	options := events.HubOptions{Log: a.Log, Node: newID(), Version: a.Store.DataVersion, Poll: pollSQLite}
	if relay := a.Store.Relay(); relay != nil && !a.Config.Unnotified {
		options.Relay, options.Poll = relay, pollPostgres
	}
	options.Poll = cmp.Or(a.Config.Poll, options.Poll)
	a.Hub = events.NewHub(options)
	a.Composer = &messaging.Composer{
		Store: sqlstore.For[messaging.Reader, messaging.Writer](a.Store),
		Now:   a.Now, NewID: newID, Saved: texts.Signal,
	}
	follower := ordering.Follower{Store: sqlstore.With[ordering.OrderReader, ordering.FollowWriter](a.Store, withParts)}
	a.Replanner = &dispatch.Replanner{Store: sqlstore.For[dispatch.ReplanReader, dispatch.ReplanWriter](a.Store), Now: a.Now, NewID: newID, Wake: &events.Wake{}}
	a.Events = events.NewLog(events.Options{
		Now: a.Now, NewID: newID, Hub: a.Hub,
		Encode: func(ctx context.Context, all []lastmile.Event) ([][]byte, error) {
			return wire.EncodeEvents(store.Remembered(ctx), all)
		},
		Orders: func(ctx context.Context, tx events.Transaction, all []lastmile.Event) error {
			return follower.Follow(ctx, tx, all)
		},
		Messages: func(ctx context.Context, tx events.Transaction, all []lastmile.Event) error {
			return a.Composer.Notify(ctx, tx, all)
		},
		Replan: func(ctx context.Context, tx events.Transaction, all []lastmile.Event) error {
			return a.Replanner.Follow(ctx, tx, all)
		},
	})
}
