package boardapi

import (
	"context"

	"dray/internal/board"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/webhook"
)

// Server serves boards and the event stream.
type Server struct {
	edge.Settings
	Boards *board.Boards
	Feed   *webhook.Feed
	Live   *board.Live
}

// Tags lists the resources in the order of the OpenAPI document.
func (s *Server) Tags() []edge.Tag {
	return []edge.Tag{{Name: "Board", Description: "What dispatchers see of a day, and how it is kept up to date."}}
}

// Routes returns the routes of all resources.
func (s *Server) Routes() []edge.Route {
	return append(eventStream{s}.routes(), edge.Tagged("Board",
		edge.Get("/board", "Read the board of a day", s.board,
			edge.Parameter{Name: "date", Description: "day as YYYY-MM-DD in the organization's time zone. Default: today", Example: "2030-01-07"},
			edge.Parameter{Name: "teams", Description: "comma-separated team IDs; only these teams, their workers, the tasks of both and unassigned tasks"}).
			Describe("Returns the teams, hubs and workers of the organization and the tasks of the day, in a short form: tasks that are not completed and whose time window touches the day or that have none, and tasks completed on the day. The board of today also has tasks that are overdue. There are at most 20,000 tasks, those due first.\n\nGET /events?since=cursor&lists=1&positions=1 continues from the board: it sends each change that the board does not include. An event can repeat a change that the board includes: of two versions of a task, the one with the greater timeLastModified is newer, and of two versions of a list, the one with the greater version.").Finds(),
	)...)
}

func (s *Server) board(ctx context.Context, c *edge.Call) (Board, error) {
	q := board.Query{Date: c.Query.Get("date")}
	for _, id := range c.List("teams") {
		q.Teams = append(q.Teams, lastmile.TeamID(id))
	}
	b, err := s.Boards.Read(ctx, c.Who, q)
	return NewBoard(b), err
}
