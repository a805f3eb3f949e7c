package edge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/role"
)

// Settings are what the APIs of a server have in common.
type Settings struct {
	Now      func() time.Time
	Log      *slog.Logger
	Receipts Receipts

	// Address returns the address that a request comes from, to limit the rate;
	// empty when it is unknown.
	Address func(*http.Request) string
	// Client returns the whole address of the client, where Address may return its
	// network; empty when it is unknown. It may be nil.
	Client func(*http.Request) string
	// Budget is the memory that requests share; nil for no limit.
	Budget *Budget
	// Trail records denied requests; it may be nil.
	Trail *Trail
	// Ended is closed when streams have to end.
	Ended <-chan struct{}
	// Observe is called for every response; route is the pattern of the path.
	Observe func(route, method string, status int, took time.Duration)
}

// Receipts keeps the replies to requests with an idempotency key.
type Receipts interface {
	// CheckReplay returns a *lastmile.Replay if the request was served before.
	CheckReplay(ctx context.Context, who lastmile.Principal) error
}

// Access defines who may call an API, and how often.
type Access struct {
	// Authenticate finds the caller of a request to a route that is not public.
	Authenticate func(context.Context, *http.Request) (lastmile.Principal, error)
	RateLimit    float64 // requests a second; 0 for no limit
	ByAddress    bool    // each address is limited, not each organization
	// Revoked returns a channel that is closed when credentials are revoked next.
	// Then the callers of streams are authenticated again.
	Revoked func() <-chan struct{}
	Streams int // maximum that a worker, or an organization, follows at the same time; 0 for no limit
	// Rules define what administrators may do on each route, by its method and path. A
	// route without a rule is for super administrators. Callers without a role are
	// not checked.
	Rules map[string]role.Rule
	// Scope denies an administrator a request that names records of other teams.
	Scope func(ctx context.Context, who lastmile.Principal, named []role.Named) error
	// Audit records requests that changed something or were denied; it may be nil.
	Audit func(ctx context.Context, s Served)
	// SetPassword is the path at which workers with a temporary password set
	// their own.
	SetPassword string
}

// Mux serves the routes of one API: it authorizes each request and writes the
// response.
type Mux struct {
	Settings
	access  Access
	base    string // the path it is mounted at
	limiter *limiter
	routes  router
	changes rate.Turns // one large change for each organization at a time
	streams rate.Slots // open streams of each worker or organization
}

// withoutCredentials is the caller of public requests. They share the database as if they had
// one caller, whatever their addresses. Credentials are verified on behalf of the server
// itself, because the caller is not known before. An address with too many denied requests
// is a caller of its own in both cases; see Trail.caller.
const withoutCredentials = "anonymous"

// NewMux returns a handler of routes, to be mounted at base.
func NewMux(settings Settings, base string, access Access, routes ...Route) *Mux {
	m := &Mux{Settings: settings, access: access, base: base, limiter: newLimiter(access.RateLimit, settings.Now), streams: rate.Slots{Most: access.Streams}}
	for _, rt := range routes {
		m.routes.add(rt.Method, rt.Path, m.endpoint(rt))
	}
	return m
}

// Handle adds a handler to which every caller has access.
func (m *Mux) Handle(method, path string, handler http.Handler) {
	m.routes.add(method, path, handler)
}

// Values of headers that every response has, made once. They are stored under
// the canonical form of the name, as http.Header.Set would.
var (
	noSniff  = []string{"nosniff"}
	noFrame  = []string{"DENY"}
	noStore  = []string{"no-store"}
	typeJSON = []string{"application/json; charset=utf-8"}
)

// crossOrigin detects requests that a browser sends for a page of another site.
var crossOrigin = http.NewCrossOriginProtection()

// ServeHTTP implements http.Handler.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["X-Content-Type-Options"] = noSniff
	header["X-Frame-Options"] = noFrame
	header["Cache-Control"] = noStore
	m.limiter.setHeaders(header)
	if err := crossOrigin.Check(r); err != nil {
		m.reject(w, r, lastmile.Forbidden("requests from pages of other sites are not allowed"))
		return
	}
	path, ok := strings.CutPrefix(strings.TrimSuffix(r.URL.EscapedPath(), "/"), m.base)
	if !ok || (path != "" && path[0] != '/') {
		m.reject(w, r, lastmile.NotFound("path", Clip(r.URL.Path)))
		return
	}
	handler, allowed := m.routes.find(r, path)
	switch {
	case handler != nil:
		handler.ServeHTTP(w, r)
	case len(allowed) > 0:
		header.Set("Allow", strings.Join(allowed, ", "))
		m.reject(w, r, wrongMethod(Clip(r.Method), Clip(r.URL.Path)))
	default:
		m.reject(w, r, lastmile.NotFound("path", Clip(r.URL.Path)))
	}
}

