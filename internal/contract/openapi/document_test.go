package openapi_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/internal/codec"

	"github.com/getkin/kin-openapi/openapi3"

	"dray/internal/access"
	"dray/internal/accountapi"
	"dray/internal/adminapi"
	"dray/internal/api"
	"dray/internal/auditapi"
	"dray/internal/boardapi"
	"dray/internal/driverapi"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/orderapi"
	"dray/internal/spec"
)

const (
	jsonType  = "application/json"
	refPrefix = "#/components/schemas/"
)

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// bareServer describes and documents itself; it can do nothing else.
func bareServer() *api.Server {
	orders, admin, people, log, boards := &orderapi.Server{}, &adminapi.Server{}, &accountapi.Server{}, &auditapi.Server{}, &boardapi.Server{}
	return &api.Server{
		Settings: edge.Settings{Log: slog.New(slog.DiscardHandler), Now: time.Now}, Version: "test",
		Roles: &access.Roles{},
		More: api.Resources{
			Tags:   slices.Concat(orders.Tags(), admin.Tags(), boards.Tags(), log.Tags()),
			Routes: slices.Concat(orders.Routes(), admin.Routes(), boards.Routes(), people.AdminRoutes(), log.Routes()),
		},
	}
}

// eachAPI runs a test for each API that has a document.
func eachAPI(t *testing.T, test func(t *testing.T, api spec.API)) {
	t.Helper()
	driver := &driverapi.Server{Settings: bareServer().Settings, Version: "test"}
	for _, api := range []spec.API{bareServer().Spec(), driver.Spec()} {
		t.Run(api.Title, func(t *testing.T) { test(t, api) })
	}
}

// document is the OpenAPI spec of an API as clients read it.
func document(t *testing.T, api spec.API) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(bytesOf(t, api))
	if err != nil {
		t.Fatalf("read the OpenAPI spec: %v", err)
	}
	return doc
}

func bytesOf(t *testing.T, api spec.API) []byte {
	t.Helper()
	data, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// node is an object of a document.
type node map[string]any

func (n node) text(name string) string { return asText(n[name]) }

func asText(v any) string {
	text, _ := v.(string)
	return text
}

func asNode(v any) node {
	object, _ := v.(map[string]any)
	return object
}

func (n node) child(name string) node { return asNode(n[name]) }

func (n node) children(name string) map[string]node {
	all := map[string]node{}
	for key, value := range n.child(name) {
		all[key] = asNode(value)
	}
	return all
}

func (n node) list(name string) []node {
	values, _ := n[name].([]any)
	var all []node
	for _, value := range values {
		all = append(all, asNode(value))
	}
	return all
}

// requires reports whether an object must have a field.
func (n node) requires(field string) bool {
	names, _ := n["required"].([]any)
	return slices.Contains(names, any(field))
}

// nullable reports whether a schema takes null.
func (n node) nullable() bool {
	types, _ := n["type"].([]any)
	return n.text("type") == "null" || slices.Contains(types, any("null")) || slices.ContainsFunc(n.list("oneOf"), node.nullable)
}

// documentJSON is a document as plain JSON, which keeps what stands beside a
// reference.
type documentJSON node

func parsed(t *testing.T, api spec.API) (doc documentJSON) {
	t.Helper()
	if err := json.Unmarshal(bytesOf(t, api), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func (d documentJSON) schemas() map[string]node {
	return node(d).child("components").children("schemas")
}

func (d documentJSON) resolve(n node) node {
	if name, ok := strings.CutPrefix(n.text("$ref"), refPrefix); ok {
		return d.schemas()[name]
	}
	return n
}

func (d documentJSON) operation(op spec.Operation) node {
	return node(d).child("paths").child(op.Path).child(strings.ToLower(op.Method))
}

// reply is the schema of the response to an operation.
func (d documentJSON) reply(op spec.Operation) node {
	return d.operation(op).child("responses").child("200").child("content").child(jsonType).child("schema")
}

// fits fails the test when a value is not as a schema says.
func fits(t *testing.T, what string, s *openapi3.SchemaRef, data []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Errorf("%s: %v: %s", what, err, data)
		return
	}
	if err := s.Value.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
		t.Errorf("%s does not fit its schema: %v\n%s", what, err, data)
	}
}

func TestDocument(t *testing.T) {
	s := bareServer()
	doc := document(t, s.Spec())

	t.Run("is valid OpenAPI 3.1, examples included", func(t *testing.T) {
		eachAPI(t, func(t *testing.T, api spec.API) {
			doc := document(t, api)
			if !doc.IsOpenAPI31OrLater() {
				t.Errorf("it is version %s", doc.OpenAPI)
			}
			if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
				t.Error(err)
			}
		})
	})

	t.Run("says what it describes and how to be let in", func(t *testing.T) {
		if doc.Info.Title != "Dray" || doc.Info.Version != "2.6" || doc.Servers[0].URL != api.Base {
			t.Errorf("got %s %s at %s", doc.Info.Title, doc.Info.Version, doc.Servers[0].URL)
		}
		scheme := doc.Components.SecuritySchemes["apiKey"].Value
		if scheme.Type != "http" || scheme.Scheme != "basic" || len(doc.Security) != 1 {
			t.Errorf("got security %+v %v", scheme, doc.Security)
		}
	})

	t.Run("is the same bytes every time", func(t *testing.T) {
		if !bytes.Equal(bytesOf(t, s.Spec()), bytesOf(t, bareServer().Spec())) {
			t.Error("two documents of the same program differ")
		}
	})

	t.Run("is public and cacheable", func(t *testing.T) {
		first := httptest.NewRecorder()
		s.Handler().ServeHTTP(first, httptest.NewRequest(http.MethodGet, api.Base+"/openapi.json", nil))
		if first.Code != http.StatusOK || first.Header().Get("Content-Type") != "application/json" || !json.Valid(first.Body.Bytes()) {
			t.Fatalf("responded with %d %v", first.Code, first.Header())
		}
		again := httptest.NewRequest(http.MethodGet, api.Base+"/openapi.json", nil)
		again.Header.Set("If-None-Match", first.Header().Get("ETag"))
		second := httptest.NewRecorder()
		s.Handler().ServeHTTP(second, again)
		if second.Code != http.StatusNotModified {
			t.Errorf("responded with %d to a client that has it", second.Code)
		}
	})
}

