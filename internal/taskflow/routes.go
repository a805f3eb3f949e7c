package taskflow

import (
	"context"
	"sync"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/travel"
)

// Routes finds ways along roads, for maps. Requests of an organization are served one at
// a time.
type Routes struct {
	Ways RouteWays

	turns rate.Turns
	mu    sync.Mutex
	shown map[string]shownRoute // by link
}

// RouteWays finds the way along stops without calling an external service.
type RouteWays interface {
	Route(ctx context.Context, by lastmile.VehicleType, stops []lastmile.Point) (travel.Route, error)
}

// Find returns the way along stops.
func (rs *Routes) Find(ctx context.Context, who lastmile.Principal, by lastmile.VehicleType, stops []lastmile.Point) (travel.Route, error) {
	if err := travel.CheckRouteStops(stops); err != nil {
		return travel.Route{}, err
	}
	end, err := rs.turns.Request(ctx, who.Organization)
	if err != nil {
		return travel.Route{}, err
	}
	defer end()
	return rs.Ways.Route(ctx, by, stops)
}

// maxShownRoutes is the maximum number of routes to recipients that a node keeps.
const maxShownRoutes = 2_000

// shownRoute is the way that the page of a task shows.
type shownRoute struct {
	from, to lastmile.Point
	by       lastmile.VehicleType
	route    travel.Route
}

// Shown returns the way of a worker to the recipient of a task, for the page that a link
// opens. It is found again when the worker's location has changed.
func (rs *Routes) Shown(ctx context.Context, link string, by lastmile.VehicleType, from, to lastmile.Point) (travel.Route, error) {
	end, err := rs.turns.Take(ctx, link) // followers of a task share the result
	if err != nil {
		return travel.Route{}, err
	}
	defer end()
	rs.mu.Lock()
	known, ok := rs.shown[link]
	rs.mu.Unlock()
	if ok && known.from == from && known.to == to && known.by == by {
		return known.route, nil
	}
	route, err := rs.Ways.Route(ctx, by, []lastmile.Point{from, to})
	if err != nil {
		return travel.Route{}, err
	}
	route.Thin(maxShownPoints)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.shown == nil || len(rs.shown) >= maxShownRoutes && !ok { // discarded routes are found again
		rs.shown = map[string]shownRoute{}
	}
	rs.shown[link] = shownRoute{from, to, by, route}
	return route, nil
}

// maxShownPoints is the maximum number of points of a route to a recipient.
const maxShownPoints = 1_000