// Limited wraps a handler that is no route with the rate limit of the API. Its requests share
// the database like those to public routes.
func (m *Mux) Limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := m.address(r)
		if err := m.limiter.take(w.Header(), address); err != nil {
			m.reject(w, r, err)
			return
		}
		caller := m.Trail.caller(address, withoutCredentials)
		next.ServeHTTP(w, r.WithContext(lastmile.WithCaller(r.Context(), caller)))
	})
}

// address returns the address that a request comes from; empty when it is unknown.
func (m *Mux) address(r *http.Request) string {
	if m.Address == nil {
		return ""
	}
	return m.Address(r)
}

// reject responds to a request that no route serves.
func (m *Mux) reject(w http.ResponseWriter, r *http.Request, err error) {
	requestID := newRequestID()
	w.Header().Set("X-Request-Id", requestID)
	status := m.respondError(w, r, Route{}, requestID, err)
	if m.Observe != nil {
		m.Observe("unknown", "other", status, 0)
	}
}

// endpoint serves one operation.
func (m *Mux) endpoint(rt Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Pattern = rt.Path // for the log: paths themselves contain names and phone numbers
		start, requestID := m.Now(), newRequestID()
		w.Header().Set("X-Request-Id", requestID)
		status := m.serve(w, r, rt, requestID)
		if m.Observe != nil {
			m.Observe(rt.Path, rt.Method, status, m.Now().Sub(start))
		}
		if status == statusAborted {
			panic(http.ErrAbortHandler) //nolint:forbidigo // the only way to make the server close the connection
		}
	})
}

// statusAborted is the status in the metrics of a response that ended early, or for which
// the client did not wait.
const statusAborted = 499

