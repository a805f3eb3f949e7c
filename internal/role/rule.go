package role

import (
	"strings"

	"dray/internal/lastmile"
)

// Level is what a route requires of an administrator.
type Level int

// The levels. The zero Level is the strictest, so that a route without a rule is denied
// to all but super administrators.
const (
	Manage  Level = iota // super administrators who are not read-only
	Inspect              // super administrators
	Change               // administrators who are not read-only
	View                 // all administrators
)

// Kind says what an id in a request names.
type Kind string

// The kinds of ids whose records belong to teams.
const (
	Batch     Kind = "batch"     // of tasks; it belongs to the administrator who sent it
	Container Kind = "container" // named by its owner: an organization, a team or a worker
	Dispatch  Kind = "dispatch"
	Plan      Kind = "route plan"
	ShortID   Kind = "short id" // of a task
	Task      Kind = "task"
	Team      Kind = "team"
	Upload    Kind = "upload"
	Worker    Kind = "worker"

	// AllOfWorker is a worker none of whose teams another administrator manages alone.
	AllOfWorker Kind = "all of worker"
	// TeamsOfWorker is the teams that the worker in the path is to have. Only
	// memberships in own teams may begin and end.
	TeamsOfWorker Kind = "teams of worker"
	// ManagersOfTeam is the managers that the team in the path is to have. They may
	// not change.
	ManagersOfTeam Kind = "managers of team"
)

// Place is where a request names records.
type Place struct {
	Kind Kind
	// In is path, query or body.
	In string
	// Field is the name of the parameter, or the path of the field in the body, such
	// as tasks[].container.worker.
	Field string
}

// String returns the place as messages name it.
func (p Place) String() string {
	if p.In == "path" {
		return "{" + p.Field + "}"
	}
	return p.Field
}

// Rule is what a route requires.
type Rule struct {
	Level  Level
	Places []Place
	// Filtered says that the response is a list of what the administrator may see.
	Filtered bool
}

// at adds places that name records of a kind: path.id, query.worker, body.tasks[].
func (r Rule) at(kind Kind, places ...string) Rule {
	for _, place := range places {
		in, field, _ := strings.Cut(place, ".")
		r.Places = append(r.Places, Place{Kind: kind, In: in, Field: field})
	}
	return r
}

// filtered returns the rule of a list.
func (r Rule) filtered() Rule {
	r.Filtered = true
	return r
}

// Check denies an administrator a route, whatever the request names.
func (r Rule) Check(role lastmile.Role) error {
	switch {
	case role.ReadOnly && (r.Level == Manage || r.Level == Change):
		return lastmile.Forbidden("administrators with read-only access cannot change anything").Because("readOnly")
	case role.Type != lastmile.AdminSuper && (r.Level == Manage || r.Level == Inspect):
		return lastmile.Forbidden("only super administrators can do this").Because("superRequired")
	}
	return nil
}

// Named is the records that a request names at one place.
type Named struct {
	Place
	IDs []string
	Of  string // the id in the path, for what is about the record there
}

// Foreign returns the error for a record of teams that the administrator does not
// manage.
func Foreign(at Named, id string) error {
	switch at.Kind { //nolint:exhaustive // the others are below
	case ManagersOfTeam:
		return lastmile.Forbidden("%s: only super administrators can change who manages a team", at.Place).Because("superRequired")
	case TeamsOfWorker:
		return lastmile.Forbidden("%s: you do not manage the team %s, so you cannot add its workers or remove them", at.Place, id).Because("foreignTeam")
	case AllOfWorker:
		return lastmile.Forbidden("%s: the worker %s is also in teams that you do not manage", at.Place, id).Because("foreignTeam")
	case Batch:
		return lastmile.Forbidden("%s: another caller sent the batch %s", at.Place, id).Because("foreignTeam")
	}
	kind := at.Kind
	switch kind { //nolint:exhaustive // the others have names that fit
	case Team:
		return lastmile.Forbidden("%s: you do not manage the team %s", at.Place, id).Because("foreignTeam")
	case Container:
		return lastmile.Forbidden("%s: the container of %s belongs to a team that you do not manage", at.Place, id).Because("foreignTeam")
	case ShortID:
		kind = Task
	}
	return lastmile.Forbidden("%s: the %s %s belongs to a team that you do not manage", at.Place, kind, id).Because("foreignTeam")
}
