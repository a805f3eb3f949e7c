package api

import (
	"context"
	"net/http"
	"strings"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

// DriverBase is the path all of the worker's interface is under.
const DriverBase = "/driver/v1"

// DriverHandler returns the worker's interface, to be mounted at DriverBase.
func (s *Server) DriverHandler() http.Handler {
	gate := &gate{
		Server: s, base: DriverBase, authenticate: s.authenticateWorker,
		limiter: newLimiter(0, s.Now), routes: &router{},
	}
	routes := s.driverRoutes()
	for _, r := range append(routes, s.osmandRoutes()...) {
		gate.routes.add(r.method, r.path, gate.open(r))
	}
	gate.routes.add(http.MethodGet, "/openapi.json", serveDocument(s.document(driverFace, routes)))
	return gate
}

// authenticateWorker finds the worker whose token a request carries.
func (s *Server) authenticateWorker(ctx context.Context, r *http.Request) (lastmile.Principal, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return lastmile.Principal{}, lastmile.UnknownToken()
	}
	return s.Sessions.Authenticate(ctx, strings.TrimSpace(token))
}

func (s *Server) driverRoutes() []route {
	signIn := post("/login", "Sign in", wire.SignedIn{}, s.signIn)
	signIn.anybody = true
	routes := []route{
		signIn,
		invited(post("/password", "Set a password", nil, s.setPassword)),
		invited(get("/me", "Read who is signed in", wire.Worker{}, s.self)),
		put("/duty", "Go on or off duty", wire.Worker{}, s.setDuty),
		get("/tasks", "List what is to be done, in order", wire.WorkList{}, s.workList),
		get("/tasks/available", "List what the worker may claim", []wire.Task{}, s.availableTasks),
		{
			method: http.MethodGet, path: "/events", summary: "Follow the list as it changes",
			media: []string{"text/event-stream"}, stream: s.followList,
		},
		post("/tasks/{id}/claim", "Take a task of the team", wire.Task{}, s.action(s.Tasks.Claim)),
		post("/tasks/{id}/start", "Start a task", wire.Task{}, s.action(s.Tasks.Start)),
		post("/tasks/{id}/arrive", "Arrive at a task", wire.Task{}, s.action(s.Tasks.Arrive)),
		post("/tasks/{id}/depart", "Depart from a task", wire.Task{}, s.action(s.Tasks.Depart)),
		post("/tasks/{id}/complete", "Complete or fail a task", wire.Task{}, s.finishTask),
		{
			method: http.MethodPost, path: "/uploads", summary: "Send a signature or a photo", reply: wire.Uploaded{},
			takes: []string{"image/jpeg", "image/png", "image/webp", "image/gif"}, largest: lastmile.MaxUpload, serve: s.takeUpload,
		},
		s.openUpload("Read a signature or a photo that was sent"),
		post("/positions", "Report positions", wire.Believed{}, s.reportPositions),
	}
	return tagged("Workers' interface", append(routes, s.trackerRoutes()...)...)
}

// invited makes a route serve workers who have not set a password yet.
func invited(rt route) route {
	rt.invited = true
	return rt
}

func (s *Server) signIn(ctx context.Context, _ *call, body wire.SignInBody) (any, error) {
	switch {
	case body.Phone == "":
		return nil, lastmile.Missing("phone")
	case body.Password == "":
		return nil, lastmile.Missing("password")
	}
	begun, err := s.Sessions.SignIn(ctx, body.Phone, body.Password)
	if err != nil {
		return nil, err
	}
	worker, err := s.Fleet.Self(ctx, begun.Principal)
	return wire.SignedIn{Token: begun.Token, MustSetPassword: begun.MustSetPassword, Worker: wire.NewWorker(worker)}, err
}

func (s *Server) setPassword(ctx context.Context, c *call, body wire.PasswordBody) (any, error) {
	return nil, s.Sessions.SetPassword(ctx, c.who, body.Password)
}

func (s *Server) self(ctx context.Context, c *call) (any, error) {
	return s.Fleet.Self(ctx, c.who)
}

func (s *Server) setDuty(ctx context.Context, c *call, body wire.DutyBody) (any, error) {
	if body.OnDuty == nil {
		return nil, lastmile.Missing("onDuty")
	}
	var phone *lastmile.DeviceReport
	if body.UserData != nil {
		phone = new(body.UserData.Domain())
	}
	return s.Fleet.SetDuty(ctx, c.who, *body.OnDuty, phone)
}

func (s *Server) workList(ctx context.Context, c *call) (any, error) {
	list, err := s.Tasks.Work(ctx, c.who)
	return wire.NewWorkList(list.Version, list.ActiveTask, list.Tasks), err
}

func (s *Server) availableTasks(ctx context.Context, c *call) (any, error) {
	return s.Tasks.Available(ctx, c.who)
}

// action serves one of the verbs that need no more than an action.
func (s *Server) action(do func(context.Context, lastmile.Principal, lastmile.TaskID, lastmile.Action) (lastmile.Task, error)) func(context.Context, *call, wire.ActionBody) (any, error) {
	return func(ctx context.Context, c *call, body wire.ActionBody) (any, error) {
		return do(ctx, c.who, lastmile.TaskID(c.id()), body.Domain())
	}
}

func (s *Server) finishTask(ctx context.Context, c *call, body wire.FinishBody) (any, error) {
	outcome, evidence, err := body.Outcome(s.Tasks.NewID)
	if err != nil {
		return nil, err
	}
	return s.Tasks.Finish(ctx, c.who, lastmile.TaskID(c.id()), body.Domain(), outcome, evidence)
}

func (s *Server) reportPositions(ctx context.Context, c *call, body wire.PositionsBody) (any, error) {
	positions, err := body.Domain()
	if err != nil {
		return nil, err
	}
	accepted, err := s.Tracking.Report(ctx, c.who, positions)
	return wire.Believed{Accepted: accepted}, err
}
