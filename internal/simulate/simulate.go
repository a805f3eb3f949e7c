package simulate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
)

// Options say what is simulated, and against which server.
type Options struct {
	URL       string // address of the server
	Key       string // API key of an organization
	Password  string // password of existing workers, or to be set for new ones
	Temporary func(ctx context.Context, phone string) (string, error)
	Now       func() time.Time
	Log       *slog.Logger
	Transport http.RoundTripper // nil for http.DefaultTransport with enough connections

	City       *City // nil for a part of Manhattan
	Seed       uint64
	Errand     uint64 // number of the first errand; 0 unless an earlier run created some
	Run        string // distinguishes runs of the same organization; letters and digits
	Workers    int
	Tasks      int           // to be created in total; 0 for no limit
	Open       int           // open at a time; 0 for three per worker
	Unassigned int           // tasks that stay unassigned at a time
	Pause      time.Duration // between two errands, once every worker has something to do; at speed 1
	Duration   time.Duration // duration of the run; 0 for no limit
	Speed      float64       // factor by which everything that takes time is faster than in reality
	Interval   time.Duration // between two positions
	Radius     float64       // radius of a team's area, in meters
	Offline    float64       // probability of losing the network on the way to a task
	Check      bool          // whether to compare in the end
	Shop       string        // name of a client of the organization that orders deliveries; empty for none
	ShopKey    string        // API key of the client; empty to open one

	Prefix  string                                             // prefix of the workers' phone numbers, to which four digits are added
	First   int                                                // the first of the four digits
	Visitor *Person                                            // a worker to be played by the user, who gets tasks and is left alone
	Started func(Active)                                       // called by many goroutines, whenever a worker drives to a task; nil for none
	Reply   func(ctx context.Context, from, text string) error // sends a recipient's text message; nil for none
}

// Active is a task whose worker is on the way.
type Active struct {
	Task, TrackingURL string
	Drive             time.Duration // how long the worker will be on the way
	Then              []string      // tracking URLs of the worker's other tasks, in order
}

// Report is the result of a run.
type Report struct {
	Seconds   float64  `json:"seconds"`
	Workers   int      `json:"workers"`
	counts             // shown as fields of the report
	Open      int      `json:"open"`
	Requests  int      `json:"requests"`
	PerSecond float64  `json:"requestsPerSecond"`
	Routes    []Route  `json:"routes"`
	Checked   int      `json:"checked"` // tasks compared
	Breaches  int      `json:"brokenPromises"`
	Broken    []string `json:"broken"` // the first of them
	Orders    Orders   `json:"orders"`
	Day       Day      `json:"day"`
}

// simulation is a run.
type simulation struct {
	options Options
	plan    plan
	client  *client
	tally   *tally
	ledger  *ledger
	run     string
	speed   float64
	every   time.Duration
	now     func() time.Time
	began   time.Time

	teams       []string // ids, in the order of the plan
	visitorTeam string
	visitor     string // id of the worker played by the user; empty for none
	borrowed    bool   // the workers existed before

	posts   atomic.Int64 // number of POST requests of the organization
	probe   sync.Once    // whether photos are accepted
	photos  atomic.Bool
	mu      sync.Mutex
	phones  []*phone      // on duty
	staffed chan struct{} // closed when the first is on duty
	sampled time.Time     // when the last tracking page was read

	messages, messaged int // text messages, and the ended tasks that they are about
	day                day
	shop               *shop // nil for none
	orders             Orders
}

// Run simulates until the context ends, the time is over or all tasks are
// completed. The report is valid even with an error.
func Run(ctx context.Context, o Options) (Report, error) {
	s := newSimulation(o)
	begun := s.now()
	s.began = begun
	working, stop := context.WithCancel(ctx)
	defer stop()
	if o.Duration > 0 {
		working, stop = context.WithTimeout(ctx, o.Duration)
		defer stop()
	}
	people, err := s.prepare(working)
	if err == nil && o.Shop != "" {
		err = s.openShop(working)
	}
	if err != nil {
		return s.report(begun, 0), err
	}
	var all sync.WaitGroup
	following, unfollow := context.WithCancel(context.WithoutCancel(ctx))
	defer unfollow()
	if o.Check {
		stream, err := s.openStream(working, "")
		if err != nil {
			return s.report(begun, 0), err
		}
		all.Go(func() { s.follow(following, stream) })
	}
	err = s.play(working, people, stop)
	ended := s.now()
	if o.Check && err == nil {
		err = s.check(context.WithoutCancel(ctx))
	}
	unfollow()
	all.Wait()
	return s.report(begun, ended.Sub(begun)), err
}

