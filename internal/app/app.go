package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dray/internal/access"
	"dray/internal/account"
	"dray/internal/accountapi"
	"dray/internal/addressbook"
	"dray/internal/api"
	"dray/internal/audit"
	"dray/internal/board"
	"dray/internal/dispatch"
	"dray/internal/driverapi"
	"dray/internal/edge"
	"dray/internal/events"
	"dray/internal/fleet"
	"dray/internal/geo"
	"dray/internal/installation"
	"dray/internal/messaging"
	"dray/internal/ordering"
	"dray/internal/rate"
	"dray/internal/recipientapi"
	"dray/internal/report"
	"dray/internal/sms"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
	"dray/internal/tileapi"
	"dray/internal/tracking"
	"dray/internal/upload"
	"dray/internal/web"
	"dray/internal/webhook"
	"dray/internal/work"
)

// Version is the version of the program, set when a release is built.
var Version = "dev"

// workLoop runs one kind of background work.
type workLoop = work.Loop[taskflow.BatchReader, taskflow.BatchWriter]

// App is one node of the platform.
type App struct {
	Config        Config
	Log           *slog.Logger
	Now           func() time.Time
	Store         *sqlstore.Store
	Keys          *access.Keys
	APIKeys       *access.APIKeys
	Sessions      *access.Sessions
	Organizations *access.Organizations
	Clients       *ordering.Clients
	Services      *ordering.Services
	Quotes        *ordering.Quotes
	Orders        *ordering.Orders
	Admins        *access.Admins
	Accounts      *account.Accounts
	Links         account.Links
	Mails         *mailLoop
	Audit         *audit.Log
	Book          *addressbook.Book
	Fleet         *fleet.Fleet
	Tasks         *taskflow.Tasks
	Containers    *taskflow.Containers
	Batches       *taskflow.Batches
	RoutePlans    *taskflow.RoutePlans
	Routes        *taskflow.Routes
	Fields        *taskflow.Fields
	Work          *taskflow.Work
	Pages         *taskflow.Pages
	Jobs          *workLoop
	Dispatches    *dispatch.Dispatches
	Dispatching   *dispatchLoop
	Replanner     *dispatch.Replanner
	Composer      *messaging.Composer
	Replanning    *replanLoop
	Webhooks      *webhook.Registry
	Sender        *webhook.Sender
	Clearing      *clearingLoop
	Positions     *positionLoop
	Feed          *webhook.Feed
	Tracking      *tracking.Tracker
	Travel        *geo.Travel
	Maps          *Maps
	Uploads       *upload.Uploads
	Hub           *events.Hub
	Events        *events.Log
	Messages      *messaging.Messages
	Reports       *report.Reports
	Installation  *installation.Admin
	Boards        *board.Boards
	Histories     *board.Histories
	Lists         *board.Lists
	Live          *board.Live
	Texts         *messaging.Sender

	assets   *web.Assets
	tiles    tileapi.Tiles
	metrics  *metrics
	server   *http.Server
	admin    *http.Server
	listener net.Listener
	draining atomic.Bool
	loops    sync.WaitGroup
	steps    steps
	clock    struct{ wall, elapsed time.Time } // when checkClock last succeeded
	stop     context.CancelFunc
	failed   chan error

	ready      *readiness
	sms        recipientapi.SMS   // callbacks of the gateway
	endStreams context.CancelFunc // ends event streams; clients reconnect to another node
	ended      <-chan struct{}    // closed by endStreams
	clientIPs  clientIPResolver
	budget     *edge.Budget // memory of requests in flight
	trail      *edge.Trail  // denied requests
}

// ExitUnsynced is the exit code after the disk failed to make a write durable.
const ExitUnsynced = 74

// Clock returns the current time in milliseconds, the precision of stored times.
func Clock() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// searchShare is the divisor of the number of processors that a node uses to search imported
// maps and to price quotes, so that other requests never wait for these.
const searchShare = 2

