package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"dray/internal/access"
	"dray/internal/addressbook"
	"dray/internal/fleet"
	"dray/internal/lastmile"
	"dray/internal/taskflow"
	"dray/internal/tracking"
	"dray/internal/upload"
	"dray/internal/webhook"
)

// Base is the path all of the interface is under.
const Base = "/api/v2"

// Server serves the interface.
type Server struct {
	Keys          *access.Keys
	Sessions      *access.Sessions
	Organizations *access.Organizations
	Admins        *access.Admins
	Book          *addressbook.Book
	Fleet         *fleet.Fleet
	Tasks         *taskflow.Flow
	Tracking      *tracking.Tracker
	Webhooks      *webhook.Registry
	Feed          *webhook.Feed
	Uploads       *upload.Uploads
	SMS           SMS

	Now       func() time.Time
	RateLimit float64 // requests a second for each organization; 0 is no limit
	Version   string  // of the program, for the document
	Log       *slog.Logger

	// Address is where a request comes from, to limit how many do; empty when
	// nobody knows.
	Address func(*http.Request) string
	// Ended is closed when nobody may follow anything any more.
	Ended <-chan struct{}

	// Observe is told of every answer; route is the path's pattern.
	Observe func(route, method string, status int, took time.Duration)
}

// Handler returns the interface, to be mounted at Base, and its document.
func (s *Server) Handler() http.Handler {
	gate := &gate{
		Server: s, base: Base, authenticate: s.authenticateKey,
		limiter: newLimiter(s.RateLimit, s.Now), routes: &router{},
	}
	routes := s.routes()
	for _, r := range routes {
		gate.routes.add(r.method, r.path, gate.open(r))
	}
	gate.routes.add(http.MethodGet, "/openapi.json", serveDocument(s.document(clientFace, routes)))
	return gate
}

// authenticateKey finds the organization whose API key a request carries.
func (s *Server) authenticateKey(ctx context.Context, r *http.Request) (lastmile.Principal, error) {
	return s.Keys.Authenticate(ctx, basicKey(r.Header.Get("Authorization")))
}

// routes is the whole interface, resource by resource.
func (s *Server) routes() []route {
	var all []route
	for _, resource := range [][]route{
		s.organizationRoutes(),
		s.adminRoutes(),
		s.destinationRoutes(),
		s.recipientRoutes(),
		s.workerRoutes(),
		s.teamRoutes(),
		s.hubRoutes(),
		s.taskRoutes(),
		s.batchRoutes(),
		s.routePlanRoutes(),
		s.containerRoutes(),
		s.manifestRoutes(),
		s.customFieldRoutes(),
		s.templateRoutes(),
		s.webhookRoutes(),
		s.eventRoutes(),
		s.uploadRoutes(),
	} {
		all = append(all, resource...)
	}
	return all
}
