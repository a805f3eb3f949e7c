package role

import (
	"strings"

	"dray/internal/lastmile"
)

// Level is the right that a route requires of an administrator.
type Level int

// The levels. The zero Level is the strictest, so that a route without a rule is denied
// to all but super administrators.
const (
	Manage  Level = iota // super administrators who are not read-only
	Inspect              // super administrators
	Change               // administrators who are not read-only
	View                 // all administrators
)

// Kind is the kind of record that an id in a request names.
type Kind string

// The kinds of ids whose records belong to teams.
const (
	Batch     Kind = "batch"     // a batch of tasks, which belongs to the administrator who sent it
	Container Kind = "container" // named by the id of its owner: an organization, a team or a worker
	Dispatch  Kind = "dispatch"
	Plan      Kind = "route plan"
	ShortID   Kind = "short id" // the short id of a task
	Task      Kind = "task"
	Team      Kind = "team"
	Upload    Kind = "upload"
	Worker    Kind = "worker"

	// AllOfWorker is a worker all of whose teams the administrator manages.
	AllOfWorker Kind = "all of worker"
	// TeamsOfWorker are the new teams of the worker in the path. Only teams that the
	// administrator manages may be added or removed.
	TeamsOfWorker Kind = "teams of worker"
	// ManagersOfTeam are the new managers of the team in the path. They must be the same as
	// before.
	ManagersOfTeam Kind = "managers of team"
)

// Place is a part of requests that names records.
type Place struct {
	Kind Kind
	// In is path, query or body.
	In string
	// Field is the name of the parameter, or the path of the field in the body, such
	// as tasks[].container.worker.
	Field string
}

// String returns the name of the place in error messages.
func (p Place) String() string {
	if p.In == "path" {
		return "{" + p.Field + "}"
	}
	return p.Field
}

// Rule defines what a route requires of an administrator.
type Rule struct {
	Level  Level
	Places []Place // parts of the request whose records must belong to the administrator's teams
	// Filtered means that the response contains only records that the administrator may see.
	Filtered bool
}

// at adds places that name records of a kind, such as path.id, query.worker or body.tasks[].
func (r Rule) at(kind Kind, places ...string) Rule {
	for _, place := range places {
		in, field, _ := strings.Cut(place, ".")
		r.Places = append(r.Places, Place{Kind: kind, In: in, Field: field})
	}
	return r
}

// filtered returns the rule with Filtered set.
func (r Rule) filtered() Rule {
	r.Filtered = true
	return r
}

// Check denies a route to administrators whose role does not have the level. It does not check
// the records that the request names.
func (r Rule) Check(role lastmile.Role) error {
	switch {
	case role.ReadOnly && (r.Level == Manage || r.Level == Change):
		return lastmile.Forbidden("administrators with read-only access cannot change anything").Because("readOnly")
	case role.Type != lastmile.AdminSuper && (r.Level == Manage || r.Level == Inspect):
		return lastmile.Forbidden("only super administrators can do this").Because("superRequired")
	}
	return nil
}

// Named holds the ids of the records that a request names at one place.
type Named struct {
	Place
	IDs []string
	Of  string // the id in the path, for TeamsOfWorker and ManagersOfTeam
}

// Foreign returns the error for a record of teams that the administrator does not manage. id is
// the id of the record.
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
