package simulate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"dray/internal/lastmile"
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
	chanceAgain   = 0.05 // probability of sending an action twice
	chanceFailure = 0.06 // probability that a task fails
	chanceLight   = 0.12 // probability of standing at a red light
	chanceEarly   = 0.15 // probability of leaving too early and waiting at the door
	traffic       = 0.08 // standard deviation of how long a drive takes
	topSpeed      = 90.0 // meters per second; the server accepts up to 150
	lowBattery    = 8.0  // percent, at which a phone is charged
	batteryHours  = 9.0
)

// failures are the reasons that workers give, with notes.
var failures = []struct {
	reason lastmile.FailureReason
	notes  string
}{
	{lastmile.RecipientUnavailable, "No one opened, and no one picked up the phone."},
	{lastmile.WrongAddress, "There is no such door."},
	{lastmile.RefusedByRecipient, "The recipient did not want it."},
	{lastmile.Damaged, "The box is broken."},
	{lastmile.NoAccess, "The elevator is out of order."},
}

// shownTask is a task of the API, with the fields that phones use or that are
// compared in the end.
type shownTask struct {
	ID           string    `json:"id"`
	State        int       `json:"state"`
	Worker       string    `json:"worker"`
	TrackingURL  string    `json:"trackingURL"`
	Dependencies []string  `json:"dependencies"`
	Order        string    `json:"orderShortId"`
	PickupTask   bool      `json:"pickupTask"`
	ServiceTime  float64   `json:"serviceTime"` // minutes
	Container    container `json:"container"`

	CompleteAfter        int64    `json:"completeAfter"`  // Unix ms; 0 for none
	CompleteBefore       int64    `json:"completeBefore"` // Unix ms; 0 for none
	EstimatedServiceTime int64    `json:"estimatedServiceTime"`
	ETA                  *float64 `json:"eta"` // seconds
	Recipients           []struct {
		Phone string `json:"phone"`
	} `json:"recipients"`
	Destination struct {
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
	done    map[string]bool // tasks of the list that are done
	number  int             // number of actions
	offers  chan string     // tasks of the team to claim

	forecasts forecasts
	polled    time.Time      // when the list was last received
	eta       *time.Duration // estimate of the server at the start of the active task; nil if unknown
}

// call sends a request of this worker.
func (p *phone) call(ctx context.Context, name, method, path string, body, response any) error {
	return p.client.send(ctx, request{
		name: name, method: method, path: "/driver/v1" + path, token: p.token, body: body, response: response,
	})
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
	list, err := p.poll(ctx)
	if err != nil {
		return nil, err
	}
	p.list, p.done = list, map[string]bool{}
	return p.first(), nil
}

// poll receives the list, and records when the server expects the worker where.
func (p *phone) poll(ctx context.Context) ([]shownTask, error) {
	var list struct {
		Tasks []shownTask `json:"tasks"`
	}
	if err := p.call(ctx, "GET /driver/v1/tasks", http.MethodGet, "/tasks", nil, &list); err != nil {
		return nil, err
	}
	p.polled = p.now()
	for _, t := range list.Tasks {
		if t.EstimatedServiceTime != 0 {
			p.forecasts.add(t.ID, forecast{at: p.polled, expected: time.UnixMilli(t.EstimatedServiceTime)})
		}
	}
	if len(list.Tasks) > 0 {
		return list.Tasks, p.samplePage(ctx, one(p.random, list.Tasks))
	}
	return list.Tasks, nil
}

// refresh receives the list every minute at speed 1, as an app does that shows it.
func (p *phone) refresh(ctx context.Context) error {
	if !p.connected() || p.now().Sub(p.polled) < max(p.scaled(time.Minute), p.every) {
		return nil
	}
	_, err := p.poll(ctx)
	return err
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

// do carries out one task: start, drive, arrive, wait for its window, serve,
// depart, complete.
func (p *phone) do(ctx context.Context, t shownTask) error {
	path := p.plan.way(p.person.vehicle, p.at, p.plan.axes().spot(pointOf(t.Destination.Location)))
	if t.State == stateAssigned {
		if err := p.awaitDeparture(ctx, t, path); err != nil {
			return err
		}
		p.eta = nil
		p.act(t.ID, verbStart, action{})
		if err := p.sync(ctx); err != nil {
			return err
		}
		if err := p.reply(ctx, t); err != nil {
			return err
		}
	}
	had := map[string]bool{}
	for _, e := range t.Completion.Events {
		had[e.Name] = true
	}
	if !had["arrival"] {
		p.active(t, path)
		left := p.now()
		if err := p.drive(ctx, path); err != nil {
			return err
		}
		if p.eta != nil && t.State == stateAssigned {
			p.day.drove(*p.eta, p.now().Sub(left))
		}
		p.act(t.ID, verbArrive, action{})
		if err := p.sync(ctx); err != nil {
			return err
		}
	}
	if err := p.stay(ctx, time.UnixMilli(t.CompleteAfter).Sub(p.now())); err != nil {
		return err
	}
	p.served(t, !had["arrival"])
	service := time.Duration(t.ServiceTime * float64(time.Minute))
	if service == 0 {
		service = p.scaled(2 * time.Minute)
	}
	if err := p.stay(ctx, time.Duration((0.75+0.5*p.random.Float64())*float64(service))); err != nil {
		return err
	}
	if !had["departure"] {
		p.act(t.ID, verbDepart, action{})
	}
	end := p.ending(t)
	p.act(t.ID, verbComplete, end)
	last := &p.queue[len(p.queue)-1]
	if t.Requirements.Photo {
		last.photo = takePhoto(p.random)
	}
	if t.Requirements.Signature && p.photos.Load() {
		last.signature = sign(p.random)
	}
	if err := p.sync(ctx); err != nil || !p.connected() {
		return err
	}
	return p.react(ctx, t, *end.Success)
}

// served records when service began, and whether the server expected it.
func (p *phone) served(t shownTask, measured bool) {
	began := p.now()
	if measured {
		p.day.served(t, began)
		ten := p.scaled(10 * time.Minute)
		if known, ok := p.forecasts.before(t.ID, began.Add(-ten), ten/5); ok {
			p.day.foresaw(time.Duration(float64(known.expected.Sub(began)) * p.speed))
		}
	}
	delete(p.forecasts, t.ID)
}

// awaitDeparture waits until the worker can leave without arriving before the time
// window opens. Some workers leave at once and wait at the door.
func (p *phone) awaitDeparture(ctx context.Context, t shownTask, path way) error {
	if t.CompleteAfter == 0 || p.random.Float64() < chanceEarly {
		return nil
	}
	return p.stay(ctx, time.UnixMilli(t.CompleteAfter).Sub(p.now().Add(p.duration(path))))
}

// duration returns how long the worker usually takes.
func (p *phone) duration(path way) time.Duration {
	moving, park := p.times(path)
	return moving + park
}

// times returns how long the worker usually moves along a path, and how long it takes to
// leave and to park. Times on the roads of a map are from door to door.
func (p *phone) times(path way) (moving, park time.Duration) {
	how := gaits[p.person.vehicle]
	moving, park = time.Duration(path.length/how.speed*float64(time.Second)), how.park
	if path.takes > 0 {
		park = min(park, path.takes/5)
		moving = path.takes - park
	}
	least := time.Duration(path.length / topSpeed * float64(time.Second))
	return max(p.scaled(moving), least), p.scaled(park)
}

// drive leaves, travels along a path, parks, and reports positions on the way. A
// phone that loses the network regains it before the door, or well after.
func (p *phone) drive(ctx context.Context, path way) error {
	moving, park := p.times(path)
	if p.random.Float64() < p.options.Offline {
		p.offline = p.now().Add(time.Duration((0.3 + 1.5*p.random.Float64()) * float64(moving+park)))
	}
	if err := p.stay(ctx, park/3); err != nil {
		return err
	}
	moving = time.Duration(float64(moving) * math.Exp(traffic*p.random.NormFloat64()))
	parts := strides(p.random, int(math.Ceil(float64(moving)/float64(p.every))))
	gone := 0.0
	for _, part := range parts {
		step := moving / time.Duration(len(parts))
		if !wait(ctx, step) {
			return ctx.Err()
		}
		gone += part * path.length
		var heading float64
		p.at, heading = path.at(gone)
		if err := p.moved(ctx, step, part*path.length/step.Seconds(), heading); err != nil {
			return err
		}
	}
	p.at = path.corners[len(path.corners)-1]
	return p.stay(ctx, park*2/3)
}

// strides returns which parts of a way a worker covers in equally long steps: sometimes
// none, at a red light. They do not change how long the way takes, which would depend on
// how often the phone reports.
func strides(random *rand.Rand, steps int) []float64 {
	parts, sum := make([]float64, steps), 0.0
	for i := range parts {
		parts[i] = 0.7 + 0.6*random.Float64()
		if i > 0 && i < steps-1 && random.Float64() < chanceLight {
			parts[i] = 0
		}
		sum += parts[i]
	}
	for i := range parts {
		parts[i] /= sum
	}
	return parts
}

// stay spends time at the current location.
func (p *phone) stay(ctx context.Context, left time.Duration) error {
	for ; left > 0; left -= p.every {
		if !wait(ctx, min(left, p.every)) {
			return ctx.Err()
		}
		if err := p.moved(ctx, min(left, p.every), 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// moved reports the position after some time.
func (p *phone) moved(ctx context.Context, took time.Duration, speed, heading float64) error {
	p.drain(took)
	p.locate(speed, heading)
	if err := p.sync(ctx); err != nil {
		return err
	}
	return p.refresh(ctx)
}

// ending returns how the worker completes a task, with the evidence it
// requires.
func (p *phone) ending(t shownTask) action {
	success := p.random.Float64() >= chanceFailure
	end := action{Success: &success}
	if !success {
		why := one(p.random, failures)
		end.FailureReason, end.Notes = string(why.reason), why.notes
		return end
	}
	if t.Requirements.Notes {
		end.Notes = "Handed over in person."
	}
	if t.Requirements.Signature && !p.photos.Load() {
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