// New opens the database and builds the components of the platform. Start begins to serve.
// serve is true for a server and false for a command that runs beside it.
func New(ctx context.Context, c Config, log *slog.Logger, now func() time.Time, serve bool) (*App, error) {
	db, err := sqlstore.Open(ctx, sqlstore.Options{
		Data: c.Data, Database: c.Database, Serve: serve, Existing: c.Existing, Now: now, Timer: time.Now, Logger: log, Patience: c.Patience, Cache: databaseCache(serve),
		Unsynced: func(error) { os.Exit(ExitUnsynced) }, // no later write could be trusted to be durable
	})
	if err != nil {
		return nil, err
	}
	vault, err := openVault(ctx, c, db, log)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	files, err := newMaps(c, db, log, now)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	shares := rate.NewShares(runtime.GOMAXPROCS(0) / searchShare)
	saved := geoStore{db: db, now: now}
	streets := &geo.Streets{Indexes: files.Streets, Postal: geo.MapPostalCodes{PostalCodes: saved, Indexes: files.Streets}, Shares: shares}
	geocoder, travel, err := openMaps(c, files, streets, saved, log, now)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	newID := (&access.IDs{Now: time.Now}).New
	a := &App{
		Config: c, Log: log, Now: now, Store: db, Travel: travel, failed: make(chan error, 2), ready: newReadiness(c, db, log), Maps: files,
		budget: edge.NewBudget(cmp.Or(c.RequestMemory, requestMemory())), trail: edge.NewTrail(log, now),
	}
	if a.tiles, err = c.openTiles(files, now); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if a.clientIPs, err = newClientIPResolver(c.TrustedProxies); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	accounts := sqlstore.For[access.Reader, access.Writer](db)
	a.Keys = &access.Keys{Store: accounts, Now: now}
	a.APIKeys = &access.APIKeys{Store: sqlstore.For[access.KeyReader, access.KeyWriter](db), Now: now, NewID: newID}
	a.Organizations = &access.Organizations{Store: accounts, Now: now, NewID: newID, Vault: vault}
	passwords := access.NewPasswords()
	texts, batches := &events.Wake{}, &events.Wake{}
	a.addEvents(newID, texts)
	a.Sessions = &access.Sessions{Store: accounts, Finder: db, Events: a.Events, Passwords: passwords, Vault: vault, Now: now, NewID: newID, ParsePhone: sms.ParseNumber, Countries: sms.Countries(), Log: log}
	if err := a.addAccounts(newID, passwords); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a.Audit = newAudit(a, newID)
	a.Book = &addressbook.Book{
		Store: sqlstore.For[addressbook.Reader, addressbook.Writer](db), Documents: db,
		Geocoder: geocoder, Finder: streets, ParsePhone: sms.ParseNumber, Now: now, NewID: newID,
	}
	a.Tracking = &tracking.Tracker{
		Store: sqlstore.For[tracking.Reader, tracking.Writer](db), Events: a.Events, Travel: travel, Ways: a.Maps.ways(c.Speed), Speed: c.Speed, Now: now, NewID: newID, Log: log, Wake: a.Events.Committed(), Idle: c.Poll, Alone: db.Engine() == "sqlite",
		Admission: tracking.NewAdmission(now), Routes: a.Replanner, Notices: a.Composer,
	}
	a.addTasks(newID, batches)
	a.addOrders(newID, shares)
	a.Fleet = &fleet.Fleet{
		Store: sqlstore.For[fleet.Reader, fleet.Writer](db), Documents: db, Places: a.Book, Passwords: passwords, Tasks: a.Containers, ParsePhone: sms.ParseNumber,
		Now: now, NewID: newID, AppURL: c.URL() + "/driver", PublicURL: c.URL(), Events: a.Events, Messages: texts,
		Invitations: &messaging.Invitations{Store: sqlstore.For[messaging.Reader, messaging.Writer](db), Policy: c.SMS.policy(), Now: now},
	}
	a.Positions = newPositionLoop(a, newID)
	if err := a.addWebhooks(ctx, newID); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := a.addUploads(ctx, newID, serve); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := a.addMessages(newID, texts); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a.Reports = &report.Reports{Store: sqlstore.With[report.Reader, report.Writer](db, withParts), CallingCode: sms.CallingCode, Now: now}
	addBoards(a)
	a.addJobs(newID, batches)
	a.addDispatches(newID)
	if a.Installation, err = newInstallation(a, streets, newID); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if a.assets, err = web.Built(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a.metrics = newMetrics(db, a.budget, a.trail, workMetrics{db: db, sender: a.Sender, texts: a.Texts, steps: &a.steps, now: now, log: log})
	return a, nil
}

// Handler serves every path of the server.
func (a *App) Handler() http.Handler {
	settings := edge.Settings{
		Now: a.Now, Log: a.Log, Receipts: a.Organizations, Address: a.clientIPs.resolve, Client: a.clientIPs.client, Ended: a.ended, Observe: a.metrics.observe,
		Budget: a.budget, Trail: a.trail,
	}
	people := accountServer(a, settings)
	public := &api.Server{
		Settings: settings, People: people, Roles: newRoles(a.Store), Keys: a.Keys, Organizations: a.Organizations, Admins: a.Admins, Book: a.Book, Fleet: a.Fleet, Tasks: a.Tasks, Containers: a.Containers, Batches: a.Batches,
		RoutePlans: a.RoutePlans, Routes: a.Routes, Dispatches: a.Dispatches, Replanner: a.Replanner, Fields: a.Fields, Webhooks: a.Webhooks, Uploads: a.Uploads, Pages: a.Pages, Vault: a.Organizations.Vault, More: withAuditLog(moreResources(a, people, settings), a.Store, a.Audit), Audit: recordIn(a.Audit), RateLimit: a.Config.RateLimit, Version: Version,
	}
	phones := &driverapi.Server{
		Settings: settings, Sessions: a.Sessions, Book: a.Book, Fleet: a.Fleet, Work: a.Work, Tracking: a.Tracking, Uploads: a.Uploads, Routes: a.Routes,
		Version: Version, Revoked: a.Keys.Revoked, Attempt: failuresIn(a.Audit),
	}
	recipients := &recipientapi.Tracking{Settings: settings, Pages: a.Pages, Uploads: a.Uploads, Routes: a.Routes}
	mux, docs, routed := http.NewServeMux(), settings.DocsHandler(func() edge.Site { return Docs(public.Spec(), phones.Spec()) }), public.Handler()
	mux.Handle("/docs", docs)
	mux.Handle("/docs/", docs)
	driver := web.Driver(a.assets, tileapi.Origin(a.tiles))
	mux.Handle("/driver", driver)
	mux.Handle("/driver/", driver)
	dashboard := web.Dashboard(a.assets, tileapi.Origin(a.tiles))
	mux.Handle("/dashboard", dashboard)
	mux.Handle("/dashboard/", dashboard)
	for base, handler := range map[string]http.Handler{driverapi.Base: phones.Handler(), accountapi.Base: people.Handler()} {
		mux.Handle(base, handler)
		mux.Handle(base+"/", handler)
	}
	mux.Handle(web.AssetBase, a.assets)
	tiles := (&tileapi.Server{Settings: settings, Tiles: a.tiles}).Handler()
	mux.Handle("/tiles.json", tiles)
	mux.Handle("/tiles/", tiles)
	mux.Handle(recipientapi.TrackBase+"/", recipients.Handler(web.NewTrack(a.assets, tileapi.Origin(a.tiles), a.Pages, a.Now, a.Log, sms.ShowNumber)))
	mux.Handle(recipientapi.SMSBase+"/", a.sms.Handler(settings))
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.HandleFunc("GET /favicon.svg", web.Icon)
	mux.HandleFunc("GET /favicon.ico", web.Icon)
	mux.Handle("/{$}", dashboard)
	mux.Handle("/", routed) // rejects the path like unknown paths of the API
	paged := edge.ErrorPages(mux, web.ErrorPage, "/api", driverapi.Base, accountapi.Base, "/healthz", "/readyz")
	return a.closeWhenDraining(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.Base || strings.HasPrefix(r.URL.Path, api.Base+"/") { // the API has its own router
			routed.ServeHTTP(w, r)
			return
		}
		paged.ServeHTTP(w, r)
	}))
}