func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	eachAPI(t, testEveryRoute)
}

func testEveryRoute(t *testing.T, api spec.API) {
	doc := document(t, api)
	undescribed := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			undescribed[method+" "+path] = true
		}
	}
	names := map[string]string{}
	for _, o := range api.Operations {
		key := o.Method + " " + o.Path
		if !undescribed[key] {
			t.Errorf("%s is not in the OpenAPI spec, or twice in the routes", key)
			continue
		}
		delete(undescribed, key)
		op := doc.Paths.Value(o.Path).GetOperation(o.Method)
		if other := names[op.OperationID]; other != "" || op.OperationID == "" {
			t.Errorf("%s and %s are both called %q", key, other, op.OperationID)
		}
		names[op.OperationID] = key
		if !slices.ContainsFunc(api.Tags, func(tag spec.Tag) bool { return tag.Name == o.Tag && tag.Description != "" }) {
			t.Errorf("%s has the tag %q, which is not described", key, o.Tag)
		}
		checkParameters(t, key, api, o, op)
		checkStatuses(t, key, o, op)
	}
	for key := range undescribed {
		t.Errorf("%s is in the OpenAPI spec, but no route", key)
	}
	for name := range api.Paths {
		if !slices.ContainsFunc(api.Operations, func(o spec.Operation) bool { return strings.Contains(o.Path, "{"+name+"}") }) {
			t.Errorf("{%s} is described, but in no path", name)
		}
	}
}

func checkParameters(t *testing.T, key string, api spec.API, o spec.Operation, op *openapi3.Operation) {
	t.Helper()
	for _, found := range pathParameter.FindAllStringSubmatch(o.Path, -1) {
		if p := op.Parameters.GetByInAndName("path", found[1]); p == nil || p.Description == "" {
			t.Errorf("%s does not describe {%s}", key, found[1])
		}
	}
	for _, q := range o.Query {
		if p := op.Parameters.GetByInAndName("query", q.Name); p == nil || p.Required != q.Required || p.Description == "" {
			t.Errorf("%s does not describe the query parameter %s", key, q.Name)
		}
	}
	idempotent := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
	if idempotent != (o.Method == http.MethodPost && api.Idempotent) {
		t.Errorf("%s: takes an Idempotency-Key: %v", key, idempotent)
	}
	if (op.RequestBody != nil) != (o.Body != nil || len(o.Takes) > 0) {
		t.Errorf("%s: has a body: %v", key, op.RequestBody != nil)
	}
}

func checkStatuses(t *testing.T, key string, o spec.Operation, op *openapi3.Operation) {
	t.Helper()
	want := []int{400, 401, 429, 500, 503}
	if strings.Contains(o.Path, "{") {
		want = append(want, 404)
	}
	if o.Body != nil {
		want = append(want, 413)
	}
	for _, status := range want {
		if op.Responses.Status(status) == nil {
			t.Errorf("%s does not say that it may respond with %d", key, status)
		}
	}
	success := 200
	if o.Status != 0 {
		success = o.Status
	}
	done := op.Responses.Status(success).Value
	if (len(done.Content) > 0) != (o.Reply != nil || len(o.Sends) > 0) {
		t.Errorf("%s: has a response: %v", key, len(done.Content) > 0)
	}
	for _, header := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining"} {
		if done.Headers[header] == nil {
			t.Errorf("%s does not have the header %s", key, header)
		}
	}
}

