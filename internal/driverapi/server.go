package driverapi

import (
	"context"
	"net/http"
	"strings"

	"dray/internal/access"
	"dray/internal/edge"
	"dray/internal/fleet"
	"dray/internal/lastmile"
	"dray/internal/taskflow"
	"dray/internal/tracking"
	"dray/internal/upload"
	"dray/internal/wire"
)

// Base is the path that the whole API is under.
const Base = "/driver/v1"

// Server serves the API of workers' phones.
type Server struct {
	edge.Settings
	Sessions *access.Sessions
	Fleet    *fleet.Fleet
	Work     *taskflow.Work
	Tracking *tracking.Tracker
	Uploads  *upload.Uploads

	Version string // of the program, for the document
	// Revoked returns a channel that is closed when sessions end.
	Revoked func() <-chan struct{}
}

// Handler returns the API, to be mounted at Base, and its OpenAPI document.
func (s *Server) Handler() http.Handler {
	access := edge.Access{Authenticate: s.authenticate, Revoked: s.Revoked, SetPassword: Base + "/password"}
	mux := edge.NewMux(s.Settings, Base, access, append(s.routes(), s.osmandRoutes()...)...)
	mux.Handle(http.MethodGet, "/openapi.json", s.SpecHandler(s.Spec()))
	return mux
}

// authenticate finds the worker whose token a request carries.
func (s *Server) authenticate(ctx context.Context, r *http.Request) (lastmile.Principal, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return lastmile.Principal{}, lastmile.UnknownToken()
	}
	return s.Sessions.Authenticate(ctx, strings.TrimSpace(token))
}

// Spec describes the API.
func (s *Server) Spec() edge.API {
	return edge.Document(edge.API{
		Base: Base, Title: "Dray: the worker's interface", Version: "1", Program: s.Version,
		Description:  "The API of workers' phones. Responses and errors have the shapes of the API of organizations. An action that a phone sends twice is performed once: every action has an id that the phone makes.",
		Security:     edge.Security{Name: "session", Scheme: "bearer", Description: "The token that signing in returns. It expires after 30 days without use."},
		Tags:         []edge.Tag{{Name: tag, Description: "What a worker's phone does, from signing in to completing a task."}},
		Descriptions: wire.Descriptions(),
		Paths:        map[string]edge.PathParameter{"id": {Description: "Id of the record."}},
	}, s.routes())
}

// tag is the one group of the operations.
const tag = "Workers' interface"
