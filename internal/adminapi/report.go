package adminapi

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/report"
)

// reports serves the endpoints of search, positions and analytics.
type reports struct{ *Server }

func (s reports) routes() []edge.Route {
	return slices.Concat(
		edge.Tagged("Reports",
			edge.Get("/search", "Search tasks, workers and recipients", s.search,
				edge.Parameter{Name: "q", Description: "beginning of a name, phone number, street or short ID, of 2 to 100 characters", Required: true, Example: "mary"}).
				Describe("Returns up to ten records of each kind. Upper and lower case do not matter. Phone numbers are found with and without the code of the organization's country."),
			edge.Get("/analytics", "Sum up the tasks of a period", s.analytics,
				edge.Parameter{Name: "from", Description: "start of the period, in Unix milliseconds. Default: seven days before to", Type: "number"},
				edge.Parameter{Name: "to", Description: "end of the period, in Unix milliseconds, at most 31 days after from. Default: now, or seven days after from", Type: "number"},
				edge.Parameter{Name: "by", Description: "groups: day (default), team or worker"}).
				Describe("Counts the tasks that were completed in the period. Days are those of the organization's time zone. A task counts for the current teams of its worker, for each if there are several."),
		),
		edge.Tagged("Workers",
			edge.Get("/workers/{id}/positions", "List the positions of a worker", s.positions,
				edge.Parameter{Name: "from", Description: "start of the period, in Unix milliseconds. Default: 24 hours before to", Type: "number"},
				edge.Parameter{Name: "to", Description: "end of the period, in Unix milliseconds, at most 31 days after from. Default: now, or 24 hours after from", Type: "number"},
				edge.Parameter{Name: "simplify", Description: "tolerance in meters: positions that close to the way between others are left out", Type: "number"}).
				Describe("Returns where the worker was, oldest first: 1,000 positions per page, or what remains of 5,000 with simplify. Positions are kept for 30 days."),
			edge.Get("/workers/{id}/stops", "List the stops of a worker", s.stops,
				edge.Parameter{Name: "from", Description: "start of the period, in Unix milliseconds. Default: 24 hours before to", Type: "number"},
				edge.Parameter{Name: "to", Description: "end of the period, in Unix milliseconds, at most 31 days after from. Default: now, or 24 hours after from", Type: "number"},
				edge.Parameter{Name: "lastId", Description: "lastId of the previous page: only tasks that the worker has, after that one; from and to do not matter"}).
				Describe("Returns the tasks that the worker completed in the period, in this order, with the estimated and the real times: at most 500 per page, next continues. If the period ends in the future, the tasks that the worker has follow on the last of these pages: the active one, then the others in order, at most another 500; lastId continues them."),
		),
	)
}

func (s reports) search(ctx context.Context, c *edge.Call) (SearchResult, error) {
	found, err := s.Reports.Search(ctx, c.Who, c.Query.Get("q"))
	return NewSearchResult(found), err
}

func period(c *edge.Call) (from, to time.Time, err error) {
	if from, err = c.Time("from"); err == nil {
		to, err = c.Time("to")
	}
	return from, to, err
}

func (s reports) analytics(ctx context.Context, c *edge.Call) (Analytics, error) {
	from, to, err := period(c)
	if err != nil {
		return Analytics{}, err
	}
	all, err := s.Reports.Analytics(ctx, c.Who, from, to, report.Grouping(cmp.Or(c.Query.Get("by"), string(report.ByDay))))
	return NewAnalytics(all), err
}

func (s reports) stops(ctx context.Context, c *edge.Call) (WorkerStops, error) {
	from, to, err := period(c)
	if err != nil {
		return WorkerStops{}, err
	}
	round, err := s.Reports.Stops(ctx, c.Who, lastmile.WorkerID(c.ID()), from, to, lastmile.TaskID(c.Query.Get("lastId")))
	return NewWorkerStops(round), err
}

func (s reports) positions(ctx context.Context, c *edge.Call) (WorkerPositions, error) {
	from, to, err := period(c)
	if err != nil {
		return WorkerPositions{}, err
	}
	tolerance, _, err := c.Number("simplify")
	if err != nil {
		return WorkerPositions{}, err
	}
	track, err := s.Reports.Positions(ctx, c.Who, lastmile.WorkerID(c.ID()), from, to, lastmile.Meters(tolerance))
	return NewWorkerPositions(track), err
}
