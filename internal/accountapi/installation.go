package accountapi

import (
	"context"
	"math"
	"time"

	"dray/internal/edge"
	"dray/internal/installation"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// Installation is the state of the installation, for its owner.
type Installation struct {
	Version  string      `json:"version"`
	URL      string      `json:"url"`
	Time     wire.Millis `json:"time"`
	Problem  *string     `json:"problem"` // why the server is not ready
	Database Database    `json:"database"`
	Disk     *Disk       `json:"disk"`
	Backup   *int64      `json:"lastBackup"` // Unix time in milliseconds
	Queues   []Queue     `json:"queues"`
	Maps     []Map       `json:"maps"`
	MapsNote *string     `json:"mapsNote"` // how the maps of servers differ
	Services []Service   `json:"services"`
}

// Database is the database of the installation.
type Database struct {
	Engine        string `json:"engine"`
	Bytes         *int64 `json:"bytes"`
	WaitingWrites int    `json:"waitingWrites"`
}

// Disk is the disk of the data folder, in bytes.
type Disk struct {
	Free  int64 `json:"free"`
	Total int64 `json:"total"`
}

// Queue is the background work of a kind.
type Queue struct {
	Kind      string `json:"kind"`
	Waiting   int    `json:"waiting"`
	Due       int    `json:"due"`
	Running   int    `json:"running"`
	Failed    int    `json:"failed"`
	OldestDue *int64 `json:"oldestDue"` // Unix time in milliseconds
}

// Map is an imported map.
type Map struct {
	Name     string          `json:"name"`
	Source   string          `json:"source"`
	Imported wire.Millis     `json:"imported"`
	Products []Product       `json:"products"`
	Area     *[2]wire.LonLat `json:"area"` // southwest and northeast corners
}

// Product is what was made of a map.
type Product struct {
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	Checksum string `json:"checksum"`
}

// Service is a service that the installation uses, or a built-in replacement.
type Service struct {
	ID       string            `json:"id"`
	Kind     installation.Kind `json:"kind"`
	Name     string            `json:"name"`
	Host     *string           `json:"host"`
	Sender   *string           `json:"sender"`
	Testable bool              `json:"testable"`
}

// TestBody is a test of a service.
type TestBody struct {
	Service string       `json:"service"`
	Address string       `json:"address"` // for a geocoder
	From    *wire.LonLat `json:"from"`    // for a router
	To      *wire.LonLat `json:"to"`
	Phone   string       `json:"phone"` // for text messages
}

// TestResult is how a service responded.
type TestResult struct {
	OK        bool         `json:"ok"`
	Took      int64        `json:"took"`    // milliseconds
	Problem   *string      `json:"problem"` // why it does not work
	Location  *wire.LonLat `json:"location"`
	Address   *string      `json:"address"`
	Precision *string      `json:"precision"`
	Seconds   *float64     `json:"seconds"`
	Meters    *float64     `json:"meters"`
	SentTo    *string      `json:"sentTo"`
}

func (s *Server) installation(ctx context.Context, c *edge.Call) (Installation, error) {
	if _, err := s.Accounts.OwnerOfInstallation(ctx, c.Who); err != nil {
		return Installation{}, err
	}
	status, err := s.Installation.Status(ctx)
	return newInstallation(status), err
}

func (s *Server) testService(ctx context.Context, c *edge.Call, body TestBody) (TestResult, error) {
	owner, err := s.Accounts.OwnerOfInstallation(ctx, c.Who)
	if err != nil {
		return TestResult{}, err
	}
	result, err := s.Installation.Test(ctx, installation.Test{
		Service: body.Service, Address: body.Address, From: (*lastmile.Point)(body.From), To: (*lastmile.Point)(body.To), Phone: body.Phone,
		Country: owner.Organization.Country, Admin: owner.Admin,
	})
	return newTestResult(result), err
}

func newInstallation(s installation.Status) Installation {
	shown := Installation{
		Version: s.Version, URL: s.URL, Time: wire.Millis(s.CheckedAt), Problem: orNull(s.Problem), Database: Database{Engine: s.Engine, WaitingWrites: s.Writes},
		Disk: (*Disk)(s.Disk), Backup: milliseconds(s.Backup), Queues: []Queue{}, Maps: []Map{}, MapsNote: orNull(s.MapsNote), Services: []Service{},
	}
	if s.Bytes > 0 {
		shown.Database.Bytes = &s.Bytes
	}
	for _, q := range s.Queues {
		shown.Queues = append(shown.Queues, Queue{Kind: q.Kind, Waiting: q.Waiting, Due: q.Due, Running: q.Running, Failed: q.Failed, OldestDue: milliseconds(q.Oldest)})
	}
	for _, m := range s.Maps {
		one := Map{Name: m.Name, Source: m.Source, Imported: wire.Millis(m.Imported), Products: []Product{}}
		if m.Area != nil {
			one.Area = &[2]wire.LonLat{wire.LonLat(m.Area[0]), wire.LonLat(m.Area[1])}
		}
		for _, p := range m.Products {
			one.Products = append(one.Products, Product(p))
		}
		shown.Maps = append(shown.Maps, one)
	}
	for _, service := range s.Services {
		shown.Services = append(shown.Services, Service{
			ID: service.ID, Kind: service.Kind, Name: service.Name, Host: orNull(service.Host), Sender: orNull(service.Sender), Testable: service.Testable(),
		})
	}
	return shown
}

func newTestResult(r installation.Result) TestResult {
	shown := TestResult{OK: r.OK, Took: r.Took.Milliseconds(), Problem: orNull(r.Problem), SentTo: orNull(r.Sent)}
	if r.Found != nil {
		shown.Location, shown.Address = new(wire.LonLat(r.Found.Location)), orNull(r.Found.Address.Line())
		shown.Precision = orNull(r.Found.Precision.String())
	}
	if r.Leg != nil {
		shown.Seconds, shown.Meters = new(math.Round(r.Leg.Duration.Seconds())), new(math.Round(float64(r.Leg.Distance)))
	}
	return shown
}

// milliseconds returns a Unix time, or nil for none.
func milliseconds(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	return new(at.UnixMilli())
}
