package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// teams serves the endpoints of teams.
type teams struct{ *Server }

func (s teams) routes() []edge.Route {
	return edge.Tagged("Teams",
		edge.Create("/teams", "Create a team", s.createTeam, wire.NewCreatedTeam).
			Describe("A team can be empty: send empty arrays.").
			Example(`{"name": "Downtown", "workers": [], "managers": []}`),
		edge.Get("/teams", "List teams", s.listTeams),
		edge.Get("/teams/{id}", "Read a team", s.showTeam).Lists(),
		edge.Put("/teams/{id}", "Update a team", s.updateTeam).Lists().
			Describe("Only the fields that are sent change. Arrays replace the previous ones.").
			Example(`{"name": "Downtown", "enableSelfAssignment": true}`),
		edge.Delete("/teams/{id}", "Delete a team", s.deleteTeam),
		edge.Get("/teams/{id}/tasks", "List a team's tasks", assignments(s).teamTasks, assignedQuery...).
			Describe("Returns tasks assigned to the team but not to a worker, in the order of creation, 64 per page."),
		edge.Get("/teams/{id}/estimate", "Estimate when a team could do a pickup or a drop-off", estimates(s).estimate, estimateQuery...).
			Describe("Finds the worker of the team who would finish first, with the stops at the best position among the tasks already assigned to that worker. The team needs a hub and a worker on duty; otherwise the error is 1402."),
		edge.Search("/teams/metadata", "Find teams by metadata", s.findTeams).
			Describe("Finds records that have all the entries, by name, type and value.").
			Example(`[{"name": "zone", "type": "number", "value": 4}]`),
	)
}

func (s teams) createTeam(ctx context.Context, c *edge.Call, body wire.NewTeamBody) (made lastmile.CreatedRecord[lastmile.Team], err error) {
	draft, err := body.Draft()
	if err != nil {
		return made, err
	}
	return s.Fleet.CreateTeam(ctx, c.Who, draft)
}

func (s teams) listTeams(ctx context.Context, c *edge.Call) ([]wire.Team, error) {
	teams, err := s.Fleet.Teams(ctx, c.Who, nil)
	return wire.Each(teams, wire.NewTeam), err
}

func (s teams) showTeam(ctx context.Context, c *edge.Call) (wire.Raw[wire.Team], error) {
	return s.Fleet.ShowTeam(ctx, c.Who, lastmile.TeamID(c.ID()))
}

func (s teams) updateTeam(ctx context.Context, c *edge.Call, body wire.TeamBody) (wire.Team, error) {
	change, err := body.Change()
	if err != nil {
		return wire.Team{}, err
	}
	team, err := s.Fleet.UpdateTeam(ctx, c.Who, lastmile.TeamID(c.ID()), change)
	return wire.NewTeam(team), err
}

func (s teams) deleteTeam(ctx context.Context, c *edge.Call) error {
	return s.Fleet.DeleteTeam(ctx, c.Who, lastmile.TeamID(c.ID()))
}

func (s teams) findTeams(ctx context.Context, c *edge.Call, entries wire.Metadata) ([]wire.Team, error) {
	metadata, err := criteria(entries)
	if err != nil {
		return nil, err
	}
	teams, err := s.Fleet.Teams(ctx, c.Who, metadata)
	return wire.Each(teams, wire.NewTeam), err
}
