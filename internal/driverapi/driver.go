package driverapi

import (
	"context"
	"net/http"

	"dray/internal/access"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// maxSignInBody is the size of the largest body with a password, in bytes.
const maxSignInBody = 4 << 10

func (s *Server) routes() []edge.Route {
	routes := []edge.Route{
		edge.Post("/login", "Sign in", s.signIn).Public().Limit(maxSignInBody).
			Describe("The temporary password of the invitation, or the one that was set. A phone number of several organizations signs in to the first whose password fits. Failed attempts are limited for each phone number and network: after five, 429 says how long to wait.").
			Example(`{"phone": "+12125550142", "password": "correct horse"}`),
		edge.Do("/password", "Set a password", s.setPassword).AllowTemporaryPassword().Limit(maxSignInBody).
			Describe("Accepts the invitation. Until then, everything except reading who is signed in and signing out is denied with 1300. Other sessions of the worker end.").
			Example(`{"password": "battery staple", "oldPassword": "correct horse"}`),
		edge.SendOnly("/logout", "Sign out", s.signOut).AllowTemporaryPassword().Limit(maxSignInBody).
			Describe("The token is no longer valid."),
		edge.Delete("/sessions", "Sign out everywhere", s.signOutEverywhere).AllowTemporaryPassword().
			Describe("Ends all sessions of the worker, this one included, and the token of a tracker app."),
		edge.Get("/me", "Read who is signed in", s.self).AllowTemporaryPassword(),
		edge.Put("/duty", "Go on or off duty", s.setDuty).
			Describe("Going off duty leaves an active task as it is.").
			Example(`{"onDuty": true}`),
		edge.Get("/tasks", "List what is to be done, in order", s.workList).
			Describe("The active task first, then in order."),
		edge.Get("/tasks/available", "List what the worker may claim", s.availableTasks),
		edge.Follow("/events", "Follow the list as it changes", s.followList, "text/event-stream").
			Describe("Server-sent events named list, with version, activeTask and for each task id and timeLastModified, whenever any of that changed. Send the id of the last one in the Last-Event-ID header to receive an event at once only if something was missed."),
		edge.Post("/tasks/{id}/claim", "Take a task of the team", act(s.Work.Claim).serve).
			Describe("Only where the team has enableSelfAssignment.").
			Example(`{"actionId": "0b9c8f0e-claim"}`),
		edge.Post("/tasks/{id}/start", "Start a task", act(s.Work.Start).serve).
			Describe("Rejected off duty, while another task is active, and before the tasks that this one depends on are completed; the cause lists those.").
			Example(`{"actionId": "0b9c8f0e-start", "time": 1767229200000, "location": [-73.9857, 40.7484]}`),
		edge.Post("/tasks/{id}/arrive", "Arrive at a task", act(s.Work.Arrive).serve).
			Describe("The task must be active.").
			Example(`{"actionId": "0b9c8f0e-arrive", "location": [-73.9857, 40.7484]}`),
		edge.Post("/tasks/{id}/depart", "Depart from a task", act(s.Work.Depart).serve).
			Describe("The task must be active.").
			Example(`{"actionId": "0b9c8f0e-depart", "location": [-73.9857, 40.7484]}`),
		edge.Post("/tasks/{id}/complete", "Complete or fail a task", s.finishTask).
			Describe("A success needs what the task requires; the cause lists what is missing. Uploads must be the worker's own, and not of another task.").
			Example(`{
				"actionId": "0b9c8f0e-complete",
				"success": true,
				"notes": "left with the neighbour",
				"signatureUploadId": "U7jK3lZx9CvB5nMq2WsD8fRt",
				"photoUploadIds": ["V2dF8gHj5LzX9cVb7NmQ4wRt"]
			}`),
		edge.Send("/uploads", "Send a signature or a photo", s.takeUpload, "image/jpeg", "image/png", "image/webp", "image/gif").Limit(lastmile.MaxUpload).
			Describe("The image itself is the body: JPEG, PNG, WebP or GIF, whatever the Content-Type says. At most 10 MB and 40 million pixels. The same image sent again is the same upload until a task is completed with it."),
		edge.Follow("/uploads/{id}", "Read a signature or a photo that was sent", s.showUpload, edge.ImageTypes...).
			Describe("The image, as JPEG or PNG; of one's own only."),
		edge.Post("/positions", "Report positions", s.reportPositions).
			Describe("Positions that cannot be true are left out.").
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

func (s *Server) signIn(ctx context.Context, c *edge.Call, body wire.SignInBody) (wire.SignedIn, error) {
	begun, err := s.Sessions.SignIn(ctx, access.SignInAttempt{
		Phone: body.Phone, Password: body.Password, Device: body.Device, Network: s.Address(c.HTTP),
	})
	if err != nil {
		return wire.SignedIn{}, err
	}
	worker, err := s.Fleet.Self(ctx, begun.Principal)
	return wire.SignedIn{
		Token: begun.Token, Device: begun.Device, MustSetPassword: begun.MustSetPassword, Worker: wire.NewWorker(worker),
	}, err
}

func (s *Server) setPassword(ctx context.Context, c *edge.Call, body wire.PasswordBody) error {
	return s.Sessions.SetPassword(ctx, c.Who, s.Address(c.HTTP), body.OldPassword, body.Password)
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

func (s *Server) setDuty(ctx context.Context, c *edge.Call, body wire.DutyBody) (wire.Worker, error) {
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

func (s *Server) workList(ctx context.Context, c *edge.Call) (wire.WorkList, error) {
	list, err := s.Work.List(ctx, c.Who)
	return wire.NewWorkList(list.Version, list.ActiveTask, list.Tasks), err
}

func (s *Server) availableTasks(ctx context.Context, c *edge.Call) ([]wire.Task, error) {
	tasks, err := s.Work.Available(ctx, c.Who)
	return wire.Each(tasks, wire.NewTask), err
}

// act performs one of the verbs that need no more than an action.
type act func(context.Context, lastmile.Principal, lastmile.TaskID, lastmile.Action) (lastmile.Task, error)

func (do act) serve(ctx context.Context, c *edge.Call, body wire.ActionBody) (wire.Task, error) {
	task, err := do(ctx, c.Who, lastmile.TaskID(c.ID()), body.Domain())
	return wire.NewTask(task), err
}

func (s *Server) finishTask(ctx context.Context, c *edge.Call, body wire.FinishBody) (wire.Task, error) {
	outcome, evidence, err := body.Outcome(s.Work.NewID)
	if err != nil {
		return wire.Task{}, err
	}
	task, err := s.Work.Finish(ctx, c.Who, lastmile.TaskID(c.ID()), body.Domain(), outcome, evidence)
	return wire.NewTask(task), err
}

func (s *Server) reportPositions(ctx context.Context, c *edge.Call, body wire.PositionsBody) (wire.Believed, error) {
	positions, err := body.Domain()
	if err != nil {
		return wire.Believed{}, err
	}
	accepted, err := s.Tracking.Report(ctx, c.Who, positions)
	return wire.Believed{Accepted: accepted}, err
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