func TestDocumentHasEveryError(t *testing.T) {
	doc := document(t, bareServer().Spec())
	reached := map[string]bool{"405": true} // of no operation, by its nature
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for status := range op.Responses.Map() {
				reached[status] = true
			}
		}
	}
	code := doc.Components.Schemas["ErrorBody"].Value.Properties["code"].Value
	number := doc.Components.Schemas["ErrorMessage"].Value.Properties["error"].Value
	rows := codec.Errors()
	if len(rows) != len(lastmile.Codes()) {
		t.Errorf("the table has %d errors, want one for each of %d codes", len(rows), len(lastmile.Codes()))
	}
	for _, row := range rows {
		if row.Meaning == "" {
			t.Errorf("error %d has no meaning", row.Number)
		}
		response := doc.Components.Responses[strings.ReplaceAll(http.StatusText(row.Status), " ", "")]
		if response == nil || !strings.Contains(*response.Value.Description, strconv.Itoa(int(row.Number))) {
			t.Errorf("no response of the OpenAPI document describes error %d", row.Number)
		}
		if !reached[strconv.Itoa(row.Status)] {
			t.Errorf("no operation responds with %d", row.Status)
		}
		if !slices.Contains(code.Enum, any(string(row.Class))) || !slices.Contains(number.Enum, any(float64(row.Number))) {
			t.Errorf("the schema of errors does not have %s %d", row.Class, row.Number)
		}
	}
}

func TestDocumentDescribesEveryField(t *testing.T) {
	eachAPI(t, func(t *testing.T, api spec.API) {
		plain, doc := parsed(t, api), document(t, api)
		for name, component := range plain.schemas() {
			if component.text("description") == "" {
				t.Errorf("%s has no description: comment on the type in package wire", name)
			}
			for field, p := range component.children("properties") {
				if p.text("description") == "" {
					t.Errorf("%s.%s has no description: comment on the field in package wire", name, field)
				}
				examples, _ := p["examples"].([]any)
				for _, example := range examples {
					data, err := json.Marshal(example)
					if err != nil {
						t.Fatal(err)
					}
					fits(t, "the example of "+name+"."+field, doc.Components.Schemas[name].Value.Properties[field], data)
				}
			}
			required, _ := component["required"].([]any)
			for _, field := range required {
				if component.child("properties")[asText(field)] == nil {
					t.Errorf("%s requires %s, which it does not have", name, field)
				}
			}
		}
	})
}

func TestRequestsMatchTheirSchemas(t *testing.T) {
	eachAPI(t, testRequests)
}

func testRequests(t *testing.T, api spec.API) {
	doc, plain := document(t, api), parsed(t, api)
	for _, op := range api.Operations {
		if op.Body == nil {
			continue
		}
		key := op.Method + " " + op.Path
		read := func(data []byte) error { return codec.Decode(data, reflect.New(op.Body).Interface()) }
		media := doc.Paths.Value(op.Path).GetOperation(op.Method).RequestBody.Value.Content.Get(jsonType)
		if op.Example == "" {
			t.Errorf("%s has no example of its body", key)
			continue
		}
		fits(t, key, media.Schema, []byte(op.Example))
		if err := read([]byte(op.Example)); err != nil {
			t.Errorf("%s: the example cannot be read: %v", key, err)
		}
		if op.Body.Kind() != reflect.Struct {
			continue
		}
		body := plain.resolve(plain.operation(op).child("requestBody").child("content").child(jsonType).child("schema"))
		for name, p := range body.children("properties") {
			if err := read([]byte(`{"` + name + `":null}`)); err != nil && p.nullable() {
				t.Errorf("%s: the OpenAPI spec lets %s be null: %v", key, name, err)
			}
		}
	}
}

// TestStreamsAndFiles checks the descriptions of bodies that are not JSON.
func TestStreamsAndFiles(t *testing.T) {
	streams, files := 0, 0
	eachAPI(t, func(t *testing.T, api spec.API) {
		doc := document(t, api)
		for _, o := range api.Operations {
			op := doc.Paths.Find(o.Path).GetOperation(o.Method)
			for _, kind := range o.Sends {
				done := op.Responses.Status(200).Value
				content := done.Content[kind]
				if content == nil || done.Content[jsonType] != nil {
					t.Fatalf("%s %s sends %v", o.Method, o.Path, done.Content)
				}
				if kind != "text/event-stream" {
					files++
					continue
				}
				streams++
				example, _ := content.Example.(string)
				if !content.Schema.Value.Type.Is("string") || !strings.Contains(example, "event: ") || !strings.Contains(example, "\ndata: {") {
					t.Errorf("the stream %s is described with the example %q", o.Path, example)
				}
				if !strings.Contains(*done.Description, "stream") || op.Parameters.GetByInAndName("header", "Last-Event-ID") == nil {
					t.Errorf("the stream %s is described as %q", o.Path, *done.Description)
				}
			}
			for _, kind := range o.Takes {
				files++
				if body := op.RequestBody.Value; body.Content[kind] == nil || body.Content[jsonType] != nil || !body.Required || body.Description == "" {
					t.Errorf("%s %s takes %v", o.Method, o.Path, body.Content)
				}
				if op.Responses.Status(413) == nil {
					t.Errorf("%s %s does not say that a file can be too large", o.Method, o.Path)
				}
			}
		}
	})
	if streams != 2 || files < 8 {
		t.Errorf("there are %d streams and %d files", streams, files)
	}
}
