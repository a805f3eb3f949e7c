package boardapi

import (
	"context"

	"dray/internal/board"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/tracking"
	"dray/internal/webhook"
)

// Server serves boards and the event stream.
type Server struct {
	edge.Settings
	Boards *board.Boards
	Feed   *webhook.Feed
	Live   *board.Live
	Past   *board.Histories

	Tracking *tracking.Tracker
}

// Tags lists the resources in the order of the OpenAPI document.
func (s *Server) Tags() []edge.Tag {
	return []edge.Tag{{Name: "Board", Description: "What dispatchers see of a day, and how it is kept up to date."}}
}

// byTeams is the advice for a board that is too large.
const byTeams = "read the boards of some teams at a time, with the parameter teams, or give the server more memory"

// Routes returns the routes of all resources.
func (s *Server) Routes() []edge.Route {
	return append(eventStream{s}.routes(), edge.Tagged("Board",
		edge.Get("/board", "Read the board of a day", s.board,
			edge.Parameter{Name: "date", Description: "day as YYYY-MM-DD in the organization's time zone. Default: today", Example: "2030-01-07"},
			edge.Parameter{Name: "teams", Description: "comma-separated team IDs; only these teams, their workers, the tasks of both and unassigned tasks"},
			edge.Parameter{Name: "tasks", Description: "false to leave out the tasks of the day, when only teams, hubs and workers have changed", Type: "boolean"}).
			Describe("Returns the teams, hubs and workers of the organization and the tasks of the day, in a short form: tasks that are not completed and whose time window touches the day or that have none, and tasks completed on the day. The board of today also has tasks that are overdue. There are at most 20,000 tasks, those due first.\n\nGET /events?since=cursor&lists=1&positions=1 continues from the board: it sends each change that the board does not include. An event can repeat a change that the board includes: of two versions of a task, the one with the greater timeLastModified is newer, and of two versions of a list, the one with the greater version.").Divided(byTeams).Finds(),
		edge.Get("/board/history", "Read the board of the beginning of a day", s.history,
			edge.Parameter{Name: "date", Description: "day as YYYY-MM-DD in the organization's time zone, not later than today. Default: today", Example: "2026-01-07"},
			edge.Parameter{Name: "teams", Description: "comma-separated team IDs, as for GET /board"}).
			Describe("Returns the board as it was when a day began, rebuilt from the stored events. GET /events/log?since=cursor&until=lastEvent lists what happened on the day, and GET /board/positions where workers were: applied to the board in order, they show each moment of the day.\n\nEvents and positions are stored for 30 days by default. Names, teams, vehicles and schedules are not logged and are those of now. Of estimates and of the order of lists, only what events show is known. A task that was created without an event, as tasks of batches are, is unassigned until its first event.").Divided(byTeams).Finds(),
		edge.Get("/board/positions", "List the positions of all workers in an hour", s.pastPositions,
			edge.Parameter{Name: "from", Description: "start of the hour, in Unix milliseconds", Type: "number", Required: true, Example: "1767225600000"}).
			Describe("Returns where the workers were that the caller may see, oldest first. The positions of a worker are at least 20 seconds apart, and farther if there are more than 277 workers."),
		edge.Search("/workers/{id}/preview", "Preview the list of a worker", s.preview).
			Describe("Returns when each task would be reached and completed if the worker had these tasks in this order, behind the active task, and compares the totals with those of the list as it is. Tasks of other workers, teams and unassigned tasks can be among them. Nothing changes.").
			Example(`{"tasks": ["K2dF8gHj5LzX9cVb7NmQ4wRt"]}`).Finds(),
	)...)
}

func (s *Server) preview(ctx context.Context, c *edge.Call, body PreviewBody) (RoutePreview, error) {
	if body.Tasks == nil {
		return RoutePreview{}, lastmile.Missing("tasks")
	}
	made, err := s.Tracking.Preview(ctx, c.Who, lastmile.WorkerID(c.ID()), *body.Tasks)
	return NewRoutePreview(made), err
}

func (s *Server) history(ctx context.Context, c *edge.Call) (BoardHistory, error) {
	past, err := s.Past.Read(ctx, c.Who, query(c))
	return NewBoardHistory(past), err
}

func (s *Server) pastPositions(ctx context.Context, c *edge.Call) (BoardPositions, error) {
	from, err := c.Time("from")
	if err != nil {
		return BoardPositions{}, err
	}
	all, next, err := s.Past.Positions(ctx, c.Who, from)
	return NewBoardPositions(all, next), err
}

// query returns the query for the board that the caller requests.
func query(c *edge.Call) board.Query {
	q := board.Query{Date: c.Query.Get("date")}
	for _, id := range c.List("teams") {
		q.Teams = append(q.Teams, lastmile.TeamID(id))
	}
	return q
}

func (s *Server) board(ctx context.Context, c *edge.Call) (Board, error) {
	q := query(c)
	tasks := c.OptionalFlag("tasks")
	q.WithoutTasks = tasks != nil && !*tasks
	b, err := s.Boards.Read(ctx, c.Who, q)
	return NewBoard(b), err
}
