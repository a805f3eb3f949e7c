// Package installation reports the state of a whole installation to its owner, and tests
// the services that it uses.
package installation

import (
	"cmp"
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/textmessage"
	"dray/internal/travel"
)

// Limits of tests. They reach other people's services.
const (
	// testTimeout is how long a test may take.
	testTimeout = 10 * time.Second
	// maxTests is the maximum number of tests in a burst.
	maxTests = 20
	// testEvery is the time until one more is allowed.
	testEvery = 10 * time.Second
	// maxAddress is the maximum length of the address of a test in characters.
	maxAddress = 300
)

// Status is the state of an installation, as far as the node that reports it knows.
type Status struct {
	Version   string
	URL       string
	Problem   string // why the node is not ready; empty if it is
	Engine    string // of the database: sqlite or postgres
	Bytes     int64  // of the database; 0 if unknown
	Writes    int    // that wait
	Disk      *Disk  // of the data folder; nil if unknown
	Backup    time.Time
	Queues    []Queue
	Maps      []Map
	MapsNote  string // how the maps of nodes differ
	Services  []Service
	CheckedAt time.Time
}

// Disk is the disk of a folder, in bytes.
type Disk struct{ Free, Total int64 }

// Queue is the background work of a kind.
type Queue struct {
	Kind                          string
	Waiting, Due, Running, Failed int
	Oldest                        time.Time // when the oldest that is due became so; zero if none is
}

// Map is an imported map.
type Map struct {
	Name, Source string
	Imported     time.Time
	Products     []Product
	Area         *[2]lastmile.Point // southwest and northeast corners; nil if unknown
}

// Product is what was made of a map.
type Product struct {
	Name     string
	Bytes    int64
	Checksum string
}

// Kind is what a service is for.
type Kind string

// The kinds of services.
const (
	Geocoder Kind = "geocoder"
	Router   Kind = "router"
	SMS      Kind = "sms"
	Mail     Kind = "mail"
)

// Service is a service that the installation uses, or a built-in replacement. Exactly one
// of the functions is set, by its kind; none if there is nothing to test.
type Service struct {
	ID      string // names it in tests
	Kind    Kind
	Name    string // such as nominatim
	Host    string // empty if it is built in
	Sender  string // of messages
	Geocode func(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error)
	Matrix  func(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error)
	Text    func(ctx context.Context, to lastmile.Phone, body string) textmessage.Result
	Letter  func(ctx context.Context, l identity.Letter) error
}

// Testable reports whether the service can be tested.
func (s Service) Testable() bool {
	return s.Geocode != nil || s.Matrix != nil || s.Text != nil || s.Letter != nil
}

// System knows the state of the installation.
type System interface {
	Status(ctx context.Context) (Status, error)
	Services() []Service
}

// Admin is the administration of an installation, for its owner.
type Admin struct {
	System     System
	ParsePhone func(raw, country string) (lastmile.Phone, error)
	Now        func() time.Time
	Timer      func() time.Time // for durations

	tests *rate.Limiter
	turns rate.Turns // one test at a time
}

// NewAdmin returns the administration of an installation.
func NewAdmin(system System, parsePhone func(raw, country string) (lastmile.Phone, error), now, timer func() time.Time) *Admin {
	limit := rate.Limit{Burst: maxTests, PerSecond: 1 / testEvery.Seconds()}
	return &Admin{System: system, ParsePhone: parsePhone, Now: now, Timer: timer, tests: rate.New(limit, now)}
}

// Status returns the state of the installation.
func (a *Admin) Status(ctx context.Context) (Status, error) {
	status, err := a.System.Status(ctx)
	status.Services, status.CheckedAt = a.System.Services(), a.Now()
	return status, err
}

// Test is a test of a service.
type Test struct {
	Service  string // id
	Address  string // for a geocoder
	From, To *lastmile.Point
	Phone    string // that gets a text message, as dialed in Country
	Country  string // of the organization
	Admin    lastmile.Admin
}

// Result is the result of a test. A service that does not work is a result, not an
// error.
type Result struct {
	OK      bool
	Took    time.Duration
	Problem string // why it does not work
	Found   *lastmile.GeocodedAddress
	Leg     *travel.Leg
	Sent    string // to whom a message was sent
}