// Start serves until Stop. It returns when the server is listening.
func (a *App) Start(ctx context.Context) error {
	public, err := new(net.ListenConfig).Listen(ctx, "tcp", a.Config.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", a.Config.Listen, err)
	}
	var private net.Listener
	if a.Config.AdminListen != "" {
		if private, err = new(net.ListenConfig).Listen(ctx, "tcp", a.Config.AdminListen); err != nil {
			return errors.Join(fmt.Errorf("listen on %s: %w", a.Config.AdminListen, err), public.Close())
		}
	}
	return a.Serve(ctx, public, private)
}

// Serve serves on listeners until Stop: requests of clients on public, and those of
// operators on private unless it is nil.
func (a *App) Serve(ctx context.Context, public, private net.Listener) error {
	a.listener = limitPerIP(public, a.Config.Connections)
	if err := a.Keys.Refresh(ctx); err != nil {
		return errors.Join(err, a.listener.Close())
	}
	if err := a.checkClock(ctx); err != nil {
		return errors.Join(err, a.listener.Close())
	}
	a.Maps.open()
	a.server = NewServer(a.Handler())
	a.server.ErrorLog = slog.NewLogLogger(a.Log.Handler(), slog.LevelDebug)
	a.serve(a.server, a.listener)
	if private != nil {
		a.admin = NewServer(a.metrics.handler())
		a.admin.WriteTimeout = 0 // a CPU profile takes as long as its request says
		a.serve(a.admin, private)
	}
	tuneGC()
	loopCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.stop = stop
	a.startLoops(loopCtx)
	return nil
}

