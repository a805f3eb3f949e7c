package api

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

// bareServer describes and documents itself; it can do nothing else.
func bareServer() *Server {
	return &Server{Log: slog.New(slog.DiscardHandler), Version: "test", Now: time.Now}
}

// published are the interfaces that have a document, with their routes.
func published(s *Server) map[face][]route {
	return map[face][]route{clientFace: s.routes(), driverFace: s.driverRoutes()}
}

// eachFace runs a test for each interface.
func eachFace(t *testing.T, test func(t *testing.T, f face, routes []route)) {
	t.Helper()
	for f, routes := range published(bareServer()) {
		t.Run(f.title, func(t *testing.T) { test(t, f, routes) })
	}
}

// readDocument is the document of the interface of clients as they read it.
func readDocument(t *testing.T) *openapi3.T {
	t.Helper()
	return readFace(t, clientFace, bareServer().routes())
}

// readFace is the document of an interface.
func readFace(t *testing.T, f face, routes []route) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(bareServer().document(f, routes))
	if err != nil {
		t.Fatalf("read the document: %v", err)
	}
	return doc
}

// get returns the member with the name, or the zero value.
func (m members[T]) get(name string) (value T) {
	for _, each := range m {
		if each.name == name {
			return each.value
		}
	}
	return value
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
	doc := readDocument(t)

	t.Run("is valid OpenAPI 3.1, examples included", func(t *testing.T) {
		eachFace(t, func(t *testing.T, f face, routes []route) {
			doc := readFace(t, f, routes)
			if !doc.IsOpenAPI31OrLater() {
				t.Errorf("it is version %s", doc.OpenAPI)
			}
			if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
				t.Error(err)
			}
		})
	})

	t.Run("says what it describes and how to be let in", func(t *testing.T) {
		if doc.Info.Title != "Dray" || doc.Info.Version != "2.6" || doc.Servers[0].URL != Base {
			t.Errorf("got %s %s at %s", doc.Info.Title, doc.Info.Version, doc.Servers[0].URL)
		}
		scheme := doc.Components.SecuritySchemes["apiKey"].Value
		if scheme.Type != "http" || scheme.Scheme != "basic" || len(doc.Security) != 1 {
			t.Errorf("got security %+v %v", scheme, doc.Security)
		}
	})

	t.Run("is the same bytes every time", func(t *testing.T) {
		if !bytes.Equal(s.document(clientFace, s.routes()), bareServer().document(clientFace, bareServer().routes())) {
			t.Error("two documents of the same program differ")
		}
	})

	t.Run("is served to anybody, once", func(t *testing.T) {
		first := httptest.NewRecorder()
		s.Handler().ServeHTTP(first, httptest.NewRequest(http.MethodGet, Base+"/openapi.json", nil))
		if first.Code != http.StatusOK || first.Header().Get("Content-Type") != "application/json" || !json.Valid(first.Body.Bytes()) {
			t.Fatalf("answered %d %v", first.Code, first.Header())
		}
		again := httptest.NewRequest(http.MethodGet, Base+"/openapi.json", nil)
		again.Header.Set("If-None-Match", first.Header().Get("ETag"))
		second := httptest.NewRecorder()
		s.Handler().ServeHTTP(second, again)
		if second.Code != http.StatusNotModified {
			t.Errorf("answered %d to a client that has it", second.Code)
		}
	})
}

func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	eachFace(t, testEveryRoute)
}

func testEveryRoute(t *testing.T, f face, routes []route) {
	doc := readFace(t, f, routes)
	undescribed := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			undescribed[method+" "+path] = true
		}
	}
	names := map[string]string{}
	for _, rt := range routes {
		key := rt.method + " " + rt.path
		if !undescribed[key] {
			t.Errorf("%s is not in the document, or twice in the routes", key)
			continue
		}
		delete(undescribed, key)
		op := doc.Paths.Value(rt.path).GetOperation(rt.method)
		if other := names[op.OperationID]; other != "" || op.OperationID == "" {
			t.Errorf("%s and %s are both called %q", key, other, op.OperationID)
		}
		names[op.OperationID] = f.prefix + key
		checkParameters(t, key, f, rt, op)
		checkStatuses(t, key, rt, op)
	}
	for key := range undescribed {
		t.Errorf("%s is in the document, but no route", key)
	}
	for key := range requires {
		if f == clientFace && !slices.Contains(slices.Collect(maps.Values(names)), key) {
			t.Errorf("requires has %s, which is no route", key)
		}
	}
}

