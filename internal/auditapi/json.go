package auditapi

import (
	"dray/internal/audit"
	"dray/internal/wire"
)

// AuditPage is a page of the audit log.
type AuditPage struct {
	// Entries, the newest first.
	Entries []AuditEntry `json:"entries"`
	// ID to request the next page with. Absent on the last page.
	LastID string `json:"lastId,omitzero"`
}

// AuditEntry is one request that changed something, or was denied, or an attempt at an account.
type AuditEntry struct {
	// ID of the entry.
	ID string `json:"id" example:"A6vK2nXw5LdB9qTz3HcF8mJs"`
	// Unix time in milliseconds at which the request was served.
	Time wire.Millis `json:"time" example:"1767225600000"`
	// Administrator or API key that sent the request; of an attempt, the administrator or worker with the account.
	Actor AuditActor `json:"actor"`
	// HTTP method.
	Method string `json:"method" example:"PUT"`
	// Route: the path with names of parameters in place of their values.
	Route string `json:"route" example:"/tasks/{id}"`
	// ID of the record that the path names or that was created; null if there is none.
	Record *string `json:"record" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// HTTP status of the response: 401 and 403 if the request was denied, 500 if it failed and may have changed something.
	Status int `json:"status" example:"200"`
	// Attempt at the account of the actor, by a caller who may be a stranger: a password or a code of the second factor that was wrong, one that was not verified because there were too many, or a request for a link for a new password. Null for other requests.
	Attempt *audit.AttemptKind `json:"attempt" example:"null"`
	// Number of requests that the entry stands for: 1, or more for the attempts of an hour after the first five of the same kind. Then the time and the request are those of the last.
	Count int `json:"count" example:"1"`
	// ID of the request, which the response had in X-Request-Id.
	Request string `json:"request" example:"0b54f7a6-46c9-4d6f-9d47-1f0f2d3c9a11"`
	// Address that the request came from; null if it is unknown, or if attempts came from several.
	Address *string `json:"address" example:"203.0.113.7"`
}

// AuditActor is who sent a request.
type AuditActor struct {
	// admin for an administrator, key for an API key, worker for a worker whose account was tried.
	Type string `json:"type" enum:"admin,key,worker" example:"admin"`
	// ID of the administrator, the API key or the worker.
	ID string `json:"id" example:"M9cV3bNx7ZsL5kJh2GfD8qWr"`
	// Name that the administrator, the API key or the worker had at the time; null if it was deleted within a second.
	Name *string `json:"name" example:"Grace Hopper"`
}

// NewAuditPage returns a page in its wire form.
func NewAuditPage(entries []audit.Entry, last string) AuditPage {
	return AuditPage{Entries: wire.OrEmpty(wire.Each(entries, newAuditEntry)), LastID: last}
}

func newAuditEntry(e audit.Entry) AuditEntry {
	return AuditEntry{
		ID: e.ID, Time: wire.Millis(e.Time), Actor: AuditActor{Type: e.ActorType(), ID: e.Actor.ID, Name: wire.OrNull(e.Name)},
		Method: e.Method, Route: e.Route, Record: wire.OrNull(e.Record), Status: e.Status, Attempt: wire.OrNull(e.Attempt), Count: e.Count, Request: e.Request, Address: wire.OrNull(e.Address),
	}
}
