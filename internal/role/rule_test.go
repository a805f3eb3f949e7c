package role

import (
	"errors"
	"strings"
	"testing"

	"dray/internal/lastmile"
)

// cause returns the cause of a denial; empty if there is none.
func cause(err error) any {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	if !ok {
		return ""
	}
	return rejected.Cause
}

func TestRulesByRole(t *testing.T) {
	super, standard := lastmile.Role{Type: lastmile.AdminSuper}, lastmile.Role{Type: lastmile.AdminStandard}
	superReader, reader := lastmile.Role{Type: lastmile.AdminSuper, ReadOnly: true}, lastmile.Role{Type: lastmile.AdminStandard, ReadOnly: true}
	for name, test := range map[string]struct {
		rule Rule
		want [4]string // causes for super, standard, read-only super and read-only standard administrators
	}{
		"view":                   {view, [4]string{"", "", "", ""}},
		"change":                 {change, [4]string{"", "", "readOnly", "readOnly"}},
		"inspect":                {inspect, [4]string{"", "superRequired", "", "superRequired"}},
		"a route without a rule": {Rule{}, [4]string{"", "superRequired", "readOnly", "readOnly"}},
	} {
		for i, role := range []lastmile.Role{super, standard, superReader, reader} {
			if got := cause(test.rule.Check(role)); got != test.want[i] {
				t.Errorf("%s, %+v: denied because of %q, want %q", name, role, got, test.want[i])
			}
		}
	}
}

func TestForeignNamesThePlaceAndTheRecord(t *testing.T) {
	for _, test := range []struct {
		place       Place
		cause, text string
	}{
		{Place{Task, "path", "id"}, "foreignTeam", "{id}: the task X belongs to a team"},
		{Place{ShortID, "path", "shortId"}, "foreignTeam", "{shortId}: the task X belongs"},
		{Place{Team, "body", "container.team"}, "foreignTeam", "container.team: you do not manage the team X"},
		{Place{Container, "query", "containers[]"}, "foreignTeam", "containers[]: the container of X"},
		{Place{Batch, "path", "jobId"}, "foreignTeam", "another caller"},
		{Place{AllOfWorker, "path", "id"}, "foreignTeam", "also in teams"},
		{Place{TeamsOfWorker, "body", "teams[]"}, "foreignTeam", "cannot add its workers"},
		{Place{ManagersOfTeam, "body", "managers[]"}, "superRequired", "who manages a team"},
	} {
		err := Foreign(Named{Place: test.place}, "X")
		if cause(err) != test.cause || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%v: %v because of %v", test.place, err, cause(err))
		}
	}
}

// TestTableIsConsistent checks that the places are well-formed and fit their routes, and that
// only routes for all administrators are filtered.
func TestTableIsConsistent(t *testing.T) {
	for route, rule := range Table {
		method, path, _ := strings.Cut(route, " ")
		if rule.Filtered && rule.Level != View {
			t.Errorf("%s is filtered, and not for all administrators", route)
		}
		for _, place := range rule.Places {
			if place.In != "path" && place.In != "query" && place.In != "body" || place.Field == "" || place.Kind == "" {
				t.Errorf("%s has the place %+v", route, place)
			}
			if place.In == "path" && !strings.Contains(path, "{"+place.Field+"}") {
				t.Errorf("%s has no %s", route, place)
			}
			if place.In == "body" && (method == "GET" || method == "DELETE") {
				t.Errorf("%s has no body for %s", route, place)
			}
		}
	}
}