func checkParameters(t *testing.T, key string, f face, rt route, op *openapi3.Operation) {
	t.Helper()
	for _, found := range pathParameter.FindAllStringSubmatch(rt.path, -1) {
		if p := op.Parameters.GetByInAndName("path", found[1]); p == nil || p.Description == "" {
			t.Errorf("%s does not describe {%s}", key, found[1])
		}
	}
	for _, q := range rt.query {
		if p := op.Parameters.GetByInAndName("query", q.name); p == nil || p.Required != q.required || p.Description == "" {
			t.Errorf("%s does not describe the query parameter %s", key, q.name)
		}
	}
	idempotent := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
	if idempotent != (rt.method == http.MethodPost && f.once) {
		t.Errorf("%s: takes an Idempotency-Key: %v", key, idempotent)
	}
	if (op.RequestBody != nil) != (rt.body != nil || len(rt.takes) > 0) {
		t.Errorf("%s: has a body: %v", key, op.RequestBody != nil)
	}
}

func checkStatuses(t *testing.T, key string, rt route, op *openapi3.Operation) {
	t.Helper()
	want := []int{400, 401, 429, 500, 503}
	if strings.Contains(rt.path, "{") {
		want = append(want, 404)
	}
	if rt.body != nil {
		want = append(want, 413)
	}
	for _, status := range want {
		if op.Responses.Status(status) == nil {
			t.Errorf("%s does not say that it may answer %d", key, status)
		}
	}
	done := op.Responses.Status(rt.success()).Value
	if (len(done.Content) > 0) != (rt.reply != nil || len(rt.media) > 0) {
		t.Errorf("%s: has an answer: %v", key, len(done.Content) > 0)
	}
	for _, header := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining"} {
		if done.Headers[header] == nil {
			t.Errorf("%s does not have the header %s", key, header)
		}
	}
}

func TestDocumentHasEveryError(t *testing.T) {
	doc := readDocument(t)
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
	rows := errorTable(newProse())
	if len(rows) != len(lastmile.Codes()) {
		t.Errorf("the table has %d errors, want one for each of %d codes", len(rows), len(lastmile.Codes()))
	}
	for _, row := range rows {
		if row.Meaning == "" {
			t.Errorf("error %d has no note", row.Number)
		}
		response := doc.Components.Responses[responseName(row.Status)]
		if response == nil || !strings.Contains(*response.Value.Description, strconv.Itoa(row.Number)) {
			t.Errorf("no response of the document tells of error %d", row.Number)
		}
		if !reached[strconv.Itoa(row.Status)] {
			t.Errorf("no operation answers %d", row.Status)
		}
		if !slices.Contains(code.Enum, any(row.Class)) || !slices.Contains(number.Enum, any(float64(row.Number))) {
			t.Errorf("the schema of errors does not have %s %d", row.Class, row.Number)
		}
	}
}

func TestDocumentDescribesEveryField(t *testing.T) {
	eachFace(t, testEveryField)
}

func testEveryField(t *testing.T, f face, routes []route) {
	b := &specBuilder{schemas: schemas{prose: newProse(), named: map[string]*schema{}}, face: f}
	for _, rt := range routes {
		b.operation(rt)
	}
	b.components()
	if len(b.gaps) > 0 {
		t.Errorf("nothing describes the JSON of %v: add them to specialTypes", b.gaps)
	}
	for name, component := range b.named {
		if component.Description == "" {
			t.Errorf("docs/notes.txt says nothing of %s", name)
		}
		for _, p := range component.Properties {
			if p.value.Description == "" {
				t.Errorf("docs/notes.txt says nothing of %s.%s", name, p.name)
			}
		}
		for _, field := range component.Required {
			if component.Properties.get(field) == nil {
				t.Errorf("%s requires %s, which it does not have", name, field)
			}
		}
	}
}

