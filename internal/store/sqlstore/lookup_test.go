package sqlstore

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"dray/internal/audit"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/store/engine/enginetest"
	"dray/internal/store/sqlaudit"
	"dray/internal/store/sqlboard"
	"dray/internal/store/sqlorder"
	"dray/internal/store/sqlreport"
)

// asked is a connection that records its statements.
type asked struct {
	engine.Conn
	queries map[string][]any // with arguments
}

func (a *asked) Query(ctx context.Context, query string, args ...any) (engine.Rows, error) {
	a.queries[query] = args
	return a.Conn.Query(ctx, query, args...)
}

func (a *asked) Row(ctx context.Context, query string, args ...any) engine.Scanner {
	a.queries[query] = args
	return a.Conn.Row(ctx, query, args...)
}

func (a *asked) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	a.queries[query] = args
	return a.Conn.Exec(ctx, query, args...)
}

// TestLookUpsReadNoWholeTable checks the query plans of frequent lookups in SQLite: none
// may read every row of a table or of an organization, as SQLite does if no index contains
// all columns of a condition.
func TestLookUpsReadNoWholeTable(t *testing.T) {
	s, err := Open(t.Context(), Options{Data: t.TempDir(), Serve: true, Now: time.Now})
	enginetest.Must(t, err)
	defer func() { enginetest.Must(t, s.Close()) }()
	ctx := t.Context()
	none := func(err error) error {
		if lastmile.IsNotFound(err) {
			return nil
		}
		return err
	}
	lookUps := map[string]func(*Tx) error{
		"dependencies of a task":      func(x *Tx) error { _, err := x.Parents(ctx, "o", "t"); return err },
		"tasks that depend on a task": func(x *Tx) error { _, err := x.Children(ctx, "o", "t", 0); return err },
		"tasks of workers on duty":    func(x *Tx) error { _, err := x.Queues(ctx, "o"); return err },
		"tasks of a worker": func(x *Tx) error {
			_, err := x.Container(ctx, "o", lastmile.WorkerContainer("w"))
			return err
		},
		"the first tasks of a worker": func(x *Tx) error { _, err := x.ListHead(ctx, "o", lastmile.WorkerContainer("w"), 50); return err },
		"the state of a list":         func(x *Tx) error { _, err := x.ListState(ctx, "o", lastmile.WorkerContainer("w")); return err },
		"the end of a list":           func(x *Tx) error { _, err := x.Unplaced(ctx, "o", lastmile.WorkerContainer("w")); return err },
		"the start of a list": func(x *Tx) error {
			_, _, err := x.neighbours(ctx, "o", lastmile.WorkerContainer("w"), store.Position{Start: true})
			return err
		},
		"some tasks of a list": func(x *Tx) error {
			_, err := x.StillListed(ctx, "o", lastmile.WorkerContainer("w"), []lastmile.TaskID{"a", "b"})
			return err
		},
		"carriers among tasks":   func(x *Tx) error { _, err := x.Carriers(ctx, "o", []lastmile.TaskID{"a", "b"}); return err },
		"unfinished among tasks": func(x *Tx) error { _, err := x.Unfinished(ctx, "o", []lastmile.TaskID{"a", "b"}); return err },
		"some tasks":             func(x *Tx) error { _, err := x.TasksLeft(ctx, "o", []lastmile.TaskID{"a", "b"}, 1<<20); return err },
		"names of firings":       func(x *Tx) error { _, err := x.Fired(ctx, "o", "t"); return err },
		"the promised arrival":   func(x *Tx) error { _, err := x.Promised(ctx, "o", "t"); return err },
		"route plans of a worker": func(x *Tx) error {
			_, err := x.RoutePlans(ctx, "o", store.RoutePlanFilter{Worker: "w", Limit: 501})
			return err
		},
		"recipients by phone": func(x *Tx) error {
			_, err := x.Recipients(ctx, "o", store.RecipientFilter{Phone: "+12125550100"})
			return err
		},
		"organizations with a recipient": func(x *Tx) error { _, err := x.RecipientOf(ctx, "+12125550100"); return err },
		"a service of a courier":         func(x *Tx) error { _, err := sqlorder.New(x.Conn()).DeliveryService(ctx, "o", "s"); return none(err) },
		"a service for a client":         func(x *Tx) error { _, err := sqlorder.New(x.Conn()).OfferedService(ctx, "o", "s"); return none(err) },
		"a quote":                        func(x *Tx) error { _, err := sqlorder.New(x.Conn()).Quote(ctx, "o", "q"); return none(err) },
		"an order": func(x *Tx) error {
			_, err := sqlorder.New(x.Conn()).Order(ctx, "o", "orderorderorderorderorde")
			return none(err)
		},
		"an order by its short id": func(x *Tx) error { _, err := sqlorder.New(x.Conn()).Order(ctx, "o", "8f2a61c4"); return none(err) },
		"credentials by phone":     func(x *Tx) error { _, err := x.CredentialsByPhone(ctx, "+12125550100"); return err },
	}
	whole := regexp.MustCompile(`^SCAN [a-z]|\(org=\?\)$`)
	for name, lookUp := range lookUps {
		t.Run(name, func(t *testing.T) {
			noted := &asked{queries: map[string][]any{}}
			enginetest.Must(t, s.engine.Read(ctx, func(c engine.Conn) error {
				noted.Conn = c
				return lookUp(newTx(newConn(noted), time.Now))
			}))
			if len(noted.queries) == 0 {
				t.Error("nothing was asked")
			}
			for query, args := range noted.queries {
				for _, step := range explain(t, s, query, args) {
					if whole.MatchString(step.detail) {
						t.Errorf("%s\n%s", step.detail, query)
					}
				}
			}
		})
	}
}

