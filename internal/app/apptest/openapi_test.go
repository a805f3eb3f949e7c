package apptest_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"dray/internal/access"
	"dray/internal/api"
	"dray/internal/app/apptest"
	"dray/internal/edge"
)

// verdict is a test that only records whether it failed.
type verdict struct {
	testing.TB
	failed bool
}

func (v *verdict) Helper()               {}
func (v *verdict) Errorf(string, ...any) { v.failed = true }
func (v *verdict) Fatalf(string, ...any) {
	v.failed = true
	runtime.Goexit()
}

// document is the OpenAPI document, without a platform behind it.
func document(t *testing.T) []byte {
	t.Helper()
	server := &api.Server{Settings: edge.Settings{Log: slog.New(slog.DiscardHandler), Now: time.Now}, Roles: &access.Roles{}}
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v2/openapi.json", nil))
	return w.Body.Bytes()
}

const (
	recipient = `{"id":"abcdefghijklmnopqrstuvwx","organization":"abcdefghijklmnopqrstuvwx","timeCreated":1,"timeLastModified":1,
		"name":"Ada","phone":"+1","notes":"","skipSMSNotifications":false,"useLongCodeForText":false,"metadata":[]}`
	rejection = `{"code":"ResourceNotFound","message":{"error":1402,"message":"none","request":"1"}}`
)

func TestSpecCheck(t *testing.T) {
	spec := apptest.NewSpec(t, document(t))
	for name, c := range map[string]struct {
		method, path   string
		status         int
		request, reply string
		passes         bool
	}{
		"a response as documented":               {"GET", "/recipients/x", 200, "", recipient, true},
		"with the server's path and a query":     {"GET", "/api/v2/recipients/x?a=b", 200, "", recipient, true},
		"a documented error":                     {"GET", "/recipients/x", 404, "", rejection, true},
		"an unknown path that is rejected":       {"GET", "/nowhere", 404, "", rejection, true},
		"an unknown method that is rejected":     {"DELETE", "/recipients/x", 405, "", rejection, true},
		"an unknown path that is served":         {"GET", "/nowhere", 200, "", "{}", false},
		"a status that is not documented":        {"GET", "/recipients/x", 418, "", rejection, false},
		"an error of another shape":              {"GET", "/recipients/x", 404, "", `{"error":"none"}`, false},
		"an error of an unknown path, misshapen": {"GET", "/nowhere", 404, "", `404 page not found`, false},
		"a response without a field":             {"GET", "/recipients/x", 200, "", `{"id":"abcdefghijklmnopqrstuvwx"}`, false},
		"a response with an additional field":    {"GET", "/recipients/x", 200, "", `{"extra":1,` + recipient[1:], false},
		"a response of another type":             {"GET", "/recipients/x", 200, "", `[` + recipient + `]`, false},
		"no body where none is documented":       {"DELETE", "/teams/x", 200, "", "", true},
		"a body where none is documented":        {"DELETE", "/teams/x", 200, "", "{}", false},
		"no body where one is documented":        {"GET", "/recipients/x", 200, "", "", false},
		"a request as documented":                {"POST", "/recipients", 200, `{"name":"Ada","phone":"1","more":1}`, recipient, true},
		"an invalid request that is accepted":    {"POST", "/recipients", 200, `{"name":"Ada"}`, recipient, false},
		"an invalid request that is rejected":    {"POST", "/recipients", 400, `{"name":1}`, rejection, true},
		"the path with the fewest parameters":    {"GET", "/workers/location", 200, "", `{"workers":[]}`, true},
		"only the requested fields":              {"GET", "/workers", 200, "", `[{"id":"abcdefghijklmnopqrstuvwx","name":"Ada"}]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			v := &verdict{TB: t}
			spec.Check(v, c.method, c.path, c.status, []byte(c.request), []byte(c.reply))
			if v.failed == c.passes {
				t.Errorf("failed is %v", v.failed)
			}
		})
	}
}

// TestSpecRejectsSchemasItCannotCheck changes one schema at a time.
func TestSpecRejectsSchemasItCannotCheck(t *testing.T) {
	const spec = `{"servers":[{"url":"/api"}],
		"paths":{"/x":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}}}}}}},
		"components":{"schemas":{"A":{"type":"object","properties":{"b":{"anyOf":[{"type":"null"},{"$ref":"#/components/schemas/B"}]}}},"B":{"minimum":1}}}}`
	apptest.NewSpec(t, []byte(spec)).Check(t, "GET", "/x", 200, nil, []byte(`{"a":"b"}`))
	for name, change := range map[string][2]string{
		"a keyword that is not of the standard": {`"minimum":1`, `"minimumm":1`},
		"one inside another":                    {`{"type":"null"}`, `{"nullable":true}`},
		"one of a single response":              {`"a":{"type":"string"}`, `"a":{"type":"string","maximumLength":1}`},
		"a value that the keyword cannot have":  {`"minimum":1`, `"minimum":"1"`},
		"a type that does not exist":            {`"type":"null"`, `"type":"nil"`},
		"a reference to nothing":                {`schemas/B"`, `schemas/C"`},
		"a pattern that cannot be compiled":     {`"minimum":1`, `"pattern":"("`},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(spec, change[0], change[1], 1)
			if changed == spec {
				t.Fatal("nothing was changed")
			}
			v := &verdict{TB: t}
			done := make(chan struct{})
			go func() { // Fatalf ends this goroutine
				defer close(done)
				apptest.NewSpec(v, []byte(changed)).Check(v, "GET", "/x", 200, nil, []byte(`{"a":"b"}`))
			}()
			if <-done; !v.failed {
				t.Error("accepted")
			}
		})
	}
}

// TestSpecAgreesWithAnotherValidator compares with a validator that compiles
// schemas in its own way.
func TestSpecAgreesWithAnotherValidator(t *testing.T) {
	data := document(t)
	spec := apptest.NewSpec(t, data)
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	schema := doc.Components.Schemas["Destination"].Value
	var sound map[string]any
	if err := json.Unmarshal([]byte(`{"id":"abcdefghijklmnopqrstuvwx","timeCreated":1,"timeLastModified":1,"location":[1,2],
		"address":{"number":"1","street":"a","apartment":"","city":"b","state":"","postalCode":"","country":"c"},"notes":"",
		"metadata":[{"name":"a","type":"string","visibility":["api"],"value":"b"}],"googlePlaceId":null,"warnings":[],"useGPS":true}`), &sound); err != nil {
		t.Fatal(err)
	}
	values := []any{
		nil, true, 1.0, 1.5, "text",
		[]any{},
		[]any{1.0, 200.0},
		[]any{1.0, 2.0, 3.0},
		map[string]any{},
		[]any{map[string]any{"name": "a", "type": "none", "visibility": []any{}, "value": nil}},
	}
	for name := range sound {
		for _, value := range values {
			odd := maps.Clone(sound)
			odd[name] = value
			encoded, err := json.Marshal(odd)
			if err != nil {
				t.Fatal(err)
			}
			v := &verdict{TB: t}
			spec.Check(v, "GET", "/destinations/x", 200, nil, encoded)
			other := schema.VisitJSON(any(odd), openapi3.EnableJSONSchema2020())
			if v.failed != (other != nil) {
				t.Errorf("%s of %s: failed is %v, the other validator says %v", name, fmt.Sprint(value), v.failed, other)
			}
		}
	}
}
