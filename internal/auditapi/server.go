package auditapi

import (
	"context"
	"slices"

	"dray/internal/audit"
	"dray/internal/edge"
	"dray/internal/lastmile"
)

// Server serves the audit log and the history of tasks.
type Server struct {
	Log     *audit.Log
	History *audit.Histories
}

// Tags lists the resources in the order of the OpenAPI document.
func (s *Server) Tags() []edge.Tag {
	return []edge.Tag{{Name: "Audit log", Description: "Who changed what: administrators and API keys, the route, the record and the time."}}
}

// Routes returns the routes of the resource.
func (s *Server) Routes() []edge.Route {
	history := edge.Tagged("Tasks", edge.Get("/tasks/{id}/history", "List what happened to a task, newest first", s.history,
		edge.Parameter{Name: "lastId", Description: "lastId of the previous page"}).
		Describe("Returns who did what to a task and when, up to 50 entries per page: its events, and requests that have no event, such as those for its pin. A change is listed once. Events are kept for 30 days; of what is older, only its requests are known, without what they changed. An organization that placed the task with another sees the events that it received."))
	return slices.Concat(history, edge.Tagged("Audit log", edge.Get("/audit", "List who changed what, newest first", s.list,
		edge.Parameter{Name: "from", Description: "Unix time in milliseconds; only requests at or after it", Type: "number"},
		edge.Parameter{Name: "to", Description: "Unix time in milliseconds; only requests before it", Type: "number"},
		edge.Parameter{Name: "actor", Description: "ID of an administrator, an API key or a worker"},
		edge.Parameter{Name: "route", Description: "route, such as /tasks/{id} or PUT /tasks/{id}"},
		edge.Parameter{Name: "record", Description: "ID of the record that the request named or created"},
		edge.Parameter{Name: "lastId", Description: "lastId of the previous page"}).
		Describe("Returns the requests of administrators and API keys that changed something or were denied, 64 per page. Routes of administrators' own accounts begin with /account/v1: signing in and out, passwords, second factors, sessions. What was sent is not recorded. Attempts at the account of an administrator or a worker are listed too: failures to sign in and requests for a new password, of each account and kind the first five of an hour and then one entry with a `count`. Entries are kept for 400 days, at most 500,000 per organization; those of other servers appear within about a second.")))
}

func (s *Server) list(ctx context.Context, c *edge.Call) (AuditPage, error) {
	q := audit.Query{Actor: c.Query.Get("actor"), Route: c.Query.Get("route"), Record: c.Query.Get("record"), After: c.Query.Get("lastId")}
	var err error
	if q.From, err = c.Time("from"); err != nil {
		return AuditPage{}, err
	}
	if q.To, err = c.Time("to"); err != nil {
		return AuditPage{}, err
	}
	entries, last, err := s.Log.List(ctx, c.Who, q)
	return NewAuditPage(entries, last), err
}

func (s *Server) history(ctx context.Context, c *edge.Call) (TaskHistory, error) {
	page, last, err := s.History.Read(ctx, c.Who, lastmile.TaskID(c.ID()), c.Query.Get("lastId"))
	return NewTaskHistory(page, last), err
}