// TestQueuesAreSortedByWorker checks that SQLite does not sort the tasks of all workers,
// which it would hold in memory.
func TestQueuesAreSortedByWorker(t *testing.T) {
	s, err := Open(t.Context(), Options{Data: t.TempDir(), Serve: true, Now: time.Now})
	enginetest.Must(t, err)
	defer func() { enginetest.Must(t, s.Close()) }()
	for _, step := range explain(t, s, queuesQuery, []any{"o"}) {
		if strings.Contains(step.detail, "TEMP B-TREE") {
			t.Error(step.detail)
		}
	}
}

// TestPastReadsNoWholeTable checks that the board of a past day looks up each worker and each
// task: an organization has millions of positions and events.
func TestPastReadsNoWholeTable(t *testing.T) {
	s, err := Open(t.Context(), Options{Data: t.TempDir(), Serve: true, Now: time.Now})
	enginetest.Must(t, err)
	defer func() { enginetest.Must(t, s.Close()) }()
	ctx, now := t.Context(), time.Now()
	day := lastmile.Window{From: now.Add(-time.Hour), To: now}
	reads := map[string]func(engine.Conn) error{
		"where workers were":  func(c engine.Conn) error { _, err := sqlboard.New(c).MovesAt(ctx, "o", now); return err },
		"who was on duty":     func(c engine.Conn) error { _, err := sqlboard.New(c).DutyAt(ctx, "o", now); return err },
		"tasks of the past":   func(c engine.Conn) error { _, err := sqlboard.New(c).PastTasks(ctx, "o", 5, now, 10); return err },
		"tasks without event": func(c engine.Conn) error { _, err := sqlboard.New(c).UnloggedTasks(ctx, "o", day, 10); return err },
		"the event before":    func(c engine.Conn) error { _, err := sqlboard.New(c).EventBefore(ctx, "o", now); return err },
		"ways of workers": func(c engine.Conn) error {
			_, err := sqlboard.New(c).MovesIn(ctx, "o", []lastmile.WorkerID{"w"}, day, time.Second)
			return err
		},
		"events of a task": func(c engine.Conn) error {
			_, _, err := sqlaudit.New(c).TaskEvents(ctx, "o", "t", audit.Mark{At: now}, 50, 1000)
			return err
		},
		"requests for a task": func(c engine.Conn) error {
			_, err := sqlaudit.New(c).TaskRequests(ctx, "o", "t", audit.Mark{At: now}, now, 50)
			return err
		},
		"attempts at an account": func(c engine.Conn) error {
			_, err := sqlaudit.New(c).AuditAttempts(ctx, "o", "a", "wrongPassword", now, 6)
			return err
		},
		"stops of a worker": func(c engine.Conn) error { _, err := sqlreport.New(c).CompletedBy(ctx, "o", "w", day, 10); return err },
		"next stops":        func(c engine.Conn) error { _, err := sqlreport.New(c).OpenOf(ctx, "o", "w", "", 10); return err },
		"later stops":       func(c engine.Conn) error { _, err := sqlreport.New(c).OpenOf(ctx, "o", "w", "t", 10); return err },
		"orders": func(c engine.Conn) error {
			_, err := sqlorder.New(c).Orders(ctx, "o", store.OrderRange{}, "", 10)
			return err
		},
		"notifications of a task": func(c engine.Conn) error {
			_, err := newTx(newConn(c), time.Now).TaskNotifications(ctx, "o", "t", 10)
			return err
		},
	}
	whole := regexp.MustCompile(`^SCAN [a-df-z]|^SEARCH (?:[dehpt]|event) .*\(org=\?\)$|\(org=\? AND seq<\?\)$`)
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			noted := &asked{queries: map[string][]any{}}
			enginetest.Must(t, s.engine.Read(ctx, func(c engine.Conn) error {
				noted.Conn = c
				return read(noted)
			}))
			if len(noted.queries) == 0 {
				t.Error("nothing was asked")
			}
			for query, args := range noted.queries {
				for _, step := range explain(t, s, query, args) {
					if whole.MatchString(step.detail) {
						t.Errorf("%s\n%s", step.detail, query)
					}
				}
			}
		})
	}
}

// TestClearingAWebhookReadsOnlyWhatItClears: a webhook may have millions of notifications,
// and SQLite must not sort them to find the next ones.
func TestClearingAWebhookReadsOnlyWhatItClears(t *testing.T) {
	s, err := Open(t.Context(), Options{Data: t.TempDir(), Serve: true, Now: time.Now})
	enginetest.Must(t, err)
	defer func() { enginetest.Must(t, s.Close()) }()
	ctx := t.Context()
	noted := &asked{queries: map[string][]any{}}
	enginetest.Must(t, s.engine.Write(ctx, func(c engine.Conn) error {
		noted.Conn = c
		tx := newTx(newConn(noted), time.Now)
		if err := tx.InsertNotifications(ctx, []lastmile.Notification{{Organization: "o", ID: "n", Webhook: "h", Event: "e"}}); err != nil {
			return err
		}
		if _, err := tx.GiveUpNotifications(ctx, "o", "h", 1); err != nil {
			return err
		}
		_, err := tx.DeleteNotifications(ctx, "o", "h", 2)
		return err
	}))
	changes := 0
	for query, args := range noted.queries {
		if strings.HasPrefix(query, "INSERT") {
			continue
		}
		changes++
		for _, step := range explain(t, s, query, args) {
			if regexp.MustCompile(`^SCAN [a-z]|\(org=\?\)$|TEMP B-TREE`).MatchString(step.detail) {
				t.Errorf("%s\n%s", step.detail, query)
			}
		}
	}
	if changes != 5 {
		t.Errorf("%d statements were noted: %v", changes, noted.queries)
	}
}