func newSimulation(o Options) *simulation {
	transport := o.Transport
	if transport == nil {
		transport = &http.Transport{MaxConnsPerHost: maxConnections, MaxIdleConnsPerHost: maxConnections, IdleConnTimeout: 45 * time.Second}
	}
	var where city = grid{}
	if o.City != nil {
		where = newMapped(o.City)
	}
	s := &simulation{
		options: o, plan: plan{city: where, seed: o.Seed, staffed: min(o.Workers, len(where.teams())), radius: o.Radius}, tally: newTally(), ledger: newLedger(!o.Check),
		run: o.Run, speed: o.Speed, every: o.Interval, now: o.Now, borrowed: o.Temporary == nil, staffed: make(chan struct{}),
	}
	s.client = &client{
		base: strings.TrimSuffix(o.URL, "/"), http: &http.Client{Transport: transport, Timeout: responseTime}, now: o.Now, tally: s.tally,
	}
	return s
}

const (
	signInsAtOnce  = 8
	responseTime   = 30 * time.Second
	maxConnections = 240 // a server allows 256 per address by default
)

// scaled returns how long something takes in the simulation.
func (s *simulation) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.speed)
}

// prepare creates the teams and returns the workers.
func (s *simulation) prepare(ctx context.Context) ([]Person, error) {
	if s.borrowed {
		return s.existingWorkers(ctx)
	}
	if err := s.createTeams(ctx); err != nil {
		return nil, err
	}
	if s.options.Visitor != nil {
		if err := s.createVisitor(ctx); err != nil {
			return nil, err
		}
	}
	return s.plan.crew(s.options.Workers, s.options.Prefix, s.options.First), nil
}

// play runs the desk and all phones until the context ends or all tasks are
// completed.
func (s *simulation) play(ctx context.Context, people []Person, stop context.CancelFunc) error {
	var all sync.WaitGroup
	slots := make(chan struct{}, signInsAtOnce)
	for i, who := range people {
		all.Go(func() { s.keepWorking(ctx, i, who, slots) })
	}
	if s.options.Visitor != nil {
		all.Go(func() { s.keepVisitor(ctx) })
	}
	err := s.runDesk(ctx)
	stop()
	all.Wait()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// restPause is how long a phone pauses after an error.
const restPause = 5 * time.Second

// keepWorking signs a worker in and runs the phone. A phone that fails is
// restarted.
func (s *simulation) keepWorking(ctx context.Context, number int, who Person, slots chan struct{}) {
	p := &phone{
		simulation: s, person: who, random: s.plan.random(chancePhone, uint64(number)),
		done: map[string]bool{}, offers: make(chan string, 16), forecasts: forecasts{},
	}
	p.battery = 40 + 60*p.random.Float64()
	p.at = s.plan.teams()[who.team].door.at.jittered(p.random, 60)
	for ctx.Err() == nil {
		err := p.begin(ctx, slots)
		if err == nil {
			err = p.work(ctx)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		s.ledger.violation("a worker could not continue: %v", err)
		s.options.Log.Warn("a simulated worker could not continue", "error", err)
		wait(ctx, restPause)
	}
}

// begin signs the worker in, a few at a time, because checking passwords is
// expensive.
func (p *phone) begin(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	team := ""
	if !p.borrowed {
		team = p.simulation.teams[p.person.team]
	}
	begun, err := p.enter(ctx, team)
	if err != nil {
		return err
	}
	p.token, p.worker = begun.token, begun.worker.ID
	p.probe.Do(func() { p.photos.Store(p.takesPhotos(ctx)) })
	if at := begun.worker.Location; at != nil {
		p.at = p.plan.axes().spot(pointOf(*at))
	}
	return nil
}

func (p *phone) enter(ctx context.Context, team string) (session, error) {
	if !p.borrowed {
		return p.employ(ctx, p.person, team)
	}
	known, err := p.findWorker(ctx, p.person.Phone)
	if err != nil {
		return session{}, err
	}
	if known == nil {
		return session{}, errors.New("a worker no longer exists")
	}
	return p.signIn(ctx, *known, false)
}

func pointOf(location [2]float64) lastmile.Point {
	return lastmile.Point{Lon: location[0], Lat: location[1]}
}

// onDuty announces a worker to the desk.
func (p *phone) onDuty() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.phones, p) {
		return
	}
	if len(p.phones) == 0 {
		close(p.staffed)
	}
	p.phones = append(p.phones, p)
}