func TestProseIsOfSomething(t *testing.T) {
	if !json.Valid(examplesFile) {
		t.Fatal("docs/examples.json is not JSON")
	}
	known := knownKeys(bareServer())
	p := newProse()
	for key, text := range p.notes {
		if text == "" || !known[key] {
			t.Errorf("docs/notes.txt: %q is of nothing, or says nothing", key)
		}
	}
	for key := range p.examples {
		if !known[key] {
			t.Errorf("docs/examples.json: %q is of nothing", key)
		}
	}
	for key := range fields {
		if !known[key] {
			t.Errorf("specialFields: %q is no field", key)
		}
	}
	for key := range needed {
		if !known[key] {
			t.Errorf("needed: %q is no type", key)
		}
	}
}

// knownKeys is everything that the prose can be about.
func knownKeys(s *Server) map[string]bool {
	known := map[string]bool{}
	for f := range published(s) {
		known[f.prefix+"info"], known[f.prefix+"security"] = true, true
	}
	for _, h := range (&specBuilder{schemas: schemas{named: map[string]*schema{}}}).components().Headers {
		known["header "+h.name] = true
	}
	known["header Idempotency-Key"] = true
	for _, row := range errorTable(prose{}) {
		known["error "+strconv.Itoa(row.Number)] = true
	}
	seen := map[reflect.Type]bool{}
	addKeys(known, seen, reflect.TypeFor[ErrorBody](), "")
	addKeys(known, seen, reflect.TypeFor[DuplicateCause](), "")
	addKeys(known, seen, reflect.TypeFor[LackCause](), "")
	for f, routes := range published(s) {
		addRoutes(known, seen, f, routes)
	}
	return known
}

func addRoutes(known map[string]bool, seen map[reflect.Type]bool, f face, routes []route) {
	for _, rt := range routes {
		known["tag "+rt.tag], known[f.prefix+rt.method+" "+rt.path] = true, true
		for _, found := range pathParameter.FindAllStringSubmatch(rt.path, -1) {
			known["path "+found[1]] = true
		}
		for _, q := range rt.query {
			known["query "+q.name] = true
			if q.name == "filter" {
				known[strings.TrimPrefix(strings.TrimPrefix(reflect.TypeOf(rt.reply).String(), "[]"), "wire.")+"Fields"] = true
			}
		}
		for _, value := range []any{rt.body, rt.reply} {
			if value != nil {
				addKeys(known, seen, reflect.TypeOf(value), "")
			}
		}
	}
}

// addKeys adds the names of a type, of its fields and of the types they hold.
func addKeys(known map[string]bool, seen map[reflect.Type]bool, t reflect.Type, owner string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		known[t.Name()] = true
		t = t.Elem()
	}
	if seen[t] || t.Kind() != reflect.Struct {
		return
	}
	seen[t] = true
	if t.Name() != "" {
		owner = t.Name()
	}
	known[owner] = true
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known[owner+"."+name], known["."+name] = true, true
		addKeys(known, seen, field.Type, owner+"."+name)
	}
}

func TestRequestsMatchTheirSchemas(t *testing.T) {
	eachFace(t, testRequests)
}

func testRequests(t *testing.T, f face, routes []route) {
	doc, v := readFace(t, f, routes), viewer{spec: bareServer().describe(f, routes), prose: newProse()}
	for _, rt := range routes {
		if rt.body == nil {
			continue
		}
		key := f.prefix + rt.method + " " + rt.path
		read := func(data []byte) error { return wire.Decode(data, reflect.New(reflect.TypeOf(rt.body)).Interface()) }
		media := doc.Paths.Value(rt.path).GetOperation(rt.method).RequestBody.Value.Content.Get(jsonType)

		example, ok := v.prose.examples[key]
		if !ok {
			t.Errorf("docs/examples.json has no body for %s", key)
			continue
		}
		fits(t, key, media.Schema, example)
		if err := read(example); err != nil {
			t.Errorf("%s: the example cannot be read: %v", key, err)
		}
		for _, p := range v.body(v.Paths.get(rt.path).get(strings.ToLower(rt.method)).RequestBody.Content[jsonType].Schema).Fields {
			if strings.Contains(p.Name, ".") || reflect.TypeOf(rt.body).Kind() != reflect.Struct {
				continue
			}
			if err := read([]byte(`{"` + p.Name + `":null}`)); err != nil && p.Nullable {
				t.Errorf("%s: the document lets %s be null: %v", key, p.Name, err)
			}
		}
	}
}
