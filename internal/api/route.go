package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

// route is one operation of the interface. What the document says of it stands
// here too, so that the two cannot part.
type route struct {
	method, path string
	tag          string // the resource
	summary      string
	query        []parameter
	body         any // a value of the type that is decoded, for the document
	reply        any // a value of the type that is shown; nil when the answer is empty
	status       int // of the answer; 200 when zero
	serve        handler
	anybody      bool     // needs no key
	invited      bool     // may be asked by a worker who has no password of her own yet
	stream       streamer // instead of serve, for answers that have no end
	batch        bool     // takes many records: see bulk
	media        []string // types of what is answered instead of JSON
	takes        []string // types of what is sent instead of JSON
	largest      int64    // bytes of a body; MaxBody when zero
}

// handler answers a request: with a value of the domain or of package wire, with
// []byte that is ready to send, or with nil for an empty answer.
type handler func(ctx context.Context, c *call) (any, error)

// streamer writes an answer piece by piece. It returns an error only before it
// has written anything.
type streamer func(ctx context.Context, c *call, w http.ResponseWriter) error

// parameter is a query parameter, for the document.
type parameter struct {
	name, about string
	required    bool
	kind        string // JSON type; string when empty
}

// call is a request that has passed the gate.
type call struct {
	who   lastmile.Principal
	http  *http.Request
	body  []byte
	query url.Values
}

// get, post, put and remove make routes of the four methods.
func get(path, summary string, reply any, serve handler, query ...parameter) route {
	return route{method: http.MethodGet, path: path, summary: summary, reply: reply, serve: serve, query: query}
}

func post[B any](path, summary string, reply any, serve func(context.Context, *call, B) (any, error)) route {
	return withBody(http.MethodPost, path, summary, reply, serve)
}

func put[B any](path, summary string, reply any, serve func(context.Context, *call, B) (any, error)) route {
	return withBody(http.MethodPut, path, summary, reply, serve)
}

func remove(path, summary string, serve handler) route {
	return route{method: http.MethodDelete, path: path, summary: summary, serve: serve}
}

// removeWith makes a route that deletes what its body names.
func removeWith[B any](path, summary string, serve func(context.Context, *call, B) (any, error)) route {
	return withBody(http.MethodDelete, path, summary, nil, serve)
}

// silent makes a route answer that there is nothing to say.
func (rt route) silent() route {
	rt.status = http.StatusNoContent
	return rt
}

// success is the status of the answer.
func (rt route) success() int { return cmp.Or(rt.status, http.StatusOK) }

// withBody makes a route whose body is decoded as a B, and documented as one.
func withBody[B any](method, path, summary string, reply any, serve func(context.Context, *call, B) (any, error)) route {
	var sample B
	return route{
		method: method, path: path, summary: summary, body: sample, reply: reply,
		serve: func(ctx context.Context, c *call) (any, error) {
			var body B
			if err := wire.Decode(c.body, &body); err != nil {
				return nil, err
			}
			return serve(ctx, c, body)
		},
	}
}

// tagged names the resource of some routes.
func tagged(tag string, routes ...route) []route {
	for i := range routes {
		routes[i].tag = tag
	}
	return routes
}

// id is the record that the path names.
func (c *call) id() string { return c.http.PathValue("id") }

// list is a query parameter of several values: one comma-separated text, which
// some clients put in brackets or separate with spaces. Others send the parameter
// several times, as name, as name[], or as name[0], name[1] and so on.
func (c *call) list(name string) []string {
	sent := slices.Concat(c.query[name], c.query[name+"[]"])
	for i := 0; c.query.Has(fmt.Sprintf("%s[%d]", name, i)); i++ {
		sent = append(sent, c.query[fmt.Sprintf("%s[%d]", name, i)]...)
	}
	text := strings.NewReplacer("[", "", "]", "", " ", ",").Replace(strings.Join(sent, ","))
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// number is a numeric query parameter. Clients send floats and exponents where
// whole numbers are meant.
func (c *call) number(name string) (n float64, sent bool, err error) {
	text := c.query.Get(name)
	if text == "" {
		return 0, false, nil
	}
	n, err = strconv.ParseFloat(strings.ReplaceAll(text, " ", "+"), 64) // a plus that was not encoded
	if err != nil || n-n != 0 {
		return 0, true, lastmile.Malformed("%s must be a number, not %q", name, clip(text))
	}
	return n, true, nil
}

// flag is a boolean query parameter.
func (c *call) flag(name string) bool {
	return strings.EqualFold(c.query.Get(name), "true") || c.query.Get(name) == "1"
}

// choice is a boolean query parameter of three meanings; nil when it was not
// sent.
func (c *call) choice(name string) *bool {
	if c.query.Get(name) == "" {
		return nil
	}
	chosen := c.flag(name)
	return &chosen
}

// checkFlags refuses booleans in a query that are none.
func (rt route) checkFlags(query url.Values) error {
	for _, p := range rt.query {
		if p.kind != "boolean" {
			continue
		}
		switch text := query.Get(p.name); strings.ToLower(text) {
		case "", "true", "false", "1", "0":
		default:
			return lastmile.Malformed("%s must be true or false, not %q", p.name, clip(text))
		}
	}
	return nil
}

// clip shortens what a client sent for a message.
func clip(text string) string {
	const most = 64
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// metadataBody is the body of a metadata search.
type metadataBody = wire.Metadata

// searches tells whether the route only looks something up.
func (rt route) searches() bool {
	switch rt.body.(type) {
	case metadataBody, wire.MarketplaceBody:
		return true
	}
	return false
}

// searched checks the entries of a metadata search.
func searched(entries metadataBody) (lastmile.Metadata, error) {
	if len(entries) == 0 {
		return nil, lastmile.Malformed("the request body must be an array of one or more metadata entries, each with name, type and value")
	}
	return lastmile.NewMetadata("metadata", entries.Domain())
}
