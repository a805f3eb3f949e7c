package app

import (
	"context"
	"slices"
	"time"

	"dray/internal/access"
	"dray/internal/account"
	"dray/internal/api"
	"dray/internal/audit"
	"dray/internal/auditapi"
	"dray/internal/edge"
	"dray/internal/role"
	"dray/internal/store/sqlstore"
)

// auditInterval is the interval at which entries of the audit log are saved.
const auditInterval = time.Second

func newAudit(a *App, newID func() string) *audit.Log {
	return &audit.Log{Store: sqlstore.With[audit.Reader, audit.Writer](a.Store, withParts), Now: a.Now, NewID: newID, Log: a.Log}
}

// recordIn returns a function that records requests in the audit log.
func recordIn(log *audit.Log) func(context.Context, edge.Served) {
	return func(ctx context.Context, s edge.Served) {
		log.Record(ctx, audit.Entry{
			Organization: s.Who.Organization, Time: s.Time, Actor: s.Who.Actor(), Method: s.Method, Route: s.Route, Record: s.Record,
			Status: s.Status, Request: s.Request, Address: s.Address,
		})
	}
}

// attemptsIn returns a function that records attempts at accounts of administrators in the
// audit log.
func attemptsIn(log *audit.Log) func(string, account.Attempted, edge.Served) {
	return func(email string, what account.Attempted, s edge.Served) {
		log.Attempt(audit.Account{Email: email}, attempt(what, s))
	}
}

// failuresIn returns a function that records failed attempts at accounts of workers in the
// audit log.
func failuresIn(log *audit.Log) func(*access.Failure, edge.Served) {
	return func(f *access.Failure, s edge.Served) {
		what := account.WrongPassword
		if f.TooMany {
			what = account.TooManyAttempts
		}
		log.Attempt(audit.Account{Phone: f.Phone, Organization: f.Organization}, attempt(what, s))
	}
}

func attempt(what account.Attempted, s edge.Served) audit.Entry {
	return audit.Entry{Time: s.Time, Method: s.Method, Route: s.Route, Status: s.Status, Attempt: audit.AttemptKind(what), Request: s.Request, Address: s.Address}
}

// withAuditLog adds the audit log and the history of tasks to the resources of the API.
func withAuditLog(more api.Resources, db *sqlstore.Store, log *audit.Log) api.Resources {
	server := &auditapi.Server{Log: log, History: &audit.Histories{Store: sqlstore.With[audit.HistoryReader, audit.HistoryReader](db, withParts), Log: log}}
	return api.Resources{Tags: slices.Concat(more.Tags, server.Tags()), Routes: slices.Concat(more.Routes, server.Routes())}
}

func newRoles(db *sqlstore.Store) *access.Roles {
	return &access.Roles{Rules: role.Table, Store: sqlstore.With[access.RoleReader, access.RoleReader](db, withParts)}
}
