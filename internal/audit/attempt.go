package audit

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// Limits of attempts at accounts, so that a flood of them does not fill the log.
const (
	// MaxAttempts is how many attempts of a kind at an account have their own entry in an
	// hour. The others share one.
	MaxAttempts = 5
	// maxAttempted is how many accounts, each with a kind of attempts, wait to be saved.
	// Attempts at others are lost.
	maxAttempted = 1_000
)

// AttemptKind is what a caller tried at an account.
type AttemptKind string

// Values lists every kind of attempts.
func (AttemptKind) Values() []AttemptKind {
	return []AttemptKind{"wrongPassword", "wrongCode", "tooManyAttempts", "resetRequested"}
}

// attempted is an account, which may not exist, and a kind of attempts at it.
type attempted struct {
	email string
	kind  AttemptKind
}

// attempts are those of an hour that wait to be saved.
type attempts struct {
	first []Entry
	more  *Entry // the others; nil if there are none
}

// add adds an entry, which may stand for several requests.
func (a *attempts) add(e Entry) {
	switch {
	case len(a.first) < MaxAttempts && e.Count == 1:
		a.first = append(a.first, e)
	case a.more == nil:
		a.more = &e
	default:
		a.more.join(e)
	}
}

// join makes an entry stand for a later one too. It has an address only if all have the
// same.
func (e *Entry) join(later Entry) {
	if e.Address != later.Address {
		e.Address = ""
	}
	e.Count += later.Count
	e.Time, e.Request = later.Time, later.Request
}

// Attempt adds an entry about an attempt at an account: a failure to sign in or to confirm
// a password, or a request for a new password, by a caller who may be a stranger. Its actor
// is the account, which is looked up when the entry is saved: how long this takes does not
// reveal whether there is one.
func (l *Log) Attempt(email string, e Entry) {
	e.ID, e.Count = l.NewID(), 1
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempt(attempted{email, e.Attempt}, e)
}

func (l *Log) attempt(at attempted, e Entry) {
	waiting := l.attempts[at]
	if waiting == nil {
		if len(l.attempts) >= maxAttempted {
			return
		}
		if l.attempts == nil {
			l.attempts = map[attempted]*attempts{}
		}
		waiting = &attempts{}
		l.attempts[at] = waiting
	}
	waiting.add(e)
}

// saveAttempts saves the attempts at accounts that wait.
func (l *Log) saveAttempts(ctx context.Context) error {
	l.mu.Lock()
	waiting := l.attempts
	l.attempts = nil
	l.mu.Unlock()
	if len(waiting) == 0 {
		return nil
	}
	err := l.writeAttempts(ctx, waiting)
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		later := l.attempts
		l.attempts = waiting
		for at, some := range later {
			for _, e := range some.first {
				l.attempt(at, e)
			}
			if some.more != nil {
				l.attempt(at, *some.more)
			}
		}
	}
	return err
}

func (l *Log) writeAttempts(ctx context.Context, waiting map[attempted]*attempts) error {
	known := map[attempted]lastmile.Admin{}
	err := l.Store.Read(ctx, func(r Reader) error {
		clear(known)
		for at := range waiting {
			admin, err := r.AdminByEmail(ctx, at.email)
			if err == nil {
				known[at] = admin
			} else if !lastmile.IsNotFound(err) {
				return err
			}
		}
		return nil
	})
	if err != nil || len(known) == 0 {
		return err
	}
	return l.Store.Write(ctx, func(w Writer) error {
		for at, admin := range known {
			if err := l.addAttempts(ctx, w, admin, at.kind, *waiting[at]); err != nil {
				return err
			}
		}
		return nil
	})
}

// addAttempts saves attempts at an account: as entries, until there are enough in the hour,
// and then as one entry for all others.
func (l *Log) addAttempts(ctx context.Context, w Writer, admin lastmile.Admin, kind AttemptKind, some attempts) error {
	all := append([]Entry{}, some.first...)
	if some.more != nil {
		all = append(all, *some.more)
	}
	since := all[0].Time.Truncate(time.Hour)
	saved, err := w.AuditAttempts(ctx, admin.Organization, admin.ID, kind, since, MaxAttempts+1)
	if err != nil {
		return err
	}
	var shared *Entry
	isNew := len(saved) <= MaxAttempts
	if !isNew {
		shared = &saved[MaxAttempts]
	}
	var added []Entry
	for _, e := range all {
		e.Organization, e.Record = admin.Organization, string(admin.ID)
		e.Actor, e.Name = lastmile.Actor{Type: lastmile.ActorAdmin, ID: string(admin.ID)}, admin.Name
		switch {
		case len(saved)+len(added) < MaxAttempts && e.Count == 1:
			added = append(added, e)
		case shared == nil:
			shared = &e
		default:
			shared.join(e)
		}
	}
	if shared != nil && isNew {
		added = append(added, *shared)
	} else if shared != nil {
		if err := w.SaveAuditAttempts(ctx, *shared); err != nil {
			return err
		}
	}
	return w.AddAuditEntries(ctx, added)
}
