package simulate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// The actions of a worker on a task.
const (
	verbClaim    = "claim"
	verbStart    = "start"
	verbArrive   = "arrive"
	verbDepart   = "depart"
	verbComplete = "complete"
)

// The states of a task, as the API numbers them.
const (
	stateAssigned  = 1
	stateActive    = 2
	stateCompleted = 3
)

// Probabilities and limits of a worker.
const (
	chanceAgain   = 0.05 // of sending an action twice
	chanceFailure = 0.06 // of a task failing
	chanceLight   = 0.12 // of stopping at a red light
	topSpeed      = 90.0 // meters per second; the server accepts up to 150
	lowBattery    = 8.0  // percent, at which a phone is charged
	batteryHours  = 9.0
)

var failures = []struct{ reason, notes string }{
	{"WRONG_ADDRESS", "There is no such door."},
	{"RECIPIENT_UNAVAILABLE", "Nobody opened, nobody answered the telephone."},
	{"REFUSED_BY_RECIPIENT", "The recipient did not want it."},
	{"DAMAGED", "The box is broken."},
	{"NO_ACCESS", "The elevator is out of order."},
}

// shownTask is a task of the API, with the fields that phones use or that are
// compared in the end.
type shownTask struct {
	ID           string    `json:"id"`
	State        int       `json:"state"`
	Worker       string    `json:"worker"`
	TrackingURL  string    `json:"trackingURL"`
	Dependencies []string  `json:"dependencies"`
	PickupTask   bool      `json:"pickupTask"`
	ServiceTime  float64   `json:"serviceTime"`
	Container    container `json:"container"`
	Destination  struct {
		Location [2]float64 `json:"location"`
	} `json:"destination"`
	Requirements requirements `json:"requirements"`
	Barcodes     struct {
		Required []struct {
			Data string `json:"data"`
		} `json:"required"`
	} `json:"barcodes"`
	Completion struct {
		Success bool  `json:"success"`
		Time    int64 `json:"time"`
		Events  []struct {
			Name string `json:"name"`
		} `json:"events"`
	} `json:"completionDetails"`
}

// phone is a worker with a phone. Its reports are queued, and leave the queue
// in order once the server has accepted them.
type phone struct {
	*simulation
	person Person
	worker string // worker's id
	token  string
	random *rand.Rand

	at      spot
	battery float64
	offline time.Time // without network until then
	cut     bool      // the last reports could not be sent at once
	queue   []report
	list    []shownTask     // open tasks as last received
	done    map[string]bool // of the list
	number  int             // number of actions
	offers  chan string     // tasks of the team to claim
}

// call sends a request of this worker.
func (p *phone) call(ctx context.Context, name, method, path string, body, answer any) error {
	return p.client.send(ctx, request{
		name: name, method: method, path: "/driver/v1" + path, token: p.token, body: body, answer: answer,
	})
}

// location returns a location in the form that the API accepts.
func (s spot) location() [2]float64 {
	at := s.point()
	return [2]float64{at.Lon, at.Lat}
}

// work is a worker's day, from going on duty until the context ends.
func (p *phone) work(ctx context.Context) error {
	if err := p.setDuty(ctx); err != nil {
		return err
	}
	p.locate(0, 0)
	if err := p.flush(ctx); err != nil {
		return err
	}
	p.onDuty()
	for ctx.Err() == nil {
		task, err := p.next(ctx)
		switch {
		case err != nil:
			return err
		case task == nil:
			err = p.idle(ctx)
		default:
			err = p.do(ctx, *task)
			p.done[task.ID] = true
		}
		if errors.Is(err, errTaskLost) {
			wait(ctx, p.every) // another task may still be active
		} else if err != nil {
			return err
		}
	}
	return nil
}

// setDuty puts the worker on duty.
func (p *phone) setDuty(ctx context.Context) error {
	return p.call(ctx, "PUT /driver/v1/duty", http.MethodPut, "/duty", map[string]any{
		"onDuty":   true,
		"userData": map[string]any{"appVersion": "simulated", "deviceDescription": "Simulated phone", "platform": "ANDROID", "batteryLevel": p.charge()},
	}, nil)
}

// next returns the next task: the active one, or else the first in the list
// that can be started. Without a network it uses the last list received.
func (p *phone) next(ctx context.Context) (*shownTask, error) {
	if !p.connected() {
		return p.first(), nil
	}
	if err := p.flush(ctx); err != nil {
		return nil, err
	}
	if err := p.claim(ctx); err != nil {
		return nil, err
	}
	var list struct {
		Tasks []shownTask `json:"tasks"`
	}
	if err := p.call(ctx, "GET /driver/v1/tasks", http.MethodGet, "/tasks", nil, &list); err != nil {
		return nil, err
	}
	p.list, p.done = list.Tasks, map[string]bool{}
	return p.first(), nil
}

