package api

import (
	"context"
	"encoding/json"
	"slices"

	"dray/internal/analytics"
	"dray/internal/fleet"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) workerRoutes() []route {
	filter := parameter{name: "filter", about: "comma-separated names of the fields to return"}
	return tagged("Workers",
		post("/workers", "Create a worker", wire.Worker{}, s.createWorker),
		get("/workers", "List workers", []wire.Worker{}, s.listWorkers, filter,
			parameter{name: "teams", about: "comma-separated team ids; workers in any of them"},
			parameter{name: "states", about: "comma-separated: 0 off duty, 1 idle, 2 active"},
			parameter{name: "phones", about: "comma-separated phone numbers"}),
		get("/workers/location", "List workers on duty near a place", wire.NearbyWorkers{}, s.nearbyWorkers,
			parameter{name: "longitude", about: "of the place", required: true, kind: "number"},
			parameter{name: "latitude", about: "of the place", required: true, kind: "number"},
			parameter{name: "radius", about: "in metres; 1000 unless given, at most 10000", kind: "number"}),
		get("/workers/{id}", "Read a worker", wire.WorkerDetails{}, s.showWorker, filter,
			parameter{name: "analytics", about: "true adds what the worker did", kind: "boolean"},
			parameter{name: "from", about: "Unix milliseconds; start of the analytics; at most 24 hours before to", kind: "number"},
			parameter{name: "to", about: "Unix milliseconds; end of the analytics; without from and to, the last seven days", kind: "number"}),
		put("/workers/{id}", "Update a worker", wire.Worker{}, s.updateWorker),
		remove("/workers/{id}", "Delete a worker", s.deleteWorker),
		get("/workers/{id}/schedule", "Read a worker's schedule", wire.Schedule{}, s.schedule),
		post("/workers/{id}/schedule", "Replace a worker's schedule", wire.Schedule{}, s.setSchedule),
		get("/workers/{id}/tasks", "List a worker's tasks", wire.TaskPage{}, s.workerTasks, assignedQuery...),
		post("/workers/metadata", "Find workers by metadata", []wire.Worker{}, s.findWorkers),
	)
}

func (s *Server) createWorker(ctx context.Context, c *call, body wire.WorkerBody) (any, error) {
	return s.Fleet.CreateWorker(ctx, c.who, fleet.WorkerDraft{WorkerDraft: body.Draft(), Routing: routing(body.WorkerUpdate)})
}

func routing(body wire.WorkerUpdate) *fleet.RoutingAddress {
	sent := body.Routing()
	if sent == nil {
		return nil
	}
	address := fleet.RoutingAddress{ID: sent.ID}
	if sent.Body != nil {
		draft := sent.Body.Draft()
		address.Draft = &draft
	}
	return &address
}

func (s *Server) listWorkers(ctx context.Context, c *call) (any, error) {
	q := fleet.WorkerQuery{Phones: c.list("phones")}
	for _, id := range c.list("teams") {
		q.Teams = append(q.Teams, lastmile.TeamID(id))
	}
	for _, state := range c.list("states") {
		known := map[string]lastmile.WorkerState{"0": lastmile.WorkerOffDuty, "1": lastmile.WorkerIdle, "2": lastmile.WorkerActive}
		value, ok := known[state]
		if !ok {
			return nil, lastmile.Invalid("states must be a list of 0 (off duty), 1 (idle) and 2 (active), not %q", clip(state))
		}
		q.States = append(q.States, value)
	}
	workers, err := s.Fleet.Workers(ctx, c.who, q)
	if fields := c.list("filter"); err == nil && len(fields) > 0 {
		return pick(workers, fields)
	}
	return workers, err
}

func (s *Server) nearbyWorkers(ctx context.Context, c *call) (any, error) {
	lon, err := c.needNumber("longitude")
	if err != nil {
		return nil, err
	}
	lat, err := c.needNumber("latitude")
	if err != nil {
		return nil, err
	}
	radius, _, err := c.number("radius")
	if err != nil {
		return nil, err
	}
	center, err := lastmile.NewPoint(lon, lat)
	if err != nil {
		return nil, err
	}
	found, err := s.Fleet.WorkersNear(ctx, c.who, center, lastmile.Meters(radius))
	return wire.NewNearbyWorkers(found, s.Now()), err
}

// needNumber is a numeric query parameter that must be there.
func (c *call) needNumber(name string) (float64, error) {
	n, sent, err := c.number(name)
	if err == nil && !sent {
		err = lastmile.Missing(name)
	}
	return n, err
}

func (s *Server) showWorker(ctx context.Context, c *call) (any, error) {
	in, err := s.analyticsWindow(c)
	if err != nil {
		return nil, err
	}
	details, err := s.Fleet.WorkerDetails(ctx, c.who, lastmile.WorkerID(c.id()), in)
	if fields := c.list("filter"); err == nil && len(fields) > 0 {
		return pick(details, append(fields, "analytics")) // there only when asked for
	}
	return details, err
}

// analyticsWindow is the window of the analytics that are asked for; nil when
// none are.
func (s *Server) analyticsWindow(c *call) (*lastmile.Window, error) {
	if !c.flag("analytics") {
		return nil, nil
	}
	from, err := c.time("from")
	if err != nil {
		return nil, err
	}
	to, err := c.time("to")
	if err != nil {
		return nil, err
	}
	window, err := analytics.NewWindow(from, to, s.Now())
	return &window, err
}

func (s *Server) updateWorker(ctx context.Context, c *call, body wire.WorkerUpdate) (any, error) {
	draft := fleet.WorkerDraft{WorkerDraft: lastmile.WorkerDraft{Change: body.Change()}, Routing: routing(body)}
	return s.Fleet.UpdateWorker(ctx, c.who, lastmile.WorkerID(c.id()), draft)
}

func (s *Server) deleteWorker(ctx context.Context, c *call) (any, error) {
	return nil, s.Fleet.DeleteWorker(ctx, c.who, lastmile.WorkerID(c.id()))
}

func (s *Server) schedule(ctx context.Context, c *call) (any, error) {
	return s.Fleet.Schedule(ctx, c.who, lastmile.WorkerID(c.id()))
}

func (s *Server) setSchedule(ctx context.Context, c *call, body wire.ScheduleBody) (any, error) {
	entries, err := body.Domain()
	if err != nil {
		return nil, err
	}
	return s.Fleet.SetSchedule(ctx, c.who, lastmile.WorkerID(c.id()), entries)
}

func (s *Server) findWorkers(ctx context.Context, c *call, entries metadataBody) (any, error) {
	metadata, err := searched(entries)
	if err != nil {
		return nil, err
	}
	return s.Fleet.Workers(ctx, c.who, fleet.WorkerQuery{Metadata: metadata})
}

// pick keeps the named fields of one record or of each in a list, and the id
// always.
func pick(records any, fields []string) (any, error) {
	encoded, err := wire.Encode(records)
	if err != nil {
		return nil, err
	}
	keep := func(record map[string]json.RawMessage) {
		for name := range record {
			if name != "id" && !slices.Contains(fields, name) {
				delete(record, name)
			}
		}
	}
	if encoded[0] == '{' {
		var one map[string]json.RawMessage
		err := json.Unmarshal(encoded, &one)
		keep(one)
		return one, err
	}
	var many []map[string]json.RawMessage
	err = json.Unmarshal(encoded, &many)
	for _, record := range many {
		keep(record)
	}
	return many, err
}