// gcPercent is the growth of the heap between two collections, in percent. The live heap of a
// node is a few megabytes, and with the default of 100 a busy node would spend a tenth of its
// time collecting.
const gcPercent = 400

// tuneGC sets the garbage collector's target unless GOGC is set.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// Address returns the address that the server listens on.
func (a *App) Address() string { return a.listener.Addr().String() }

func (a *App) serve(server *http.Server, on net.Listener) {
	a.loops.Go(func() {
		err := server.Serve(on)
		if !errors.Is(err, http.ErrServerClosed) && !a.draining.Load() {
			a.failed <- fmt.Errorf("serve %s: %w", on.Addr(), err)
		}
	})
}

// The limits of every connection.
const (
	headerTime     = 5 * time.Second
	requestTime    = 15 * time.Second // for the header and the body
	responseTime   = 75 * time.Second
	idleTime       = time.Minute
	maxHeaderBytes = 16 << 10
)

// NewServer returns a server with the limits of docs/limits.md.
func NewServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		WriteTimeout:      responseTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaderBytes,
	}
}

// Stop first responds with "Connection: close" for drainFor, so that clients move
// to another node. Running requests then have shutdownTimeout to finish.
const (
	drainFor        = time.Second
	shutdownTimeout = 25 * time.Second
)

// savingTime is the time that a stopping server has to save the audit log and when keys were
// used. A database next to other programs may need more than a second.
const savingTime = 5 * time.Second

// Run serves the platform until ctx ends. Once it serves, it calls ready with a
// context that ends when the server begins to stop.
func Run(ctx context.Context, c Config, ready func(context.Context, *App) error) error {
	log := c.logger()
	limitMemory(log)
	a, err := New(ctx, c, log, Clock, true)
	if err != nil {
		return err
	}
	addThreads()
	if err := a.Start(ctx); err != nil {
		return errors.Join(err, a.Store.Close())
	}
	log.Info("serving", "address", a.Address(), "url", c.URL(), "engine", a.Store.Engine(), "version", Version)
	serving, end := context.WithCancel(ctx)
	defer end()
	err = ready(serving, a)
	if ctx.Err() != nil {
		err = nil // it was interrupted before it was ready
	}
	if err == nil {
		select {
		case <-ctx.Done():
			log.Info("stopping")
		case err = <-a.failed:
		}
	}
	end()
	return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
}

// Go runs fn in the background; Stop waits for it to return.
func (a *App) Go(fn func()) { a.loops.Go(fn) }

// Stop shuts the server down: it accepts no further connections, finishes the
// requests that arrived, ends background work and closes the database.
func (a *App) Stop(ctx context.Context) error {
	a.draining.Store(true)
	a.endStreams()
	var errs []error
	if a.server != nil {
		a.listener.Close()
		drained := time.NewTimer(drainFor)
		defer drained.Stop()
		select {
		case <-drained.C:
		case <-ctx.Done():
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if err := a.server.Shutdown(ending); err != nil {
			errs = append(errs, fmt.Errorf("stop server: %w", err), a.server.Close())
		}
	}
	if a.admin != nil {
		errs = append(errs, a.admin.Close())
	}
	if a.stop != nil {
		a.stop()
	}
	a.loops.Wait()
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), savingTime)
	defer cancel()
	errs = append(errs, a.Keys.SaveUse(saving), a.Audit.Flush(saving), a.Store.Close())
	return errors.Join(errs...)
}

// closeWhenDraining asks clients to close their connections while the server
// stops.
func (a *App) closeWhenDraining(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
