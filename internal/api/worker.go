package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/fleet"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// workers serves the endpoints of workers.
type workers struct{ *Server }

func (s workers) routes() []edge.Route {
	filter := edge.Parameter{Name: "filter", Description: "comma-separated names of the fields to return"}
	return edge.Tagged("Workers",
		edge.Create("/workers", "Create a worker", s.createWorker, wire.NewWorker).
			Describe("The worker is invited by text message. The phone number must be unique in the organization.").
			Example(`{
				"name": "Ada Lovelace",
				"phone": "+1 212 555 0187",
				"teams": ["T5mQ8rVx2LkD7wNz4HbC9pJs"],
				"vehicle": {
					"type": "CAR",
					"licensePlate": "7ABC123",
					"color": "white"
				},
				"capacity": 20
			}`),
		edge.Get("/workers", "List workers", s.listWorkers, filter,
			edge.Parameter{Name: "teams", Description: "comma-separated team IDs; only workers in any of these teams"},
			edge.Parameter{Name: "states", Description: "comma-separated states: 0 for off duty, 1 for idle, 2 for active"},
			edge.Parameter{Name: "phones", Description: "comma-separated phone numbers"}),
		edge.Get("/workers/location", "List workers on duty near a location", s.nearbyWorkers,
			edge.Parameter{Name: "longitude", Description: "longitude of the center, in degrees", Required: true, Type: "number", Example: "-73.9857"},
			edge.Parameter{Name: "latitude", Description: "latitude of the center, in degrees", Required: true, Type: "number", Example: "40.7484"},
			edge.Parameter{Name: "radius", Description: "radius in meters. Default: 1000; maximum: 10000", Type: "number"}).
			Describe("Returns the nearest workers first."),
		edge.Get("/workers/{id}", "Read a worker", s.showWorker, filter,
			edge.Parameter{Name: "analytics", Description: "true to include analytics", Type: "boolean"},
			edge.Parameter{Name: "from", Description: "start of the analytics, in Unix milliseconds; at most 24 hours before to", Type: "number"},
			edge.Parameter{Name: "to", Description: "end of the analytics, in Unix milliseconds. Default without from and to: the last seven days", Type: "number"}).Lists().
			Describe("With analytics=true, the response includes the activity of the worker in the last seven days or in a period of at most 24 hours."),
		edge.Put("/workers/{id}", "Update a worker", s.updateWorker).Lists().
			Describe("Only the fields that are sent change. The phone number cannot change; null removes a vehicle or an address.").
			Example(`{"displayName": "Ada", "vehicle": null, "capacity": 12}`),
		edge.Delete("/workers/{id}", "Delete a worker", s.deleteWorker),
		edge.PutBytes("/workers/{id}/image", "Set the photo of a worker", s.setImage, "image/jpeg", "image/png", "image/webp", "image/gif").Limit(lastmile.MaxLogo).
			Describe("Replaces the photo of the worker, which is re-encoded; `imageUrl` of the worker is its address. Reading it requires credentials, as for other uploads."),
		edge.Delete("/workers/{id}/image", "Remove the photo of a worker", s.removeImage),
		edge.Create("/workers/{id}/invite", "Invite a worker again", s.inviteWorker, wire.NewWorker).
			Describe("Sends a new temporary password by text message, for example if the worker has lost the first one or forgotten the password. The previous password becomes invalid, and the worker is signed out.").
			Example(`{}`),
		edge.Create("/workers/{id}/invitation", "Show a worker's invitation", s.showInvitation, newInvitation).Sealed(s.Vault).
			Describe("An extension. Returns a new temporary password instead of sending it, for example to show it as a QR code to a worker who stands by. The previous password becomes invalid, and the worker is signed out.").
			Example(`{}`),
		edge.Delete("/workers/{id}/sessions", "Sign a worker out everywhere", s.signOutWorker).
			Describe("Ends all sessions of the worker, for example after a phone was lost, and the token of a tracker app. The password stays valid."),
		edge.Get("/workers/{id}/schedule", "Read a worker's schedule", s.schedule),
		edge.Create("/workers/{id}/schedule", "Replace a worker's schedule", s.setSchedule, wire.NewSchedule).
			Describe("The entries replace the whole schedule. Days in the past are dropped.").
			Example(`{
				"entries": [
					{
						"date": "2030-01-07",
						"timezone": "America/New_York",
						"shifts": [
							[1894021200000, 1894050000000]
						]
					}
				]
			}`),
		edge.Get("/workers/{id}/tasks", "List a worker's tasks", assignments(s).workerTasks, assignedQuery...).
			Describe("Returns tasks assigned to the worker, in the order of creation, 64 per page. Completed tasks are not included."),
		edge.Search("/workers/metadata", "Find workers by metadata", s.findWorkers).
			Describe("Finds records that have all the entries, by name, type and value.").
			Example(`[{"name": "nickname", "type": "string", "value": "Ada"}]`),
	)
}

