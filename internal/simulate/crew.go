package simulate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"dray/internal/lastmile"
)

// Records of the API, with the fields that matter here.
type (
	shownTeam struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}

	shownHub struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}

	shownWorker struct {
		ID       string      `json:"id"`
		Name     string      `json:"name"`
		Phone    string      `json:"phone"`
		Location *[2]float64 `json:"location"`
		Vehicle  *struct {
			Type lastmile.VehicleType `json:"type"`
		} `json:"vehicle"`
		ActiveTask string   `json:"activeTask"`
		Tasks      []string `json:"tasks"`
	}
)

// api sends a request of the organization. Requests that create something have
// an idempotency key, so that it is created only once.
func (s *simulation) api(ctx context.Context, name, method, path string, body, response any) error {
	r := request{name: name, method: method, path: "/api/v2" + path, key: s.options.Key, body: body, response: response}
	if method == http.MethodPost {
		r.once = fmt.Sprintf("%s-%d", s.run, s.posts.Add(1))
	}
	return s.client.send(ctx, r)
}

// createTeams creates missing teams and hubs.
func (s *simulation) createTeams(ctx context.Context) error {
	var known []shownTeam
	if err := s.api(ctx, "GET /teams", http.MethodGet, "/teams", nil, &known); err != nil {
		return err
	}
	var hubs []shownHub
	if err := s.api(ctx, "GET /hubs", http.MethodGet, "/hubs", nil, &hubs); err != nil {
		return err
	}
	for _, t := range s.plan.teams() {
		id, err := s.createTeam(ctx, known, t.name, t.selfAssign)
		if err != nil {
			return err
		}
		s.teams = append(s.teams, id)
		if err := s.createHub(ctx, hubs, t, id); err != nil {
			return err
		}
	}
	if s.options.Visitor == nil {
		return nil
	}
	var err error
	s.visitorTeam, err = s.createTeam(ctx, known, "Visitors", false)
	return err
}

func (s *simulation) createTeam(ctx context.Context, known []shownTeam, name string, selfAssign bool) (string, error) {
	for _, k := range known {
		if k.Name == name {
			return k.ID, nil
		}
	}
	body := map[string]any{"name": name, "workers": []string{}, "managers": []string{}, "enableSelfAssignment": selfAssign}
	var made shownTeam
	err := s.api(ctx, "POST /teams", http.MethodPost, "/teams", body, &made)
	return made.ID, err
}

func (s *simulation) createHub(ctx context.Context, known []shownHub, t team, id string) error {
	for _, k := range known {
		if k.Name == t.hub {
			return nil
		}
	}
	body := map[string]any{"name": t.hub, "teams": []string{id}, "address": t.door.address, "location": s.plan.axes().location(t.door.at)}
	return s.api(ctx, "POST /hubs", http.MethodPost, "/hubs", body, nil)
}

// findWorker finds a worker by phone number; nil if there is none.
func (s *simulation) findWorker(ctx context.Context, phone string) (*shownWorker, error) {
	var found []shownWorker
	err := s.api(ctx, "GET /workers", http.MethodGet, "/workers?phones="+url.QueryEscape(phone), nil, &found)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// employ finds or creates a worker, and signs in.
func (s *simulation) employ(ctx context.Context, who Person, team string) (session, error) {
	known, err := s.findWorker(ctx, who.Phone)
	if err != nil {
		return session{}, err
	}
	fresh := known == nil
	if fresh {
		known = new(shownWorker)
		body := map[string]any{"name": who.Name, "phone": who.Phone, "teams": []string{team}, "capacity": 40}
		if who.vehicle != "" {
			body["vehicle"] = who.details
		}
		if err := s.api(ctx, "POST /workers", http.MethodPost, "/workers", body, known); err != nil {
			return session{}, err
		}
	}
	return s.signIn(ctx, *known, fresh)
}

// session is the session of a worker.
type session struct {
	token  string
	worker shownWorker
}

// signIn signs a worker in with the password of simulated workers or, the first
// time, with the temporary one.
func (s *simulation) signIn(ctx context.Context, worker shownWorker, fresh bool) (session, error) {
	var response struct {
		Token           string      `json:"token"`
		MustSetPassword bool        `json:"mustSetPassword"`
		Worker          shownWorker `json:"worker"`
	}
	try := func(password string) error {
		body := map[string]string{"phone": worker.Phone, "password": password}
		return s.client.send(ctx, request{name: "POST /driver/v1/login", method: http.MethodPost, path: "/driver/v1/login", body: body, response: &response})
	}
	err := errTemporaryPassword
	if !fresh {
		err = try(s.options.Password)
	}
	if (errors.Is(err, errTemporaryPassword) || rejected(err)) && s.options.Temporary != nil {
		password, err := s.options.Temporary(ctx, worker.Phone)
		if err != nil {
			return session{}, err
		}
		if err := try(password); err != nil {
			return session{}, err
		}
	} else if err != nil {
		return session{}, err
	}
	if response.Worker.ID != worker.ID {
		return session{}, fmt.Errorf("worker %s has the number and password of a worker of another organization: choose another password", worker.ID)
	}
	if response.MustSetPassword {
		err = s.client.send(ctx, request{
			name: "POST /driver/v1/password", method: http.MethodPost, path: "/driver/v1/password", token: response.Token,
			body: map[string]string{"password": s.options.Password},
		})
		if err != nil {
			return session{}, err
		}
	}
	return session{token: response.Token, worker: response.Worker}, nil
}

// errTemporaryPassword says that a worker only has the temporary password.
var errTemporaryPassword = errors.New("the worker only has a temporary password")

// existingWorkers returns existing workers, who all have the configured password.
func (s *simulation) existingWorkers(ctx context.Context) ([]Person, error) {
	var found []shownWorker
	if err := s.api(ctx, "GET /workers", http.MethodGet, "/workers", nil, &found); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("the organization has no workers, and there is no outbox to read the passwords of new ones from")
	}
	people := make([]Person, 0, s.options.Workers)
	for i, w := range found[:min(len(found), s.options.Workers)] {
		who := Person{Name: w.Name, Phone: w.Phone, team: i % len(s.plan.teams())}
		if w.Vehicle != nil {
			who.vehicle = w.Vehicle.Type
		}
		people = append(people, who)
	}
	return people, nil
}
