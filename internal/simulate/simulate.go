package simulate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	URL       string // of the server
	Key       string // of an organization
	Password  string // that the workers have, or will set
	Temporary func(ctx context.Context, phone string) (string, error)
	Now       func() time.Time
	Log       *slog.Logger
	Transport http.RoundTripper // nil: as http.DefaultTransport, with room for all workers

	Seed    uint64
	Errand  uint64 // number of the first errand; 0 unless others were made before
	Run     string // tells this run from others with the same organization; letters and digits
	Workers int
	Tasks   int           // to be made in all; 0 is no limit
	Open    int           // tasks to be done at a time; 0 is three for each worker
	Pause   time.Duration // between two errands, once there is something to do for all
	Busy    time.Duration // after which the pause is five times as long; 0 is never
	For     time.Duration // 0 is no limit
	Speed   float64       // how often vehicles are as fast, and stops as short, as in life
	Every   time.Duration // between two positions
	Radius  float64       // of a team's part of the city, in meters
	Offline float64       // how often the network is lost on the way to a task: 0 to 1
	Check   bool          // whether to compare in the end

	Prefix  string       // of the workers' phone numbers, to which four digits are added
	First   int          // the first of those
	Visitor *Person      // a worker for somebody to play, who gets tasks and is left alone
	Ready   func(Active) // called once, when the first task was started
}

// Active is a task under way.
type Active struct {
	Task, TrackingURL string
}

// Report is what came of a run.
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

	teams       []string // ids, as in the plan
	visitorTeam string
	visitor     string // id of the worker that somebody may play; "" for none
	borrowed    bool   // the workers are somebody else's

	posts   atomic.Int64 // of the organization
	probe   sync.Once    // of whether photos are taken
	photos  atomic.Bool
	mu      sync.Mutex
	phones  []*phone      // on duty
	staffed chan struct{} // closed when there is the first
	ready   sync.Once
}

// Run simulates until the context ends, the time is over, or all tasks are
// done. What it returns is true also with an error.
func Run(ctx context.Context, o Options) (Report, error) {
	s := newSimulation(o)
	begun := s.now()
	working, stop := context.WithCancel(ctx)
	defer stop()
	if o.For > 0 {
		working, stop = context.WithTimeout(ctx, o.For)
		defer stop()
	}
	people, err := s.prepare(working)
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
	s := &simulation{
		options: o, plan: plan{seed: o.Seed, staffed: min(o.Workers, len(teams)), radius: o.Radius}, tally: newTally(), ledger: newLedger(!o.Check),
		run: o.Run, speed: o.Speed, every: o.Every, now: o.Now, borrowed: o.Temporary == nil, staffed: make(chan struct{}),
	}
	s.client = &client{
		base: strings.TrimSuffix(o.URL, "/"), http: &http.Client{Transport: transport, Timeout: answerTime}, now: o.Now, tally: s.tally,
	}
	return s
}

const (
	signInsAtOnce  = 8
	answerTime     = 30 * time.Second
	maxConnections = 240 // a server allows one address 256, unless told otherwise
)

// scaled is how long something takes that takes so long in life.
func (s *simulation) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.speed)
}

// prepare makes teams, and says who will work.
func (s *simulation) prepare(ctx context.Context) ([]Person, error) {
	if s.borrowed {
		return s.borrow(ctx)
	}
	if err := s.makeTeams(ctx); err != nil {
		return nil, err
	}
	if s.options.Visitor != nil {
		if err := s.receiveVisitor(ctx); err != nil {
			return nil, err
		}
	}
	return s.plan.crew(s.options.Workers, s.options.Prefix, s.options.First), nil
}

// play lets the desk and all phones work until the context ends or there is
// nothing left to do.
func (s *simulation) play(ctx context.Context, people []Person, stop context.CancelFunc) error {
	var all sync.WaitGroup
	slots := make(chan struct{}, signInsAtOnce)
	for i, who := range people {
		all.Go(func() { s.keepWorking(ctx, i, who, slots) })
	}
	if s.options.Visitor != nil {
		all.Go(func() { s.keepVisitor(ctx) })
	}
	err := s.deskWork(ctx)
	stop()
	all.Wait()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// restPause is how long a phone that failed is left alone.
const restPause = 5 * time.Second

// keepWorking signs a worker in and lets her work. A phone that fails is
// started again.
func (s *simulation) keepWorking(ctx context.Context, number int, who Person, slots chan struct{}) {
	p := &phone{
		simulation: s, person: who, random: s.plan.random(chancePhone, uint64(number)),
		done: map[string]bool{}, offers: make(chan string, 16),
	}
	p.battery = 40 + 60*p.random.Float64()
	p.at = teams[who.team].door.at.jittered(p.random, 60)
	for ctx.Err() == nil {
		err := p.begin(ctx, slots)
		if err == nil {
			err = p.work(ctx)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		s.ledger.breach("a worker could not go on: %v", err)
		s.options.Log.Warn("a simulated worker could not go on", "error", err)
		wait(ctx, restPause)
	}
}

// begin signs the worker in, a few at a time: passwords take work.
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
		p.at = spotOf(pointOf(*at))
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
		return session{}, errors.New("a worker is not there any more")
	}
	return p.signIn(ctx, *known, false)
}

func pointOf(location [2]float64) lastmile.Point {
	return lastmile.Point{Lon: location[0], Lat: location[1]}
}

// onDuty tells the desk that a worker is there.
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

// active tells who asked that a task is under way.
func (s *simulation) active(t shownTask) {
	if s.options.Ready != nil {
		s.ready.Do(func() { s.options.Ready(Active{Task: t.ID, TrackingURL: t.TrackingURL}) })
	}
}

func (s *simulation) logRefusal(err error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		s.options.Log.Debug("a simulated worker was refused", "route", r.name, "status", r.status, "subcode", r.number)
	}
}

func (s *simulation) report(begun time.Time, took time.Duration) Report {
	if took == 0 {
		took = s.now().Sub(begun)
	}
	r := Report{Seconds: took.Seconds(), Routes: s.tally.report(), Open: s.ledger.open()}
	s.mu.Lock()
	r.Workers = len(s.phones)
	s.mu.Unlock()
	for _, route := range r.Routes {
		r.Requests += route.Answered
		for status, n := range route.Refused {
			if status >= 500 && status != http.StatusServiceUnavailable {
				s.ledger.breach("%s was answered %d times with status %d, a fault of the server", route.Name, n, status)
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

// checksAtOnce is how many tasks are read at a time in the end.
const checksAtOnce = 16

// check compares what was told with what the server says now.
func (s *simulation) check(ctx context.Context) error {
	for deadline := s.now().Add(tellTime); s.ledger.untold() > 0 && s.now().Before(deadline); {
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
	return failed
}

func (s *simulation) checkTask(ctx context.Context, id string) error {
	var shown shownTask
	err := s.api(ctx, "GET /tasks/{id}", http.MethodGet, "/tasks/"+id, nil, &shown)
	switch {
	case refused(err):
		s.ledger.breach("task %s was made, and is lost: %v", id, err)
		return nil
	case err != nil:
		return fmt.Errorf("read task %s in the end: %w", id, err)
	}
	s.ledger.compare(shown)
	return nil
}