func (m *Mux) serve(w http.ResponseWriter, r *http.Request, rt Route, requestID string) (status int) {
	defer func() {
		if p := recover(); p != nil {
			status = m.respondError(w, r, rt, requestID, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	c := &Call{HTTP: r, header: w.Header(), hold: hold{budget: m.Budget}, divided: rt.divided}
	defer c.hold.force(0)
	reply, err := m.handle(r.Context(), w, c, rt, requestID)
	if before, ok := errors.AsType[*lastmile.Replay](err); ok {
		if reply, err = rt.replay(r.Context(), c, before.Reply); err == nil {
			w.Header().Set("Idempotent-Replayed", "true")
			c.hold.force(int64(len(reply)))
			return write(w, r, http.StatusOK, reply)
		}
	}
	m.audit(r.Context(), c, rt, requestID, reply, err)
	switch {
	case errors.Is(err, errAborted):
		return statusAborted
	case err != nil:
		return m.respondError(w, r, rt, requestID, err)
	case rt.stream != nil, rt.show != nil:
		return rt.status()
	}
	if m.Log.Enabled(r.Context(), slog.LevelDebug) { // building the arguments costs more than asking
		m.Log.Debug("request served", "request", requestID, "method", rt.Method, "route", rt.Path,
			"organization", c.Who.Organization, "key", c.Who.Author())
	}
	return write(w, r, rt.status(), reply)
}

// handle authorizes a request and makes the response, or writes it when it is a stream
// or a long list. From then on the request holds memory for the response, and no longer
// for its body.
func (m *Mux) handle(ctx context.Context, w http.ResponseWriter, c *Call, rt Route, requestID string) (reply []byte, err error) {
	unverified := m.Trail.caller(m.address(c.HTTP), "")
	if !rt.Operation.Public {
		if c.Who, err = m.access.Authenticate(lastmile.WithCaller(ctx, unverified), c.HTTP); err != nil {
			return nil, err
		}
	}
	ctx = lastmile.WithCaller(ctx, cmp.Or(string(c.Who.Organization), unverified, withoutCredentials))
	if err := m.authorize(ctx, w, c, rt); err != nil {
		return nil, err
	}
	if rt.stream != nil {
		return nil, m.follow(ctx, w, c, rt)
	}
	if rt.show != nil {
		return nil, m.sendList(ctx, w, c, rt, requestID)
	}
	if rt.reads() {
		return m.read(ctx, c, rt)
	}
	return m.change(ctx, c, rt)
}

// change serves a request that may change something. The large requests of an
// organization take turns, so that the writes of others wait for at most one of them.
func (m *Mux) change(ctx context.Context, c *Call, rt Route) (reply []byte, err error) {
	of, long, pause := list{c.Who.Organization, rt.Method + rt.Path + c.ID()}, false, time.Duration(0)
	if rt.lists {
		long = m.Budget.known(of, m.Now()) > largeList
	}
	if long || rt.Body != nil && len(c.Body) > largeBody {
		end, err := m.changes.Request(ctx, c.Who.Organization)
		if err != nil {
			return nil, err
		}
		defer func() { rate.After(pause, end) }()
	}
	reply, err = rt.serve(ctx, c)
	if bytes := int64(len(reply)) * listWeight; long || rt.lists && bytes > largeList {
		pause = pauseAfter(bytes)
		m.Budget.remember(of, bytes, m.Now())
	}
	if err == nil {
		c.Body = nil // from now on the request holds memory for its response only
		c.hold.force(int64(len(reply)))
	}
	return reply, err
}

// read serves a request that changes nothing. The rows of a list are counted, and
// a list waits until there is as much memory as it took last time. The large lists of
// an organization take turns.
func (m *Mux) read(ctx context.Context, c *Call, rt Route) (reply []byte, err error) {
	if rt.single() {
		reply, err = rt.serve(ctx, c)
	} else {
		of := list{c.Who.Organization, rt.Path}
		bytes := m.Budget.expected(of, m.Now())
		if rt.record() {
			bytes = m.Budget.known(of, m.Now())
		}
		if bytes > largeList {
			end, err := m.Budget.listTurn(ctx, c.Who.Organization, false)
			if err != nil {
				return nil, err
			}
			defer func() { end(pauseAfter(c.read)) }()
		}
		if bytes > UncountedBytes {
			c.hold.address = m.address(c.HTTP)
			if err := c.hold.await(ctx, max(bytes, c.hold.bytes)); err != nil {
				return nil, err
			}
		}
		end, wait := m.Budget.share(ctx, m.Budget.isLarge(of, m.Now()))
		if wait != nil {
			return nil, wait
		}
		defer end()
		reply, err = rt.serve(lastmile.WithMeter(ctx, c), c)
		m.Budget.remember(of, max(c.read*readWeight, int64(len(reply))), m.Now())
	}
	if err == nil {
		c.Body = nil
		err = c.Hold(len(reply))
	}
	return reply, err
}

// authorize applies the rate limit, checks the rights of the caller and reads the body.
func (m *Mux) authorize(ctx context.Context, w http.ResponseWriter, c *Call, rt Route) (err error) {
	r := c.HTTP
	if c.Who.MustSetPassword && !rt.temporaryPassword {
		return lastmile.Forbidden("set a password of your own first: POST %s", m.access.SetPassword).Because("mustSetPassword")
	}
	caller := string(c.Who.Organization)
	if m.access.ByAddress {
		caller = m.address(r)
	}
	if err := m.limiter.take(w.Header(), caller); err != nil {
		return err
	}
	if c.Who.Admin != "" {
		if err := m.checkRole(c, rt); err != nil {
			return err
		}
	}
	if !isText(r.URL.Path) {
		return lastmile.NotFound("path", Clip(r.URL.Path))
	}
	c.hold.organization = string(c.Who.Organization)
	if r.URL.RawQuery != "" {
		raw := r.URL.RawQuery
		if rt.semicolons { // in a value, as URLs are defined today; Go rejects them
			raw = strings.ReplaceAll(raw, ";", "%3B")
		}
		if c.Query, err = url.ParseQuery(raw); err != nil {
			return lastmile.Malformed("the query of the address cannot be read: percent-encode it")
		}
		maps.DeleteFunc(c.Query, absent)
		if err := cmp.Or(CheckQuery(c.Query), rt.checkFlags(c.Query)); err != nil {
			return err
		}
	}
	if rt.Body == nil && len(rt.Takes) == 0 && rt.Method != http.MethodPost {
		return m.checkScope(ctx, c, rt)
	}
	rt.extendDeadline(w, m.Now())
	if err := m.readBody(ctx, w, c, rt); err != nil {
		return err
	}
	if err := m.checkScope(ctx, c, rt); err != nil {
		return err
	}
	if rt.Method == http.MethodPost {
		err = m.checkReplay(ctx, c, rt)
	}
	return err
}

// checkReplay gives the principal a receipt when the request has an idempotency
// key, and ends a request that was served before.
func (m *Mux) checkReplay(ctx context.Context, c *Call, rt Route) error {
	keys := c.HTTP.Header.Values("Idempotency-Key")
	if len(keys) == 0 || c.Who.Organization == "" {
		return nil
	}
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > lastmile.MaxReceiptKey || !printable(key) {
		return lastmile.Invalid("the Idempotency-Key header must be one value of 1 to %d printable characters", lastmile.MaxReceiptKey)
	}
	if rt.readOnly { // it may be performed again, and a response can be large
		return nil
	}
	body := c.Body
	switch string(bytes.TrimSpace(body)) {
	case "", "null": // the same for codec.Decode
		body = nil
	}
	sum := sha256.Sum256(body)
	if len(c.Query) > 0 {
		sum = sha256.Sum256(append(sum[:], c.Query.Encode()...))
	}
	c.Who.Receipt = &lastmile.Receipt{
		Organization: c.Who.Organization, Key: key, Method: c.HTTP.Method, Path: strings.TrimSuffix(c.HTTP.URL.Path, "/"),
		BodyHash: hex.EncodeToString(sum[:]), Created: m.Now(),
		Encode: func(result any) ([]byte, error) { return rt.encodeReply(c.Who.Organization, result) },
	}
	return m.Receipts.CheckReplay(ctx, c.Who)
}
