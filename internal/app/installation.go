package app

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"dray/internal/geo"
	"dray/internal/installation"
	"dray/internal/lastmile"
	"dray/internal/sms"
	"dray/internal/textmessage"
)

// system implements installation.System.
type system struct {
	*App
	services []installation.Service
}

// newInstallation returns the administration of the installation, for its owner.
func newInstallation(a *App, streets *geo.Streets, newID func() string) (*installation.Admin, error) {
	s := &system{App: a}
	geocoders, err := s.geocoders(streets)
	if err != nil {
		return nil, err
	}
	routers, err := s.routers()
	if err != nil {
		return nil, err
	}
	s.services = append(append(geocoders, routers...), s.texts(newID), s.mails())
	return installation.NewAdmin(s, sms.ParseNumber, a.Now, time.Now), nil
}

// Services implements installation.System.
func (s *system) Services() []installation.Service { return s.services }

// Status implements installation.System.
func (s *system) Status(ctx context.Context) (installation.Status, error) {
	status := installation.Status{
		Version: Version, URL: s.Config.URL(), Problem: s.ready.problem(ctx), Engine: s.Store.Engine(), Writes: s.Store.Stats().Waiting,
		MapsNote: strings.TrimPrefix(s.Maps.readyNote(), "; "),
	}
	if free, total, ok := installation.DiskOf(s.Config.Data); ok {
		status.Disk = &installation.Disk{Free: free, Total: total}
	}
	var err error
	if status.Bytes, err = s.Store.Size(ctx); err != nil {
		s.Log.Warn("the size of the database is unknown", "error", err) // not every PostgreSQL knows it
	}
	if status.Backup, err = s.Store.LastBackup(ctx); err != nil {
		return status, err
	}
	backlogs, err := readBacklogs(ctx, s.Store, s.Now())
	if err != nil {
		return status, err
	}
	for _, kind := range workKinds {
		b := backlogs[kind]
		status.Queues = append(status.Queues, installation.Queue{Kind: string(kind), Waiting: b.Waiting, Due: b.Due, Running: b.Leased, Failed: b.GivenUp, Oldest: b.Oldest})
	}
	status.Maps, err = s.maps()
	return status, err
}

// maps returns the imported maps, with the area of those whose roads are in use.
func (s *system) maps() (all []installation.Map, err error) {
	imported, err := s.Config.MapFolder().List()
	if err != nil {
		return nil, err
	}
	areas := map[string]*[2]lastmile.Point{}
	for _, loaded := range s.Maps.roads.All() {
		southwest, northeast := loaded.Product.Bounds()
		areas[loaded.Map] = &[2]lastmile.Point{{Lon: southwest.Lon, Lat: southwest.Lat}, {Lon: northeast.Lon, Lat: northeast.Lat}}
	}
	for _, m := range imported {
		shown := installation.Map{Name: m.Name, Source: m.Source, Imported: m.Imported, Area: areas[m.Name]}
		for _, f := range m.Files {
			shown.Products = append(shown.Products, installation.Product{Name: f.Product, Bytes: f.Bytes, Checksum: f.Checksum})
		}
		all = append(all, shown)
	}
	return all, nil
}

// options returns the options of map services that are opened for tests. They are separate
// from those that serve requests, so that failures of tests do not open their circuit
// breakers.
func (s *system) options() geo.Options {
	return geo.Options{Now: s.Now, UserAgent: s.Config.userAgent()}
}

func (s *system) geocoders(streets *geo.Streets) (all []installation.Service, err error) {
	add := func(name, host string, g geo.Geocoder) {
		all = append(all, installation.Service{ID: fmt.Sprintf("geocoder-%d", len(all)+1), Kind: installation.Geocoder, Name: name, Host: host, Geocode: g.Geocode})
	}
	for _, at := range s.Config.Geocoders {
		g, kind, err := geo.OpenGeocoder(at, s.options())
		if err != nil {
			return nil, fmt.Errorf("--geocoder: %w", err)
		}
		add(kind, hostOf(at), g)
	}
	add("maps", "", streets)
	add("gazetteer", "", &geo.Gazetteer{Imported: geo.MapPostalCodes{PostalCodes: geoStore{db: s.Store, now: s.Now}, Indexes: streets.Indexes}})
	return all, nil
}

func (s *system) routers() (all []installation.Service, err error) {
	add := func(name, host string, t geo.TravelTimer) {
		all = append(all, installation.Service{ID: fmt.Sprintf("router-%d", len(all)+1), Kind: installation.Router, Name: name, Host: host, Matrix: t.Matrix})
	}
	for _, at := range s.Config.Routers {
		r, kind, err := geo.OpenRouter(at, s.options())
		if err != nil {
			return nil, fmt.Errorf("--router: %w", err)
		}
		add(kind, hostOf(at), r)
	}
	add("maps", "", geo.Roads{Maps: s.Maps.Roads, Speed: s.Config.Speed})
	add("formula", "", geo.Estimate{})
	return all, nil
}

func (s *system) texts(newID func() string) installation.Service {
	service := installation.Service{ID: "sms", Kind: installation.SMS, Name: "outbox"}
	gateway := s.Texts.Gateway
	if gateway == nil {
		return service
	}
	service.Name, service.Sender, service.Host = gateway.Name(), gateway.From(), hostOf(s.Config.SMS.Gateway)
	if base, is := s.Config.SMS.twilio(); is {
		service.Host = hostOf(base)
	}
	service.Text = func(ctx context.Context, to lastmile.Phone, body string) textmessage.Result {
		if reason := s.Texts.Policy.Excluded(to); reason != "" {
			return textmessage.Result{Verdict: textmessage.SendRejected, Reason: reason}
		}
		now := s.Now()
		return gateway.Send(ctx, textmessage.New(lastmile.MessageID(newID()), "", textmessage.KindStarted, to, body, now, now))
	}
	return service
}

func (s *system) mails() installation.Service {
	service := installation.Service{ID: "mail", Kind: installation.Mail, Name: "none"}
	if s.Accounts.Mailer != nil {
		service.Name, service.Host, service.Sender, service.Letter = "smtp", hostOf(s.Config.SMTP), s.Config.MailFrom, s.Accounts.Mailer.Send
	}
	return service
}

// hostOf returns the host of a URL, without parts that may be secret.
func hostOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return u.Host
}
