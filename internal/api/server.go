package api

import (
	"context"
	"net/http"

	"dray/internal/access"
	"dray/internal/addressbook"
	"dray/internal/dispatch"
	"dray/internal/edge"
	"dray/internal/fleet"
	"dray/internal/lastmile"
	"dray/internal/taskflow"
	"dray/internal/webhook"
	"dray/internal/wire"
)

// Base is the path that the whole API is under.
const Base = "/api/v2"

// Server serves the public API.
type Server struct {
	edge.Settings
	Keys          *access.Keys
	People        People
	Roles         *access.Roles
	Audit         func(context.Context, edge.Served)
	Organizations *access.Organizations
	Admins        *access.Admins
	Book          *addressbook.Book
	Fleet         *fleet.Fleet
	Tasks         *taskflow.Tasks
	Containers    *taskflow.Containers
	Batches       *taskflow.Batches
	RoutePlans    *taskflow.RoutePlans
	Routes        *taskflow.Routes
	Replanner     *dispatch.Replanner
	Dispatches    *dispatch.Dispatches
	Fields        *taskflow.Fields
	Webhooks      *webhook.Registry
	Uploads       Images
	Pages         *taskflow.Pages

	Vault edge.Vault // for replies that contain passwords
	More  Resources

	RateLimit float64 // requests a second for each organization; 0 for no limit
	Version   string  // of the program, for the OpenAPI spec
}

// People authenticates administrators by the cookie of their session.
type People interface {
	// HasSession reports whether a request carries the cookie of a session.
	HasSession(r *http.Request) bool
	// Authenticate returns the administrator whose session a request has.
	Authenticate(ctx context.Context, r *http.Request) (lastmile.Principal, error)
}

// Resources are resources of the API that another package serves.
type Resources struct {
	Tags   []edge.Tag
	Routes []edge.Route
}

// maxStreams is the maximum number of event streams of an organization on a node.
const maxStreams = 100

// Handler returns the API, to be mounted at Base, and its OpenAPI document.
func (s *Server) Handler() http.Handler {
	access := edge.Access{Authenticate: s.authenticate, Revoked: s.Keys.Revoked, Streams: maxStreams, RateLimit: s.RateLimit, Rules: s.Roles.Rules, Scope: s.Roles.Scope, Audit: s.Audit}
	mux := edge.NewMux(s.Settings, Base, access, s.routes()...)
	mux.Handle(http.MethodGet, "/openapi.json", s.SpecHandler(s.Spec))
	return mux
}

// authenticate finds the organization whose API key a request carries, or the
// administrator who is signed in. If a request has both, the key counts.
func (s *Server) authenticate(ctx context.Context, r *http.Request) (lastmile.Principal, error) {
	header := r.Header.Get("Authorization")
	if header == "" && s.People.HasSession(r) {
		return s.People.Authenticate(ctx, r)
	}
	return s.Keys.Authenticate(ctx, edge.BasicKey(header))
}

// routes returns all routes of the API, resource by resource.
func (s *Server) routes() []edge.Route {
	var all []edge.Route
	for _, resource := range [][]edge.Route{
		organizations{s}.routes(),
		admins{s}.routes(),
		destinations{s}.routes(),
		recipients{s}.routes(),
		workers{s}.routes(),
		teams{s}.routes(),
		hubs{s}.routes(),
		tasks{s}.routes(),
		batches{s}.routes(),
		routePlans{s}.routes(),
		dispatches{s}.routes(),
		containers{s}.routes(),
		manifests{s}.routes(),
		customFields{s}.routes(),
		customFields{s}.templateRoutes(),
		webhooks{s}.routes(),

		uploads{s}.routes(),
		s.More.Routes,
		addresses{s}.routes(),
	} {
		all = append(all, resource...)
	}
	return all
}

// criteria checks the entries of a search by metadata.
func criteria(entries wire.Metadata) (lastmile.Metadata, error) {
	if len(entries) == 0 {
		return nil, lastmile.Malformed("the request body must be an array of one or more metadata entries, each with name, type and value")
	}
	return lastmile.NewMetadata("metadata", entries.Domain())
}
