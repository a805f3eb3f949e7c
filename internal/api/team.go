package api

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) teamRoutes() []route {
	return tagged("Teams",
		post("/teams", "Create a team", wire.Team{}, s.createTeam),
		get("/teams", "List teams", []wire.Team{}, s.listTeams),
		get("/teams/{id}", "Read a team", wire.Team{}, s.showTeam),
		put("/teams/{id}", "Update a team", wire.Team{}, s.updateTeam),
		remove("/teams/{id}", "Delete a team", s.deleteTeam),
		get("/teams/{id}/tasks", "List a team's tasks", wire.TaskPage{}, s.teamTasks, assignedQuery...),
		get("/teams/{id}/estimate", "Estimate when a team could do a pickup or a drop-off", wire.TeamEstimate{}, s.estimate, estimateQuery...),
		post("/teams/metadata", "Find teams by metadata", []wire.Team{}, s.findTeams),
	)
}

func (s *Server) createTeam(ctx context.Context, c *call, body wire.TeamBody) (any, error) {
	draft, err := body.Draft()
	if err != nil {
		return nil, err
	}
	return s.Fleet.CreateTeam(ctx, c.who, draft)
}

func (s *Server) listTeams(ctx context.Context, c *call) (any, error) {
	return s.Fleet.Teams(ctx, c.who, nil)
}

func (s *Server) showTeam(ctx context.Context, c *call) (any, error) {
	return s.Fleet.ShowTeam(ctx, c.who, lastmile.TeamID(c.id()))
}

func (s *Server) updateTeam(ctx context.Context, c *call, body wire.TeamBody) (any, error) {
	change, err := body.Change()
	if err != nil {
		return nil, err
	}
	return s.Fleet.UpdateTeam(ctx, c.who, lastmile.TeamID(c.id()), change)
}

func (s *Server) deleteTeam(ctx context.Context, c *call) (any, error) {
	return nil, s.Fleet.DeleteTeam(ctx, c.who, lastmile.TeamID(c.id()))
}

func (s *Server) findTeams(ctx context.Context, c *call, entries metadataBody) (any, error) {
	metadata, err := searched(entries)
	if err != nil {
		return nil, err
	}
	return s.Fleet.Teams(ctx, c.who, metadata)
}
