package edge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"dray/internal/codec"
	"dray/internal/spec"
)

// Limits of request bodies, in bytes.
const (
	MaxBody = 1 << 20
	// MaxBatchBody is for batches: 500 tasks with the longest possible notes are
	// 20 MB of notes alone.
	MaxBatchBody = 32 << 20
	// MaxPublicBody is for requests of callers without credentials.
	MaxPublicBody = 64 << 10
)

// Route is one operation of an API: its handler, and its description in the OpenAPI
// document.
type Route struct {
	spec.Operation
	serve    handler
	stream   Streamer
	encode   func(result any) ([]byte, error)                                     // returns the reply that a receipt keeps
	refer    func(result any) ([]byte, error)                                     // returns the reference that a receipt keeps if the reply is too large
	rebuild  func(ctx context.Context, c *Call, reference []byte) ([]byte, error) // returns the reply from such a reference
	vault    Vault                                                                // encrypts what a receipt keeps; nil for no encryption
	readOnly bool                                                                 // changes nothing, so that no reply is saved

	find func(ctx context.Context, c *Call) ([]string, error)               // returns the ids of a list that is sent in parts
	show func(ctx context.Context, c *Call, ids []string) ([][]byte, error) // returns some records of such a list

	temporaryPassword bool
	semicolons        bool   // values in the query may have semicolons that are not encoded
	lists             bool   // the response has a list that can be long
	divided           string // how to read a response in parts that is too large; the default if empty
	maxBody           int64  // the default when zero
}

// handler serves a request and returns the encoded reply.
type handler func(ctx context.Context, c *Call) ([]byte, error)

// Streamer writes a response piece by piece. It returns an error only before it
// has written anything.
type Streamer func(ctx context.Context, c *Call, w http.ResponseWriter) error

// Get makes a route that reads something.
func Get[Reply any](path, summary string, serve func(context.Context, *Call) (Reply, error), query ...spec.Parameter) Route {
	rt := newRoute[Reply](http.MethodGet, path, summary)
	rt.Query = query
	rt.serve = func(ctx context.Context, c *Call) ([]byte, error) { return encoded(serve(ctx, c)) }
	return rt
}

// Put makes a route that changes something.
func Put[Body, Reply any](path, summary string, serve func(context.Context, *Call, Body) (Reply, error)) Route {
	rt := newRoute[Reply](http.MethodPut, path, summary)
	return withBody(rt, func(ctx context.Context, c *Call, body Body) ([]byte, error) { return encoded(serve(ctx, c, body)) })
}

// Post makes a route whose result is not saved under the request's idempotency key; see
// Create.
func Post[Body, Reply any](path, summary string, serve func(context.Context, *Call, Body) (Reply, error)) Route {
	rt := newRoute[Reply](http.MethodPost, path, summary)
	return withBody(rt, func(ctx context.Context, c *Call, body Body) ([]byte, error) { return encoded(serve(ctx, c, body)) })
}

// Create makes a route of a use case that saves its result under the request's
// idempotency key, in the transaction of the change: toWire makes the response
// and what is saved, so that the two are the same.
func Create[Body, Result, Reply any](
	path, summary string, serve func(context.Context, *Call, Body) (Result, error), toWire func(Result) Reply,
) Route {
	rt := newRoute[Reply](http.MethodPost, path, summary)
	rt.encode = func(result any) ([]byte, error) {
		made, ok := result.(Result)
		if !ok {
			return nil, fmt.Errorf("%s %s: the reply is a %T, want %T", rt.Method, rt.Path, result, made)
		}
		return codec.Marshal(toWire(made))
	}
	return withBody(rt, func(ctx context.Context, c *Call, body Body) ([]byte, error) {
		made, err := serve(ctx, c, body)
		if err != nil {
			return nil, err
		}
		return codec.Marshal(toWire(made))
	})
}

// Sealed makes a Create route whose reply contains a secret: its receipt is encrypted.
func (rt Route) Sealed(v Vault) Route {
	rt.vault = v
	return rt
}

