package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode/utf8"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

// MaxBody is the largest request body, in bytes.
const MaxBody = 1 << 20

// gate stands before every operation: it tells requests apart, lets callers in
// or not, and writes what the operation answers.
type gate struct {
	*Server
	base         string // the path it is mounted at
	authenticate func(context.Context, *http.Request) (lastmile.Principal, error)
	limiter      *limiter
	byAddress    bool // callers are told apart by where they are
	routes       *router
}

// Values of headers that every answer has, made once. They are put under the
// canonical form of the name, as http.Header.Set would.
var (
	noSniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
	typeJSON = []string{"application/json; charset=utf-8"}
)

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["X-Content-Type-Options"] = noSniff
	header["Cache-Control"] = noStore
	g.limiter.setHeaders(header)
	if err := crossOrigin.Check(r); err != nil {
		g.refuse(w, r, lastmile.Forbidden("requests from pages of other sites are not allowed"))
		return
	}
	path, ok := strings.CutPrefix(strings.TrimSuffix(r.URL.EscapedPath(), "/"), g.base)
	if !ok || (path != "" && path[0] != '/') {
		g.refuse(w, r, lastmile.NotFound("path", clip(r.URL.Path)))
		return
	}
	handler, allowed := g.routes.find(r, path)
	switch {
	case handler != nil:
		handler.ServeHTTP(w, r)
	case len(allowed) > 0:
		header.Set("Allow", strings.Join(allowed, ", "))
		g.refuse(w, r, lastmile.WrongMethod(clip(r.Method), clip(r.URL.Path)))
	default:
		g.refuse(w, r, lastmile.NotFound("path", clip(r.URL.Path)))
	}
}

// crossOrigin tells requests that a browser sends for a page of another site.
var crossOrigin = http.NewCrossOriginProtection()

// refuse answers a request that no route serves.
func (g *gate) refuse(w http.ResponseWriter, r *http.Request, err error) {
	requestID := newRequestID()
	w.Header().Set("X-Request-Id", requestID)
	status := g.fail(w, r, route{}, requestID, err)
	if g.Observe != nil {
		g.Observe("unknown", "other", status, 0)
	}
}

// open serves one operation.
func (g *gate) open(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Pattern = rt.path // for the log: paths themselves hold names and phone numbers
		start, requestID := g.Now(), newRequestID()
		w.Header().Set("X-Request-Id", requestID)
		status := g.serve(w, r, rt, requestID)
		if g.Observe != nil {
			g.Observe(rt.path, rt.method, status, g.Now().Sub(start))
		}
	})
}

