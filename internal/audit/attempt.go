package audit

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// Limits of attempts at accounts, so that a flood of them does not fill the log.
const (
	// MaxAttempts is the maximum number of attempts of a kind at an account that have
	// their own entry in an hour. The others share one.
	MaxAttempts = 5
	// maxAttempted is the maximum number of accounts, each with a kind of attempts, that
	// wait to be saved. Attempts at others are lost.
	maxAttempted = 1_000
)

// AttemptKind is what a caller tried at an account.
type AttemptKind string

// Values lists every kind of attempts.
func (AttemptKind) Values() []AttemptKind {
	return []AttemptKind{"wrongPassword", "wrongCode", "tooManyAttempts", "resetRequested"}
}

// Account identifies the target of attempts, which may not exist: the account of the
// administrator with an e-mail address, or those of the workers with a phone number.
type Account struct {
	Email        string
	Phone        lastmile.Phone
	Organization lastmile.OrganizationID // organization of the worker; empty for the workers of all organizations
}

// attempted is an account and a kind of attempts at it.
type attempted struct {
	Account
	kind AttemptKind
}

// owner is the administrator or worker who has an account.
type owner struct {
	org   lastmile.OrganizationID
	actor lastmile.Actor
	name  string
}

// attempts are the attempts of a kind at an account that wait to be saved.
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
// is the owner of the account, who is looked up only when the entry is saved, so that the
// response time does not reveal whether the account exists. Each organization that has a
// worker with the phone number gets the entry.
func (l *Log) Attempt(at Account, e Entry) {
	e.ID, e.Count = l.NewID(), 1
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempt(attempted{at, e.Attempt}, e)
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
	known := map[attempted][]owner{}
	err := l.Store.Read(ctx, func(r Reader) error {
		clear(known)
		for at := range waiting {
			found, err := owners(ctx, r, at.Account)
			if err != nil {
				return err
			}
			if len(found) > 0 {
				known[at] = found
			}
		}
		return nil
	})
	if err != nil || len(known) == 0 {
		return err
	}
	return l.Store.Write(ctx, func(w Writer) error {
		for at, all := range known {
			for _, one := range all {
				if err := addAttempts(ctx, w, one, at.kind, *waiting[at]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// owners returns the owners of an account.
func owners(ctx context.Context, r Reader, at Account) (all []owner, err error) {
	if at.Phone == "" {
		admin, err := r.AdminByEmail(ctx, at.Email)
		if lastmile.IsNotFound(err) {
			return nil, nil
		}
		return []owner{{admin.Organization, lastmile.Actor{Type: lastmile.ActorAdmin, ID: string(admin.ID)}, admin.Name}}, err
	}
	workers, err := r.CredentialsByPhone(ctx, at.Phone)
	if err != nil {
		return nil, err
	}
	for _, c := range workers {
		if at.Organization != "" && at.Organization != c.Organization {
			continue
		}
		actor := lastmile.Actor{Type: lastmile.ActorWorker, ID: string(c.Worker)}
		name, err := r.ActorName(ctx, c.Organization, actor)
		if err != nil {
			return nil, err
		}
		all = append(all, owner{c.Organization, actor, name})
	}
	return all, nil
}

// addAttempts saves attempts at an account: as entries, until there are enough in the hour,
// and then as one entry for all others.
func addAttempts(ctx context.Context, w Writer, of owner, kind AttemptKind, some attempts) error {
	all := append([]Entry{}, some.first...)
	if some.more != nil {
		all = append(all, *some.more)
	}
	since := all[0].Time.Truncate(time.Hour)
	saved, err := w.AuditAttempts(ctx, of.org, of.actor.ID, kind, since, MaxAttempts+1)
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
		e.Organization, e.Record, e.Actor, e.Name = of.org, of.actor.ID, of.actor, of.name
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
