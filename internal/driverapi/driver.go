package driverapi

import (
	"context"
	"errors"
	"net/http"

	"dray/internal/access"
	"dray/internal/codec"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// maxSignInBody is the size of the largest body with a password, in bytes.
const maxSignInBody = 4 << 10

func (s *Server) routes() []edge.Route {
	routes := []edge.Route{
		edge.Post("/login", "Sign in", s.signIn).Public().Limit(maxSignInBody).
			Describe("The password is the temporary one of the invitation or the one that was set. A phone number that is registered in several organizations signs in to the first one whose password matches. Failed attempts are limited for each phone number and network: after five, the response is 429 with the time to wait.").
			Example(`{"phone": "+12125550142", "password": "correct horse"}`),
		edge.Do("/password", "Set a password", s.setPassword).AllowTemporaryPassword().Limit(maxSignInBody).
			Describe("Accepts the invitation. Until then, all other requests except GET /me and signing out are denied with error 1300. Other sessions of the worker end.").
			Example(`{"password": "battery staple", "oldPassword": "correct horse"}`),
		edge.SendOnly("/logout", "Sign out", s.signOut).AllowTemporaryPassword().Limit(maxSignInBody).
			Describe("The token becomes invalid."),
		edge.Delete("/sessions", "Sign out everywhere", s.signOutEverywhere).AllowTemporaryPassword().
			Describe("Ends all sessions of the worker, including this one, and revokes the token of a tracker app."),
		edge.Get("/me", "Read the current worker", s.self).AllowTemporaryPassword(),
		edge.Get("/settings", "Read the settings of the app", s.settings).
			Describe("What the app shows about the organization and the program."),
		edge.Put("/duty", "Go on or off duty", s.setDuty).
			Describe("Going off duty does not change an active task.").
			Example(`{"onDuty": true}`),
		edge.Get("/tasks", "List the tasks of the worker, in order", s.workList).
			Describe("Returns the active task first, then the others in order. A task with a delayTime is expected to be late, one with an earlyTime to be reached before its time window opens: warn the worker before it is started."),
		edge.Get("/tasks/available", "List the tasks that the worker can claim", s.availableTasks),
		edge.Get("/tasks/completed", "List the tasks that the worker completed today", s.completedTasks).
			Describe("Returns the tasks completed since midnight in the time zone of the organization, the latest first."),
		edge.Follow("/events", "Follow changes of the task list", s.followList, "text/event-stream").
			Describe("A stream of server-sent events named list, each with the version, the activeTask, the id and timeLastModified of each task, whether it is delayed, and a text, available, that changes with the tasks that the worker can claim. An event is sent whenever any of these change. After a reconnect with the ID of the last event in the Last-Event-ID header, an event is sent immediately only if the client missed a change.").
			Resumes("ID of the last event received", "id: 9c1185a5c5e9fc5461280897\nevent: list\ndata: {\"version\":12,\"activeTask\":null,\"tasks\":[{\"id\":\"K2dF8gHj5LzX9cVb7NmQ4wRt\",\"timeLastModified\":1767225600000,\"delayed\":false}],\"available\":\"4f53cda18c2baa0c0354bb5f\"}\n\n: still here\n"),
		edge.Post("/tasks/{id}/claim", "Claim a task of the team", act(s.Work.Claim).serve).
			Describe("The team must have enableSelfAssignment.").
			Example(`{"actionId": "0b9c8f0e-claim"}`),
		edge.Post("/tasks/{id}/start", "Start a task", act(s.Work.Start).serve).
			Describe("Rejected if the worker is off duty, if another task is active, or if tasks that this one depends on are not completed; the cause lists those tasks.").
			Example(`{"actionId": "0b9c8f0e-start", "location": [-73.9857, 40.7484]}`),
		edge.Post("/tasks/{id}/arrive", "Arrive at a task", act(s.Work.Arrive).serve).
			Describe("The task must be active.").
			Example(`{"actionId": "0b9c8f0e-arrive", "location": [-73.9857, 40.7484]}`),
		edge.Post("/tasks/{id}/depart", "Depart from a task", act(s.Work.Depart).serve).
			Describe("The task must be active.").
			Example(`{"actionId": "0b9c8f0e-depart", "location": [-73.9857, 40.7484]}`),
		edge.Post("/tasks/{id}/complete", "Complete or fail a task", s.finishTask).
			Describe("A successful completion must meet the requirements of the task; the cause of an error lists what is missing. Uploads must belong to the worker and not to another task.").
			Example(`{
				"actionId": "0b9c8f0e-complete",
				"success": true,
				"notes": "left with the neighbour",
				"signatureUploadId": "U7jK3lZx9CvB5nMq2WsD8fRt",
				"photoUploadIds": ["V2dF8gHj5LzX9cVb7NmQ4wRt"]
			}`),
		edge.Send("/uploads", "Upload a signature or a photo", s.takeUpload, "image/jpeg", "image/png", "image/webp", "image/gif").Limit(lastmile.MaxUpload).
			Describe("The body is the image: JPEG, PNG, WebP or GIF, regardless of the Content-Type, with at most 10 MB and 40 million pixels. Sending the same image again returns the same upload until a task is completed with it."),
		edge.Follow("/uploads/{id}", "Read an uploaded signature or photo", s.showUpload, edge.ImageTypes...).
			Describe("Returns the image as JPEG or PNG. Only uploads of the worker are accessible."),
		edge.Get("/geocode", "Complete an address, or find the address at a location", s.geocode, edge.AddressParameters...).
			Describe("With q, returns addresses that begin with the text, the best first; with location, the addresses there, the nearest first. Houses and streets are found where a map is imported, cities everywhere."),
		edge.Get("/route", "Find the way along stops", s.route,
			edge.Parameter{Name: "stops", Description: "2 to 50 locations of the form longitude,latitude, separated by semicolons", Example: "-73.9857,40.7484;-73.9772,40.7527", Required: true}).Semicolons().
			Describe("Returns the fastest way of the worker's vehicle along the roads of imported maps, in the order of the stops, with its geometry. Between stops that no map covers, it is a straight line with an estimate by formula."),
		edge.Post("/positions", "Report positions", s.reportPositions).
			Describe("Implausible positions are ignored.").
			Example(`{
				"positions": [
					{
						"location": [-73.9857, 40.7484],
						"time": 1767229200000,
						"accuracy": 8,
						"speed": 4.2,
						"heading": 90,
						"battery": 0.8
					}
				]
			}`),
	}
	return edge.Tagged(tag, append(routes, s.trackerRoutes()...)...)
}

func (s *Server) signIn(ctx context.Context, c *edge.Call, body SignInBody) (SignedIn, error) {
	begun, err := s.Sessions.SignIn(ctx, access.SignInAttempt{
		Phone: body.Phone, Password: body.Password, Device: body.Device, Network: s.Address(c.HTTP),
	})
	if err != nil {
		return SignedIn{}, s.failed(c, err)
	}
	worker, err := s.Fleet.Self(ctx, begun.Principal)
	return SignedIn{
		Token: begun.Token, Device: begun.Device, MustSetPassword: begun.MustSetPassword, Worker: wire.NewWorker(worker),
	}, err
}

func (s *Server) setPassword(ctx context.Context, c *edge.Call, body PasswordBody) error {
	return s.failed(c, s.Sessions.SetPassword(ctx, c.Who, s.Address(c.HTTP), body.OldPassword, body.Password))
}

// failed records the error of a failed attempt at an account, and returns it.
func (s *Server) failed(c *edge.Call, err error) error {
	failure, ok := errors.AsType[*access.Failure](err)
	if !ok {
		return err
	}
	served := edge.Served{Time: s.Now(), Method: c.HTTP.Method, Route: Base + c.HTTP.Pattern, Request: c.RequestID(), Address: s.Address(c.HTTP)}
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok {
		served.Status = codec.ErrorOf(rejected.Code).Status
	}
	s.Attempt(failure, served)
	return err
}

func (s *Server) signOut(ctx context.Context, c *edge.Call) error {
	return s.Sessions.SignOut(ctx, c.Who)
}

func (s *Server) signOutEverywhere(ctx context.Context, c *edge.Call) error {
	return s.Sessions.SignOutEverywhere(ctx, c.Who)
}

func (s *Server) self(ctx context.Context, c *edge.Call) (wire.Worker, error) {
	worker, err := s.Fleet.Self(ctx, c.Who)
	return wire.NewWorker(worker), err
}

func (s *Server) setDuty(ctx context.Context, c *edge.Call, body DutyBody) (wire.Worker, error) {
	if body.OnDuty == nil {
		return wire.Worker{}, lastmile.Missing("onDuty")
	}
	var phone *lastmile.DeviceReport
	if body.UserData != nil {
		phone = new(body.UserData.Domain())
	}
	worker, err := s.Fleet.SetDuty(ctx, c.Who, *body.OnDuty, phone)
	return wire.NewWorker(worker), err
}

func (s *Server) workList(ctx context.Context, c *edge.Call) (WorkList, error) {
	list, err := s.Work.List(ctx, c.Who)
	return NewWorkList(list.Version, list.ActiveTask, list.Tasks), err
}

func (s *Server) availableTasks(ctx context.Context, c *edge.Call) ([]WorkTask, error) {
	tasks, err := s.Work.Available(ctx, c.Who)
	return wire.Each(tasks, NewWorkTask), err
}

func (s *Server) completedTasks(ctx context.Context, c *edge.Call) ([]WorkTask, error) {
	tasks, err := s.Fleet.CompletedToday(ctx, c.Who)
	return wire.Each(tasks, NewWorkTask), err
}

func (s *Server) settings(ctx context.Context, c *edge.Call) (AppSettings, error) {
	org, settings, home, err := s.Fleet.Settings(ctx, c.Who)
	return NewAppSettings(org, settings, home, s.Version), err
}

// act is a use case of workers that needs nothing but an action.
type act func(context.Context, lastmile.Principal, lastmile.TaskID, lastmile.Action) (lastmile.Task, error)

func (do act) serve(ctx context.Context, c *edge.Call, body ActionBody) (WorkTask, error) {
	task, err := do(ctx, c.Who, lastmile.TaskID(c.ID()), body.Domain())
	return NewWorkTask(task), err
}

func (s *Server) finishTask(ctx context.Context, c *edge.Call, body FinishBody) (WorkTask, error) {
	outcome, evidence, err := body.Outcome(s.Work.NewID)
	if err != nil {
		return WorkTask{}, err
	}
	task, err := s.Work.Finish(ctx, c.Who, lastmile.TaskID(c.ID()), body.Domain(), outcome, evidence)
	return NewWorkTask(task), err
}

func (s *Server) reportPositions(ctx context.Context, c *edge.Call, body PositionsBody) (AcceptedPositions, error) {
	positions, err := body.Domain()
	if err != nil {
		return AcceptedPositions{}, err
	}
	accepted, err := s.Tracking.Report(ctx, c.Who, positions)
	return AcceptedPositions{Accepted: accepted}, err
}

func (s *Server) takeUpload(ctx context.Context, c *edge.Call) (wire.Uploaded, error) {
	id, err := s.Uploads.Accept(ctx, c.Who, c.Body)
	return wire.Uploaded{UploadID: id}, err
}

func (s *Server) showUpload(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	image, err := s.Uploads.Open(ctx, c.Who, lastmile.UploadID(c.ID()))
	if err != nil {
		return err
	}
	if err := c.Hold(len(image.Data)); err != nil {
		return err
	}
	s.SendImage(w, image.Type, image.Data)
	return nil
}