// Rebuild makes a Create route whose reply can be larger than MaxReceipt: in that
// case the receipt keeps the reference that refer returns, and the reply to a repeated
// request is rebuilt from the reference and the body.
func Rebuild[Body, Result, Reference, Reply any](
	rt Route, refer func(Result) Reference, rebuild func(context.Context, *Call, Body, Reference) (Reply, error),
) Route {
	rt.refer = func(result any) ([]byte, error) {
		made, ok := result.(Result)
		if !ok {
			return nil, fmt.Errorf("%s %s: the reply is a %T, want %T", rt.Method, rt.Path, result, made)
		}
		return codec.Marshal(refer(made))
	}
	rt.rebuild = func(ctx context.Context, c *Call, kept []byte) ([]byte, error) {
		var reference Reference
		if err := json.Unmarshal(kept, &reference); err != nil {
			return nil, fmt.Errorf("read the receipt of %s %s: %w", rt.Method, rt.Path, err)
		}
		var body Body
		if err := codec.Decode(c.Body, &body); err != nil {
			return nil, err
		}
		return encoded(rebuild(ctx, c, body, reference))
	}
	return rt
}

// Search makes a POST route that changes nothing. No reply is saved: a repeated
// request is performed again.
func Search[Body, Reply any](path, summary string, serve func(context.Context, *Call, Body) (Reply, error)) Route {
	rt := Post(path, summary, serve)
	rt.readOnly = true
	return rt
}

// Do makes a POST route whose response is empty.
func Do[Body any](path, summary string, serve func(context.Context, *Call, Body) error) Route {
	rt := newRoute[nothing](http.MethodPost, path, summary)
	return withBody(rt, func(ctx context.Context, c *Call, body Body) ([]byte, error) { return nil, serve(ctx, c, body) })
}

// Send makes a POST route that takes a body which is not JSON, or none, of the
// given media types. The body is in Call.Body.
func Send[Reply any](path, summary string, serve func(context.Context, *Call) (Reply, error), takes ...string) Route {
	rt := newRoute[Reply](http.MethodPost, path, summary)
	rt.Takes = takes
	rt.serve = func(ctx context.Context, c *Call) ([]byte, error) { return encoded(serve(ctx, c)) }
	return rt
}

// PutBytes makes a PUT route that takes a body which is not JSON, of the given media
// types. The body is in Call.Body.
func PutBytes[Reply any](path, summary string, serve func(context.Context, *Call) (Reply, error), takes ...string) Route {
	rt := Send(path, summary, serve, takes...)
	rt.Method = http.MethodPut
	return rt
}

// SendOnly makes a POST route that takes no JSON and whose response is empty.
func SendOnly(path, summary string, serve func(context.Context, *Call) error) Route {
	rt := newRoute[nothing](http.MethodPost, path, summary)
	rt.serve = func(ctx context.Context, c *Call) ([]byte, error) { return nil, serve(ctx, c) }
	return rt
}

// Delete makes a route that deletes something.
func Delete(path, summary string, serve func(context.Context, *Call) error) Route {
	rt := newRoute[nothing](http.MethodDelete, path, summary)
	rt.serve = func(ctx context.Context, c *Call) ([]byte, error) { return nil, serve(ctx, c) }
	return rt
}

// DeleteWith makes a route that deletes what its body names.
func DeleteWith[Body any](path, summary string, serve func(context.Context, *Call, Body) error) Route {
	rt := newRoute[nothing](http.MethodDelete, path, summary)
	return withBody(rt, func(ctx context.Context, c *Call, body Body) ([]byte, error) { return nil, serve(ctx, c, body) })
}

// Follow makes a GET route whose response is a stream of one of the given media types.
func Follow(path, summary string, serve Streamer, media ...string) Route {
	rt := newRoute[nothing](http.MethodGet, path, summary)
	rt.Sends, rt.stream = media, serve
	return rt
}

// Receive makes a POST route that writes its own response.
func Receive(path string, serve Streamer) Route {
	rt := newRoute[nothing](http.MethodPost, path, "")
	rt.stream = serve
	return rt
}

// nothing is the reply of a route whose response is empty.
type nothing struct{}

func newRoute[Reply any](method, path, summary string) Route {
	rt := Route{Operation: spec.Operation{Method: method, Path: path, Summary: summary}}
	if reply := reflect.TypeFor[Reply](); reply != reflect.TypeFor[nothing]() {
		rt.Reply = reply
	}
	return rt
}