// active calls Options.Started with a task to which the worker begins to drive.
func (p *phone) active(t shownTask, path way) {
	if p.options.Started == nil {
		return
	}
	a := Active{Task: t.ID, TrackingURL: t.TrackingURL, Drive: p.duration(path)}
	for _, other := range p.list {
		if other.ID != t.ID && !p.done[other.ID] {
			a.Then = append(a.Then, other.TrackingURL)
		}
	}
	p.options.Started(a)
}

func (s *simulation) logRejection(err error) {
	if r, ok := errors.AsType[*rejection](err); ok {
		s.options.Log.Debug("a request of a simulated worker was rejected", "route", r.name, "status", r.status, "subcode", r.number)
	}
}

func (s *simulation) report(begun time.Time, took time.Duration) Report {
	if took == 0 {
		took = s.now().Sub(begun)
	}
	r := Report{Seconds: took.Seconds(), Routes: s.tally.report(), Open: s.ledger.open(), Orders: s.orders, Day: s.day.report()}
	r.Day.Messages, r.Day.MessagedTasks = s.messages, s.messaged
	r.Day.PerDelivery = math.Round(100*float64(s.messages)/float64(max(s.messaged, 1))) / 100
	s.mu.Lock()
	r.Workers = len(s.phones)
	s.mu.Unlock()
	for _, route := range r.Routes {
		r.Requests += route.Responses
		for status, n := range route.Rejected {
			if status >= 500 && status != http.StatusServiceUnavailable {
				s.ledger.violation("%s got %d responses with status %d, a server error", route.Name, n, status)
			}
		}
	}
	r.PerSecond = float64(r.Requests) / max(took.Seconds(), 0.001)
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	r.counts, r.Breaches, r.Broken = s.ledger.counts, s.ledger.breaches, s.ledger.broken
	r.Checked = s.ledger.checked
	return r
}

// checksAtOnce is the number of tasks that are read concurrently in the final check.
const checksAtOnce = 16

// check compares the ledger with the server.
func (s *simulation) check(ctx context.Context) error {
	for deadline := s.now().Add(streamTimeout); s.ledger.unreported() > 0 && s.now().Before(deadline); {
		wait(ctx, 50*time.Millisecond)
	}
	s.ledger.compareEvents()
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		failed error
	)
	tasks := make(chan string)
	for range checksAtOnce {
		all.Go(func() {
			for id := range tasks {
				if err := s.checkTask(ctx, id); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	for _, id := range s.ledger.tasks() {
		tasks <- id
	}
	close(tasks)
	all.Wait()
	return errors.Join(failed, s.checkOrders(ctx), s.countMessages(ctx))
}

// countMessages counts the text messages about the tasks that ended.
func (s *simulation) countMessages(ctx context.Context) error {
	ended := s.ledger.endedTasks()
	s.messages, s.messaged = 0, len(ended)
	for before := ""; ; {
		var page []struct {
			ID   string `json:"id"`
			Task string `json:"task"`
			Time int64  `json:"timeCreated"`
		}
		if err := s.api(ctx, "GET /messages", http.MethodGet, "/messages?before="+before, nil, &page); err != nil {
			return fmt.Errorf("count text messages: %w", err)
		}
		for _, m := range page {
			if before = m.ID; ended[m.Task] {
				s.messages++
			}
		}
		if len(page) == 0 || page[len(page)-1].Time < s.began.UnixMilli() {
			return nil
		}
	}
}

func (s *simulation) checkTask(ctx context.Context, id string) error {
	var shown shownTask
	err := s.api(ctx, "GET /tasks/{id}", http.MethodGet, "/tasks/"+id, nil, &shown)
	switch {
	case rejected(err):
		s.ledger.violation("task %s was created, but is lost: %v", id, err)
		return nil
	case err != nil:
		return fmt.Errorf("read task %s for the final check: %w", id, err)
	}
	s.ledger.compare(shown)
	return nil
}
