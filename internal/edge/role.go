package edge

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/role"
)

// name identifies the route in tables.
func (rt Route) name() string { return rt.Method + " " + rt.Path }

// checkRole denies an administrator a route that the role does not permit.
func (m *Mux) checkRole(c *Call, rt Route) error {
	if m.access.Scope == nil {
		return nil
	}
	return m.access.Rules[rt.name()].Check(c.Who.Role)
}

// checkScope denies an administrator who manages only some teams a request that names
// records of other teams. It runs before a receipt is looked up: a repeated request is
// checked as well.
func (m *Mux) checkScope(ctx context.Context, c *Call, rt Route) error {
	if c.Who.Manager() == "" || m.access.Scope == nil {
		return nil
	}
	named, err := namedBy(c, m.access.Rules[rt.name()])
	if err != nil || len(named) == 0 {
		return err
	}
	return m.access.Scope(ctx, c.Who, named)
}

// namedBy returns the records that a request names at the places of a rule.
func namedBy(c *Call, rule role.Rule) ([]role.Named, error) {
	var fields []string
	for _, at := range rule.Places {
		if at.In == "body" {
			field, _, _ := strings.Cut(at.Field, "?")
			fields = append(fields, field)
		}
	}
	var texts map[string][]string
	if len(fields) > 0 { // else the body may be an image
		var err error
		if texts, err = codec.Strings(c.Body, fields); err != nil {
			return nil, err
		}
	}
	var all []role.Named
	for _, at := range rule.Places {
		ids, there := idsAt(c, at, texts)
		if there {
			all = append(all, role.Named{Place: at, IDs: ids, Of: c.ID()})
		}
	}
	return all, nil
}

// idsAt returns the ids at a place, and reports whether the request has it.
func idsAt(c *Call, at role.Place, texts map[string][]string) (ids []string, there bool) {
	list, isList := strings.CutSuffix(at.Field, "[]")
	switch {
	case at.In == "path":
		ids = []string{c.Path(at.Field)}
	case at.In == "query" && isList:
		ids = c.List(list)
	case at.In == "query":
		ids = c.Query[at.Field]
	default:
		field, parameter, inAddress := strings.Cut(at.Field, "?")
		ids, there = texts[field]
		if inAddress {
			ids = parametersOf(ids, parameter)
		}
		return ids, there
	}
	return ids, len(ids) > 0
}

// parametersOf returns the values of a query parameter of URLs.
func parametersOf(addresses []string, name string) (values []string) {
	for _, text := range addresses {
		if address, err := url.Parse(text); err == nil { // else it is rejected later
			values = append(values, address.Query()[name]...)
		}
	}
	return values
}

// sameRole reports whether an administrator has the same rights as before.
func sameRole(a, b lastmile.Role) bool {
	return a.Type == b.Type && a.ReadOnly == b.ReadOnly && (a.Type == lastmile.AdminSuper || slices.Equal(a.Teams, b.Teams))
}
