package audit

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Limits of the audit log.
const (
	// Kept is how long entries are kept.
	Kept = 400 * 24 * time.Hour
	// MaxEntries is the maximum number of entries kept for an organization, the newest.
	MaxEntries = 500_000
	// maxPending is the maximum number of unsaved entries. Then a request saves them.
	maxPending = 5_000
	// flushBatch is the number of entries that one transaction saves.
	flushBatch = 500
	// purgeBatch is the number of entries that one transaction deletes.
	purgeBatch = 500
	// PageSize is the number of entries in a page.
	PageSize = 64
)

// Entry is one request.
type Entry struct {
	ID           string
	Organization lastmile.OrganizationID
	Time         time.Time
	Actor        lastmile.Actor // an administrator or a key; for an attempt, an administrator or a worker
	Name         string         // name of the actor
	Method       string
	Route        string // pattern of the path
	Record       string // id of the record that the request names or created; may be empty
	Status       int
	Attempt      AttemptKind // at the actor's account; empty for other requests
	Count        int         // number of requests that the entry stands for
	Request      string      // id of the last of these requests
	Address      string      // address of the caller; empty if unknown
}

// ActorType returns admin, key or worker.
func (e Entry) ActorType() string { return string(typeOf(e.Actor)) }

// Query selects entries; zero fields select all.
type Query struct {
	From, To time.Time // at or after From, and before To
	Actor    string    // id
	Route    string    // pattern of the path, or the method and the pattern
	Record   string
	After    string // id of the last entry of the previous page
	Limit    int
}

// Log records requests. Entries are saved in batches, up to a second later.
type Log struct {
	Store store.Transactor[Reader, Writer]
	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger

	mu       sync.Mutex
	pending  []Entry
	attempts map[attempted]*attempts
	saving   sync.Mutex // one batch at a time, so that none is saved twice
}

// Record adds an entry, whose id it sets. If too many wait, it saves them first: then
// requests are as slow as the database. Entries that cannot be saved are lost if even
// more come.
func (l *Log) Record(ctx context.Context, e Entry) {
	e.ID, e.Count = l.NewID(), 1
	l.mu.Lock()
	l.pending = append(l.pending, e)
	full := len(l.pending) >= maxPending
	l.mu.Unlock()
	if !full {
		return
	}
	if err := l.Flush(context.WithoutCancel(ctx)); err != nil {
		l.mu.Lock()
		lost := max(0, len(l.pending)-maxPending)
		l.pending = l.pending[lost:]
		l.mu.Unlock()
		l.Log.Error("entries of the audit log cannot be saved", "error", err, "lost", lost)
	}
}

// Flush saves the entries that wait.
func (l *Log) Flush(ctx context.Context) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	for {
		l.mu.Lock()
		batch := slices.Clone(l.pending[:min(len(l.pending), flushBatch)])
		l.mu.Unlock()
		if len(batch) == 0 {
			return l.saveAttempts(ctx)
		}
		err := l.Store.Write(lastmile.Locking(ctx), func(w Writer) error {
			if err := name(ctx, w, batch); err != nil {
				return err
			}
			return w.AddAuditEntries(ctx, batch)
		})
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.pending = slices.Clone(l.pending[len(batch):])
		l.mu.Unlock()
	}
}

// flushOf saves the entries that wait, if one may be of an organization: requests that read
// the log do not have to write those of others.
func (l *Log) flushOf(ctx context.Context, org lastmile.OrganizationID) error {
	l.mu.Lock()
	waiting := len(l.attempts) > 0 || slices.ContainsFunc(l.pending, func(e Entry) bool { return e.Organization == org })
	l.mu.Unlock()
	if !waiting {
		return nil
	}
	return l.Flush(ctx)
}

// name sets the names of the actors.
func name(ctx context.Context, r Reader, batch []Entry) error {
	known := map[lastmile.Actor]string{}
	for i, e := range batch {
		text, ok := known[e.Actor]
		if !ok {
			var err error
			if text, err = r.ActorName(ctx, e.Organization, e.Actor); err != nil {
				return err
			}
			known[e.Actor] = text
		}
		batch[i].Name = text
	}
	return nil
}

// List returns a page of the entries of the caller's organization, newest first, and the
// id that the next page starts after; empty for the last page.
func (l *Log) List(ctx context.Context, who lastmile.Principal, q Query) (page []Entry, last string, err error) {
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return nil, "", lastmile.Invalid("from must be before to")
	}
	if err := l.flushOf(ctx, who.Organization); err != nil {
		return nil, "", err
	}
	q.Limit = PageSize + 1
	err = l.Store.Read(ctx, func(r Reader) (err error) {
		page, err = r.AuditEntries(ctx, who.Organization, q)
		return err
	})
	if len(page) > PageSize {
		page = page[:PageSize]
		last = page[PageSize-1].ID
	}
	return page, last, err
}

// Purge deletes entries that are too old, and those of organizations with too many.
func (l *Log) Purge(ctx context.Context) error {
	var all []lastmile.Organization
	err := l.Store.Read(ctx, func(r Reader) (err error) {
		all, err = r.Organizations(ctx)
		return err
	})
	if err != nil {
		return err
	}
	before := l.Now().Add(-Kept)
	for _, org := range all {
		for deleted := int64(purgeBatch); deleted >= purgeBatch; {
			err := l.Store.Write(lastmile.Locking(ctx), func(w Writer) (err error) {
				deleted, err = w.DeleteAuditEntries(ctx, org.ID, before, MaxEntries, purgeBatch)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
