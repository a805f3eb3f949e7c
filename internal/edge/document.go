package edge

import (
	"net/http"
	"reflect"
	"sync"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/spec"
)

// The parts of an API's description, so that APIs need not import package spec.
type (
	// API describes an API: see Document.
	API = spec.API
	// Security is how callers are authenticated.
	Security = spec.Security
	// Tag is a group of operations.
	Tag = spec.Tag
	// Parameter is a parameter in the query or a header.
	Parameter = spec.Parameter
	// PathParameter is a parameter in the path of operations.
	PathParameter = spec.PathParameter
	// Limits are the limits that the reference page mentions.
	Limits = spec.Limits
	// Site is the documentation at /docs.
	Site = spec.Site
	// Trigger is a trigger of webhooks, for the documentation.
	Trigger = spec.Trigger
)

// responseHeaders are the headers of responses, for the OpenAPI spec.
var responseHeaders = []spec.Header{
	{Name: "X-RateLimit-Limit", Type: "integer", Description: "Number of requests per second that the organization may make."},
	{Name: "X-RateLimit-Remaining", Type: "integer", Description: "Number of requests remaining in the current second."},
	{Name: "X-Request-Id", Type: "string", Description: "ID of the request, to be included in support requests."},
	{Name: "Idempotent-Replayed", Type: "string", Description: "\"true\" if this is the stored response to an earlier request with the same Idempotency-Key."},
	{Name: "Retry-After", Type: "integer", Description: "Seconds to wait before the next attempt."},
}

// Document completes the description of an API with its routes and with what all
// APIs have in common.
func Document(api API, routes []Route) API {
	api.Headers = responseHeaders
	api.ErrorBody = reflect.TypeFor[codec.ErrorBody]()
	api.BatchErrors = spec.BatchErrors{Body: reflect.TypeFor[codec.BatchError](), Applies: codec.HasBatchError}
	for _, e := range codec.Errors() {
		api.Errors = append(api.Errors, spec.Error{Status: e.Status, Number: int(e.Number), Class: string(e.Class), Meaning: e.Meaning})
	}
	api.IdempotencyKey = spec.IdempotencyKey{
		Description: "Unique key chosen by the client, 1 to 255 printable characters. If the same request is sent again with the same key within 48 hours, it is not performed again, and the first response is returned.",
		Max:         lastmile.MaxReceiptKey, Hours: int(lastmile.ReceiptLifetime.Hours()),
	}
	for _, rt := range routes {
		api.Operations = append(api.Operations, rt.Operation)
	}
	return api
}

// SpecHandler serves the OpenAPI document of an API.
func (s Settings) SpecHandler(api func() API) http.Handler {
	return s.onDemand(func() (http.Handler, error) { return api().Handler() })
}

// DocsHandler serves the documentation for people.
func (s Settings) DocsHandler(site func() Site) http.Handler {
	return s.onDemand(func() (http.Handler, error) { return site().Handler() })
}

// onDemand returns a handler that makes its document at the first request, because that
// takes longer than the rest of the start. If the document cannot be made, the handler
// responds with 404, and the API itself is served all the same.
func (s Settings) onDemand(open func() (http.Handler, error)) http.Handler {
	handler := sync.OnceValue(func() http.Handler {
		handler, err := open()
		if err != nil {
			s.Log.Error("the API has no document", "error", err)
			return http.NotFoundHandler()
		}
		return handler
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) })
}