func (s workers) createWorker(ctx context.Context, c *edge.Call, body wire.WorkerBody) (lastmile.Worker, error) {
	return s.Fleet.CreateWorker(ctx, c.Who, fleet.WorkerDraft{WorkerDraft: body.Draft(), Routing: routing(body.WorkerUpdate)})
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

func (s workers) listWorkers(ctx context.Context, c *edge.Call) (wire.Raw[[]wire.Worker], error) {
	q := fleet.WorkerQuery{Phones: c.Phones("phones")}
	for _, id := range c.List("teams") {
		q.Teams = append(q.Teams, lastmile.TeamID(id))
	}
	for _, state := range c.NumberList("states") {
		known := map[string]lastmile.WorkerState{"0": lastmile.WorkerOffDuty, "1": lastmile.WorkerIdle, "2": lastmile.WorkerActive}
		value, ok := known[state]
		if !ok {
			return nil, lastmile.Invalid("states must be a list of 0 (off duty), 1 (idle) and 2 (active), not %q", edge.Clip(state))
		}
		q.States = append(q.States, value)
	}
	workers, err := s.Fleet.Workers(ctx, c.Who, q)
	if err != nil {
		return nil, err
	}
	return wire.MarshalFields(wire.Each(workers, wire.NewWorker), c.List("filter"))
}

func (s workers) nearbyWorkers(ctx context.Context, c *edge.Call) (wire.NearbyWorkers, error) {
	lon, err := c.RequiredNumber("longitude")
	if err != nil {
		return wire.NearbyWorkers{}, err
	}
	lat, err := c.RequiredNumber("latitude")
	if err != nil {
		return wire.NearbyWorkers{}, err
	}
	radius, _, err := c.Number("radius")
	if err != nil {
		return wire.NearbyWorkers{}, err
	}
	center, err := lastmile.NewPoint(lon, lat)
	if err != nil {
		return wire.NearbyWorkers{}, err
	}
	found, err := s.Fleet.WorkersNear(ctx, c.Who, center, lastmile.Meters(radius))
	return wire.NewNearbyWorkers(found, s.Now()), err
}

func (s workers) showWorker(ctx context.Context, c *edge.Call) (wire.Raw[wire.WorkerDetails], error) {
	in, err := s.analyticsWindow(c)
	if err != nil {
		return nil, err
	}
	details, err := s.Fleet.WorkerDetails(ctx, c.Who, lastmile.WorkerID(c.ID()), in)
	if err != nil {
		return nil, err
	}
	fields := c.List("filter")
	if len(fields) > 0 {
		fields = append(fields, "analytics") // present only if they were requested
	}
	return wire.MarshalFields(wire.NewWorkerDetails(details), fields)
}

// analyticsWindow returns the window of the analytics that were requested; nil if none
// were.
func (s workers) analyticsWindow(c *edge.Call) (*lastmile.Window, error) {
	if !c.Flag("analytics") {
		return nil, nil
	}
	from, err := c.Time("from")
	if err != nil {
		return nil, err
	}
	to, err := c.Time("to")
	if err != nil {
		return nil, err
	}
	window, err := wire.AnalyticsWindow(from, to, s.Now())
	return &window, err
}

func (s workers) updateWorker(ctx context.Context, c *edge.Call, body wire.WorkerUpdate) (wire.Worker, error) {
	draft := fleet.WorkerDraft{WorkerDraft: lastmile.WorkerDraft{Change: body.Change()}, Routing: routing(body)}
	worker, err := s.Fleet.UpdateWorker(ctx, c.Who, lastmile.WorkerID(c.ID()), draft)
	return wire.NewWorker(worker), err
}

func (s workers) deleteWorker(ctx context.Context, c *edge.Call) error {
	return s.Fleet.DeleteWorker(ctx, c.Who, lastmile.WorkerID(c.ID()))
}

func (s workers) inviteWorker(ctx context.Context, c *edge.Call, _ wire.NoBody) (lastmile.Worker, error) {
	return s.Fleet.Invite(ctx, c.Who, lastmile.WorkerID(c.ID()))
}

func (s workers) showInvitation(ctx context.Context, c *edge.Call, _ wire.NoBody) (fleet.Invitation, error) {
	return s.Fleet.ShowInvitation(ctx, c.Who, lastmile.WorkerID(c.ID()))
}

func newInvitation(i fleet.Invitation) wire.WorkerInvitation {
	return wire.WorkerInvitation{Link: i.Link, Phone: i.Phone, Password: i.Password, TimeExpires: wire.Millis(i.Expires)}
}

func (s workers) signOutWorker(ctx context.Context, c *edge.Call) error {
	return s.Fleet.SignOut(ctx, c.Who, lastmile.WorkerID(c.ID()))
}

func (s workers) schedule(ctx context.Context, c *edge.Call) (wire.Schedule, error) {
	schedule, err := s.Fleet.Schedule(ctx, c.Who, lastmile.WorkerID(c.ID()))
	return wire.NewSchedule(schedule), err
}

func (s workers) setSchedule(ctx context.Context, c *edge.Call, body wire.ScheduleBody) (lastmile.Schedule, error) {
	entries, err := body.Domain()
	if err != nil {
		return nil, err
	}
	return s.Fleet.SetSchedule(ctx, c.Who, lastmile.WorkerID(c.ID()), entries)
}

func (s workers) findWorkers(ctx context.Context, c *edge.Call, entries wire.Metadata) ([]wire.Worker, error) {
	metadata, err := criteria(entries)
	if err != nil {
		return nil, err
	}
	workers, err := s.Fleet.Workers(ctx, c.Who, fleet.WorkerQuery{Metadata: metadata})
	return wire.Each(workers, wire.NewWorker), err
}

func (s workers) setImage(ctx context.Context, c *edge.Call) (wire.Uploaded, error) {
	worker := lastmile.WorkerID(c.ID())
	if err := s.Fleet.CheckWorker(ctx, c.Who, worker); err != nil { // before the image is processed
		return wire.Uploaded{}, err
	}
	photo, err := s.Uploads.AcceptPhoto(ctx, c.Who, worker, c.Body)
	if err != nil {
		return wire.Uploaded{}, err
	}
	return wire.Uploaded{UploadID: photo.ID}, s.Fleet.SetImage(ctx, c.Who, worker, photo)
}

func (s workers) removeImage(ctx context.Context, c *edge.Call) error {
	return s.Fleet.RemoveImage(ctx, c.Who, lastmile.WorkerID(c.ID()))
}