func (g *gate) serve(w http.ResponseWriter, r *http.Request, rt route, requestID string) (status int) {
	defer func() {
		if p := recover(); p != nil {
			status = g.fail(w, r, rt, requestID, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	ctx := r.Context()
	c, err := g.admit(ctx, w, r, rt)
	if err != nil {
		return g.fail(w, r, rt, requestID, err)
	}
	if rt.stream != nil {
		if err := rt.stream(ctx, c, w); err != nil {
			return g.fail(w, r, rt, requestID, err)
		}
		return http.StatusOK
	}
	answer, err := rt.serve(ctx, c)
	if err != nil {
		return g.fail(w, r, rt, requestID, err)
	}
	ready, ok := answer.([]byte)
	if !ok && answer != nil {
		if ready, err = wire.Encode(answer); err != nil {
			return g.fail(w, r, rt, requestID, err)
		}
	}
	if rt.searches() && c.who.Receipt != nil {
		if err := g.Organizations.SaveReply(ctx, c.who, json.RawMessage(ready)); err != nil {
			return g.fail(w, r, rt, requestID, err)
		}
	}
	if g.Log.Enabled(ctx, slog.LevelDebug) { // the arguments cost more than the question
		g.Log.Debug("request answered", "request", requestID, "method", rt.method, "route", rt.path,
			"organization", c.who.Organization, "key", c.who.Key)
	}
	return write(w, rt.success(), ready)
}

// admit finds out who is asking and reads the body.
func (g *gate) admit(ctx context.Context, w http.ResponseWriter, r *http.Request, rt route) (*call, error) {
	var (
		who lastmile.Principal
		err error
	)
	if !rt.anybody {
		if who, err = g.authenticate(ctx, r); err != nil {
			return nil, err
		}
	}
	if who.MustSetPassword && !rt.invited {
		return nil, lastmile.Forbidden("set a password of your own first: POST %s/password", DriverBase).Because("mustSetPassword")
	}
	caller := string(who.Organization)
	if g.byAddress {
		caller = g.Address(r)
	}
	if err := g.limiter.take(w.Header(), caller); err != nil {
		return nil, err
	}
	if !isText(r.URL.Path) {
		return nil, lastmile.NotFound("path", clip(r.URL.Path))
	}
	c := &call{who: who, http: r}
	if r.URL.RawQuery != "" {
		if c.query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
			return nil, lastmile.Malformed("the query of the address cannot be read: percent-encode it")
		}
		maps.DeleteFunc(c.query, absent)
		if err := cmp.Or(checkQuery(c.query), rt.checkFlags(c.query)); err != nil {
			return nil, err
		}
	}
	if rt.body == nil && rt.method != http.MethodPost {
		return c, nil
	}
	rt.giveTime(w, g.Now())
	if c.body, err = readBody(w, r, rt.maxBody()); err != nil {
		return nil, err
	}
	if rt.method == http.MethodPost {
		err = g.once(ctx, c)
	}
	return c, err
}

// once gives the principal a receipt when the request has an idempotency key,
// and ends a request that was done before.
func (g *gate) once(ctx context.Context, c *call) error {
	keys := c.http.Header.Values("Idempotency-Key")
	if len(keys) == 0 || c.who.Organization == "" {
		return nil
	}
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > lastmile.MaxReceiptKey || !printable(key) {
		return lastmile.Invalid("the Idempotency-Key header must be one value of 1 to %d printable characters", lastmile.MaxReceiptKey)
	}
	sum := sha256.Sum256(c.body)
	c.who.Receipt = &lastmile.Receipt{
		Organization: c.who.Organization, Key: key, Method: c.http.Method, Path: strings.TrimSuffix(c.http.URL.Path, "/"),
		BodyHash: hex.EncodeToString(sum[:]), Created: g.Now(),
	}
	return g.Organizations.CheckReplay(ctx, c.who)
}

// basicKey takes the API key out of an Authorization header as clients really
// send it: with a colon and any password, or with neither.
func basicKey(header string) string {
	scheme, encoded, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Basic") {
		return ""
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(encoded), "="))
	if err != nil {
		return ""
	}
	key, _, _ := strings.Cut(string(decoded), ":")
	return key
}

// maxUnwanted is how much is read of a body that is too large, and thrown away:
// most clients look for the answer only when they have sent all of it.
const maxUnwanted = 32 << 20

func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, lastmile.Invalid("the request body must be sent as it is, without Content-Encoding, not as %q", clip(coding))
	}
	if r.ContentLength > most {
		if r.ContentLength <= maxUnwanted && r.Header.Get("Expect") == "" { // else the client waits to hear whether to send it
			_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength)
		}
		return nil, tooLarge(most)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			_, _ = io.CopyN(io.Discard, r.Body, maxUnwanted)
			return nil, tooLarge(most)
		}
		return nil, lastmile.Malformed("the request body ended too early")
	}
	return body, nil
}

func tooLarge(most int64) error {
	return lastmile.TooLarge("the request body is larger than %d bytes", most)
}

// isText tells whether a database can hold s: PostgreSQL takes neither NUL nor
// what is not UTF-8.
func isText(s string) bool {
	return !strings.ContainsRune(s, 0) && utf8.ValidString(s)
}

// absent tells whether a parameter of the query has only what languages write
// for a value that is not there. Clients put it in when they have none.
func absent(_ string, values []string) bool {
	return len(values) == 1 && (values[0] == "undefined" || values[0] == "null" || values[0] == "None")
}

// checkQuery refuses what no database can hold.
func checkQuery(query url.Values) error {
	for name, values := range query {
		for _, value := range values {
			if !isText(value) {
				return lastmile.Invalid("%s has characters that are not text", clip(name))
			}
		}
	}
	return nil
}

func printable(key string) bool {
	for _, c := range []byte(key) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// write sends an answer that is ready.
func write(w http.ResponseWriter, status int, body []byte) int {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return status
	}
	header := w.Header()
	header["Content-Type"] = typeJSON
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	//nolint:errcheck // the client is gone; there is nobody to tell
	w.Write(body)
	return status
}

// newRequestID makes a random UUID (version 4).
func newRequestID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	var text [36]byte
	hex.Encode(text[:8], b[:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:], b[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
