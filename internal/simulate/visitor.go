package simulate

import (
	"context"
	"errors"
	"net/http"
	"time"
)

const (
	visitorTasks  = 3 // minimum number of tasks of the visitor
	visitorPause  = 20 * time.Second
	visitorErrand = 1 << 40 // number of the visitor's first errand
)

// createVisitor creates the worker to be played by the user, and signs in once
// to set the password.
func (s *simulation) createVisitor(ctx context.Context) error {
	begun, err := s.employ(ctx, *s.options.Visitor, s.visitorTeam)
	if err != nil {
		return err
	}
	s.visitor = begun.worker.ID
	if begun.worker.Location != nil {
		return nil
	}
	p := &phone{
		simulation: s, token: begun.token, worker: s.visitor, random: s.plan.random(chancePhone, visitorErrand),
		battery: 100, at: s.plan.teams()[s.options.Visitor.team].door.at,
	}
	p.locate(0, 0)
	return errors.Join(p.setDuty(ctx), p.flush(ctx))
}

// keepVisitor keeps the visitor's list filled.
func (s *simulation) keepVisitor(ctx context.Context) {
	for number := visitorErrand + s.options.Errand; ctx.Err() == nil; wait(ctx, visitorPause) {
		if err := s.fillVisitorList(ctx, &number); err != nil && ctx.Err() == nil {
			s.options.Log.Warn("the visitor's list could not be filled", "error", err)
		}
	}
}

func (s *simulation) fillVisitorList(ctx context.Context, number *uint64) error {
	var shown shownWorker
	if err := s.api(ctx, "GET /workers/{id}", http.MethodGet, "/workers/"+s.visitor, nil, &shown); err != nil {
		return err
	}
	for range visitorTasks - len(shown.Tasks) {
		e := s.plan.errand(*number)
		*number++
		body := s.body(e.stops[len(e.stops)-1])
		body["container"] = container{Type: "WORKER", Worker: s.visitor}
		if err := s.api(ctx, "POST /tasks", http.MethodPost, "/tasks", body, nil); err != nil {
			return err
		}
	}
	return nil
}