// first returns the first task that is not completed and whose dependencies
// are.
func (p *phone) first() *shownTask {
	open := map[string]bool{}
	for _, t := range p.list {
		open[t.ID] = !p.done[t.ID]
	}
	for i, t := range p.list {
		waits := slices.ContainsFunc(t.Dependencies, func(id string) bool { return open[id] })
		if open[t.ID] && (t.State == stateActive || !waits) {
			return &p.list[i]
		}
	}
	return nil
}

// claim claims the tasks of the team that the desk has offered.
func (p *phone) claim(ctx context.Context) error {
	for {
		select {
		case task := <-p.offers:
			p.act(task, verbClaim, action{})
			if err := p.flush(ctx); err != nil && !errors.Is(err, errTaskLost) {
				return err
			}
		default:
			return nil
		}
	}
}

// idle waits for work at the current location.
func (p *phone) idle(ctx context.Context) error {
	wait(ctx, p.every)
	p.drain(p.every)
	p.locate(0, 0)
	return p.sync(ctx)
}

// do carries out one task: start, drive, arrive, serve, depart, complete.
func (p *phone) do(ctx context.Context, t shownTask) error {
	if t.State == stateAssigned {
		p.act(t.ID, verbStart, action{})
		if err := p.sync(ctx); err != nil {
			return err
		}
	}
	p.active(t)
	had := map[string]bool{}
	for _, e := range t.Completion.Events {
		had[e.Name] = true
	}
	if !had["arrival"] {
		if err := p.drive(ctx, t); err != nil {
			return err
		}
		p.act(t.ID, verbArrive, action{})
		if err := p.sync(ctx); err != nil {
			return err
		}
	}
	if err := p.serve(ctx, t); err != nil {
		return err
	}
	if !had["departure"] {
		p.act(t.ID, verbDepart, action{})
	}
	p.act(t.ID, verbComplete, p.ending(t))
	if t.Requirements.Photo {
		p.queue[len(p.queue)-1].photo = takePhoto(p.random)
	}
	return p.sync(ctx)
}

// drive travels to a task's destination and reports positions on the way. A
// phone that loses the network regains it before the door, or well after.
func (p *phone) drive(ctx context.Context, t shownTask) error {
	target := spotOf(pointOf(t.Destination.Location))
	path, gone := wayBetween(p.at, target), 0.0
	usual := min(pace[p.person.vehicle]*p.speed, topSpeed)
	if p.random.Float64() < p.options.Offline {
		p.offline = p.now().Add(time.Duration((0.3 + 1.5*p.random.Float64()) * path.length / usual * float64(time.Second)))
	}
	for gone < path.length {
		speed := usual * (0.6 + 0.7*p.random.Float64())
		if p.random.Float64() < chanceLight {
			speed = 0
		}
		step := p.every
		if speed > 0 {
			step = min(step, time.Duration((path.length-gone)/speed*float64(time.Second))+time.Millisecond)
		}
		if !wait(ctx, step) {
			return ctx.Err()
		}
		gone += speed * step.Seconds()
		var heading float64
		p.at, heading = path.at(gone)
		p.drain(step)
		p.locate(speed, heading)
		if err := p.sync(ctx); err != nil {
			return err
		}
	}
	p.at = target
	return nil
}

// serve spends the service time at the door.
func (p *phone) serve(ctx context.Context, t shownTask) error {
	minutes := max(t.ServiceTime, 1) * (0.3 + 0.7*p.random.Float64())
	for left := p.scaled(time.Duration(minutes * float64(time.Minute))); left > 0; left -= p.every {
		if !wait(ctx, min(left, p.every)) {
			return ctx.Err()
		}
		p.drain(p.every)
		p.locate(0, 0)
		if err := p.sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ending returns how the worker completes a task, with the evidence it
// requires.
func (p *phone) ending(t shownTask) action {
	success := p.random.Float64() >= chanceFailure
	end := action{Success: &success}
	if !success {
		why := one(p.random, failures)
		end.FailureReason, end.Notes = why.reason, why.notes
		return end
	}
	if t.Requirements.Notes {
		end.Notes = "Handed over in person."
	}
	if t.Requirements.Signature {
		end.SignatureText = name(p.random)
	}
	end.MinimumAgeVerified = t.Requirements.MinimumAge > 0
	for _, b := range t.Barcodes.Required {
		end.Barcodes = append(end.Barcodes, barcode{Data: b.Data})
	}
	return end
}

// connected reports whether the phone has a network.
func (p *phone) connected() bool { return !p.now().Before(p.offline) }

// charge returns the battery level, from 0 to 1.
func (p *phone) charge() float64 { return math.Round(p.battery) / 100 }

// drain uses the battery and charges it when it is almost empty.
func (p *phone) drain(d time.Duration) {
	p.battery -= 100 * d.Hours() * p.speed / batteryHours
	if p.battery < lowBattery {
		p.battery = 100
	}
}