// Test tests a service.
func (a *Admin) Test(ctx context.Context, t Test) (Result, error) {
	service, err := a.find(t.Service)
	if err != nil {
		return Result{}, err
	}
	do, err := a.prepare(service, t)
	if err != nil {
		return Result{}, err
	}
	if err := a.tests.Take("installation", 1); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	end, err := a.turns.Take(ctx, "installation")
	if err != nil {
		return Result{}, lastmile.TooMany()
	}
	defer end()
	began := a.Timer()
	result, err := do(ctx)
	result.Took, result.OK = a.Timer().Sub(began), err == nil
	if err != nil {
		result.Problem = lastmile.Truncate(explain(ctx, err), 500)
	}
	return result, nil
}

// explain returns what an error means to an operator.
func explain(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "there was no response within " + testTimeout.String()
	}
	return err.Error()
}

func (a *Admin) find(id string) (Service, error) {
	if id == "" {
		return Service{}, lastmile.Missing("service")
	}
	for _, s := range a.System.Services() {
		if s.ID == id {
			return s, nil
		}
	}
	return Service{}, lastmile.NotFound("service", lastmile.Truncate(id, 64))
}

// prepare checks what a test needs, before it costs anything, and returns what does it.
func (a *Admin) prepare(s Service, t Test) (func(context.Context) (Result, error), error) {
	switch {
	case s.Geocode != nil:
		return geocode(s, t)
	case s.Matrix != nil:
		return route(s, t)
	case s.Text != nil:
		return a.text(s, t)
	case s.Letter != nil:
		return letter(s, t), nil
	}
	flag := "--smtp"
	if s.Kind == SMS {
		flag = "--sms"
	}
	return nil, lastmile.Invalid("service %s sends nothing: set %s", s.ID, flag)
}

func geocode(s Service, t Test) (func(context.Context) (Result, error), error) {
	switch length := utf8.RuneCountInString(t.Address); {
	case length == 0:
		return nil, lastmile.Missing("address")
	case length > maxAddress:
		return nil, lastmile.Invalid("address must have at most %d characters, not %d", maxAddress, length)
	}
	return func(ctx context.Context) (Result, error) {
		found, err := s.Geocode(ctx, lastmile.AddressQuery{Unparsed: t.Address, Country: t.Country})
		if err != nil {
			return Result{}, err
		}
		return Result{Found: &found}, nil
	}, nil
}

func route(s Service, t Test) (func(context.Context) (Result, error), error) {
	switch {
	case t.From == nil:
		return nil, lastmile.Missing("from")
	case t.To == nil:
		return nil, lastmile.Missing("to")
	}
	return func(ctx context.Context) (Result, error) {
		times, err := s.Matrix(ctx, lastmile.Car, []lastmile.Point{*t.From}, []lastmile.Point{*t.To})
		if err != nil {
			return Result{}, err
		}
		leg := travel.Leg{Duration: times.Durations[0][0], Distance: times.Distances[0][0]}
		if leg.Duration == travel.Unreachable {
			return Result{}, errors.New("there is no way between the two locations")
		}
		return Result{Leg: &leg}, nil
	}, nil
}

func (a *Admin) text(s Service, t Test) (func(context.Context) (Result, error), error) {
	if t.Phone == "" {
		return nil, lastmile.Missing("phone")
	}
	to, err := a.ParsePhone(t.Phone, t.Country)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (Result, error) {
		sent := s.Text(ctx, to, testText)
		if sent.Verdict != textmessage.SendAccepted {
			return Result{}, errors.New(cmp.Or(sent.Reason, "the gateway did not accept the message"))
		}
		return Result{Sent: string(to)}, nil
	}, nil
}

// testText is what test messages say. It is for those who installed the server.
const testText = "This is a test message of Dray. Text messages work."

func letter(s Service, t Test) func(context.Context) (Result, error) {
	return func(ctx context.Context) (Result, error) {
		err := s.Letter(ctx, identity.Letter{
			To: t.Admin.Email, Name: t.Admin.Name, Subject: "Test mail of Dray", Text: "This is a test mail of Dray. Mails work.\n",
		})
		return Result{Sent: t.Admin.Email}, err
	}
}