func withBody[Body any](rt Route, serve func(context.Context, *Call, Body) ([]byte, error)) Route {
	rt.Body = reflect.TypeFor[Body]()
	rt.serve = func(ctx context.Context, c *Call) ([]byte, error) {
		var body Body
		if err := codec.Decode(c.Body, &body); err != nil {
			return nil, err
		}
		return serve(ctx, c, body)
	}
	return rt
}

func encoded[Reply any](reply Reply, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return codec.Marshal(reply)
}

// Describe adds the description of the operation.
func (rt Route) Describe(text string) Route {
	rt.Description = text
	return rt
}

// Example adds a request body for the OpenAPI spec, in JSON.
func (rt Route) Example(body string) Route {
	rt.Operation.Example = body
	return rt
}

// WithQuery adds query parameters.
func (rt Route) WithQuery(query ...spec.Parameter) Route {
	rt.Query = query
	return rt
}

// Resumes says that a stream continues after the event that the Last-Event-ID header names.
// Sample is a part of the stream.
func (rt Route) Resumes(description, sample string) Route {
	rt.Header = []spec.Parameter{{Name: "Last-Event-ID", Description: description}}
	rt.Operation.Sample = sample
	return rt
}

// Semicolons makes a route accept values in the query that are separated by semicolons.
func (rt Route) Semicolons() Route {
	rt.semicolons = true
	return rt
}

// NoContent makes a route respond with 204.
func (rt Route) NoContent() Route {
	rt.Status = http.StatusNoContent
	return rt
}

// Public makes a route serve callers without credentials.
func (rt Route) Public() Route {
	rt.Operation.Public = true
	return rt
}

// AllowTemporaryPassword makes a route serve workers who have not set a password
// yet.
func (rt Route) AllowTemporaryPassword() Route {
	rt.temporaryPassword = true
	return rt
}

// Finds makes the OpenAPI spec say that the record named by the body may not exist.
func (rt Route) Finds() Route {
	rt.FindsRecords = true
	return rt
}

// Limit sets the size of the largest body, in bytes.
func (rt Route) Limit(bytes int64) Route {
	rt.maxBody = bytes
	return rt
}

// Lists says that the response is one record with a list that can be long, such as
// the tasks of a team. Usually it is short.
func (rt Route) Lists() Route {
	rt.lists = true
	return rt
}

// Divided says how a caller can read the response in parts if the server has too little memory
// for it. The text continues the error.
func (rt Route) Divided(advice string) Route {
	rt.divided = advice
	return rt
}

// Bulk makes a route accept a body as large as that of a batch, and respond with the
// errors of batches, whose shape differs from all others (API contract, "POST
// /tasks/batch-async").
func (rt Route) Bulk() Route {
	rt.BatchErrors, rt.maxBody = true, MaxBatchBody
	return rt
}

// Tagged sets the tag of routes, which names their resource.
func Tagged(tag string, routes ...Route) []Route {
	for i := range routes {
		routes[i].Tag = tag
	}
	return routes
}

// reads reports whether the route changes nothing.
func (rt Route) reads() bool { return rt.readOnly || rt.Method == http.MethodGet }

// single reports whether the route reads one record, named by its collection and
// its id, that cannot be long.
func (rt Route) single() bool { return rt.record() && !rt.lists }

// record reports whether the route reads one record.
func (rt Route) record() bool {
	return strings.HasSuffix(rt.Path, "/{id}") && strings.Count(rt.Path, "/") == 2
}

// status returns the status of a response without an error.
func (rt Route) status() int { return cmp.Or(rt.Status, http.StatusOK) }

// bodyLimit returns the size of the largest body that the route accepts.
func (rt Route) bodyLimit() int64 {
	switch {
	case rt.maxBody > 0:
		return rt.maxBody
	case rt.Operation.Public:
		return MaxPublicBody
	}
	return MaxBody
}

// uploadTime is the maximum time in which the body of a batch, or an image, must arrive.
const uploadTime = time.Minute

// extendDeadline gives a body that may be large more time to arrive.
func (rt Route) extendDeadline(w http.ResponseWriter, now time.Time) {
	if rt.bodyLimit() > MaxBody {
		//nolint:errcheck // then the limit for all bodies holds
		http.NewResponseController(w).SetReadDeadline(now.Add(uploadTime))
	}
}
