package api

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

// requires holds the fields that the body of an operation must have, where the
// same type serves another operation that needs less; see also needed.
var requires = map[string][]string{
	"POST /admins":        {"name", "email"},
	"POST /cfGroups/task": {"name", "contextSaveConditions", "fields"},
	"POST /hubs":          {"name", "address"},
	"POST /routePlans":    {"name", "startTime"},
	"POST /tasks":         {"destination", "recipients"},
	"POST /teams":         {"name", "workers", "managers"},
}

// face is one of the interfaces that have a document.
type face struct {
	base, title, version string
	prefix               string // of its operations in docs/notes.txt and docs/examples.json
	scheme               string // how callers are let in
	security             securityScheme
	once                 bool // Idempotency-Key has an effect
}

// The documented interfaces.
var (
	clientFace = face{
		base: Base, title: "Dray", version: Revision, scheme: "apiKey", security: securityScheme{Type: "http", Scheme: "basic"}, once: true,
	}
	driverFace = face{
		base: DriverBase, title: "Dray: the worker's interface", version: "1", prefix: "driver ",
		scheme: "session", security: securityScheme{Type: "http", Scheme: "bearer"},
	}
)

const jsonType = "application/json"

// describe makes the document of the routes of an interface.
func (s *Server) describe(f face, routes []route) *spec {
	b := &specBuilder{schemas: schemas{prose: newProse(), named: map[string]*schema{}}, face: f}
	doc := &spec{
		OpenAPI:  "3.1.0",
		Info:     info{Title: f.title, Version: f.version, Description: b.prose.notes[f.prefix+"info"], Program: s.Version},
		Servers:  []server{{URL: f.base}},
		Security: []map[string][]string{{f.scheme: {}}},
	}
	for _, rt := range routes {
		if !slices.ContainsFunc(doc.Tags, func(t tag) bool { return t.Name == rt.tag }) {
			doc.Tags = append(doc.Tags, tag{Name: rt.tag, Description: b.prose.notes["tag "+rt.tag]})
		}
		at := slices.IndexFunc(doc.Paths, func(m member[members[*operation]]) bool { return m.name == rt.path })
		if at < 0 {
			at = len(doc.Paths)
			doc.Paths.add(rt.path, nil)
		}
		doc.Paths[at].value.add(strings.ToLower(rt.method), b.operation(rt))
	}
	doc.Components = b.components()
	return doc
}

// specBuilder collects what the operations have in common.
type specBuilder struct {
	schemas
	face    face
	batches bool // some operation has the errors of a batch
}

func (b *specBuilder) operation(rt route) *operation {
	key := b.face.prefix + rt.method + " " + rt.path
	op := &operation{
		OperationID: operationID(rt.summary), Tags: []string{rt.tag}, Summary: rt.summary, Description: b.prose.notes[key],
		Parameters: b.parameters(rt),
	}
	switch {
	case rt.body != nil:
		op.RequestBody = b.body(rt, key)
	case len(rt.takes) > 0:
		op.RequestBody = &requestBody{Required: true, Content: anyOf(rt.takes)}
	}
	if rt.anybody {
		op.Security = &[]map[string][]string{}
	}
	b.batches = b.batches || rt.batch
	op.Responses.add(strconv.Itoa(rt.success()), b.success(rt))
	for _, status := range b.refusals(rt, op) {
		name := responseName(status)
		if rt.batch && batchShaped(status) {
			name = batchResponseName(status)
		}
		op.Responses.add(strconv.Itoa(status), &response{Ref: "#/components/responses/" + name})
	}
	return op
}

// body describes the body of a request.
func (b *specBuilder) body(rt route, key string) *requestBody {
	t := reflect.TypeOf(rt.body)
	f := form{request: true, needs: requires[key]}
	if f.needs != nil {
		f.name = "New" + t.Name()
	}
	s := b.of(t, f)
	if s.Items != nil {
		s.MinItems = 1 // a search for nothing is refused
	}
	target := b.named[strings.TrimPrefix(s.Ref, refPrefix)]
	must := s.Items != nil || target != nil && len(target.Required) > 0
	return &requestBody{Required: must, Content: map[string]content{jsonType: {Schema: s, Example: b.prose.examples[key]}}}
}

// success describes the answer to a request that was done.
func (b *specBuilder) success(rt route) *response {
	ok := &response{Description: "Done; the answer is empty.", Headers: headerRefs("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-Request-Id")}
	if rt.method == http.MethodPost && b.face.once {
		ok.Headers = append(ok.Headers, headerRefs("Idempotent-Replayed")...)
	}
	if len(rt.media) > 0 {
		ok.Description, ok.Content = "Done.", anyOf(rt.media)
		return ok
	}
	if rt.reply == nil {
		return ok
	}
	ok.Description = "Done."
	ok.Content = map[string]content{jsonType: {Schema: b.reply(rt)}}
	return ok
}

// anyOf is content that is not JSON, of one of some media types.
func anyOf(types []string) map[string]content {
	all := map[string]content{}
	for _, t := range types {
		all[t] = content{Schema: &schema{}}
	}
	return all
}

// reply describes what is shown. A caller who asks for some fields only gets
// records that may lack all but the id.
func (b *specBuilder) reply(rt route) *schema {
	t := reflect.TypeOf(rt.reply)
	whole := b.of(t, form{})
	if !slices.ContainsFunc(rt.query, func(p parameter) bool { return p.name == "filter" }) {
		return whole
	}
	record := t
	if t.Kind() == reflect.Slice {
		record = t.Elem()
	}
	part := b.of(record, form{name: record.Name() + "Fields", needs: []string{"id"}})
	if t.Kind() == reflect.Slice {
		part = listOf(part)
	}
	return &schema{AnyOf: []*schema{whole, part}}
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

func (b *specBuilder) parameters(rt route) []*specParameter {
	var all []*specParameter
	for _, found := range pathParameter.FindAllStringSubmatch(rt.path, -1) {
		p := &specParameter{Name: found[1], In: "path", Required: true, Schema: ofType("string"), Description: b.prose.notes["path "+found[1]]}
		if found[1] == "id" {
			p.Schema = idSchema()
		}
		all = append(all, p)
	}
	for _, q := range rt.query {
		p := &specParameter{Name: q.name, In: "query", Required: q.required, Schema: ofType("string"), Description: sentence(q.about)}
		if q.kind != "" {
			p.Schema = ofType(q.kind)
		}
		all = append(all, p)
	}
	if rt.method == http.MethodPost && b.face.once {
		all = append(all, &specParameter{Ref: "#/components/parameters/Idempotency-Key"})
	}
	return all
}

// refusals is the statuses, other than 200, that an operation may answer with.
func (b *specBuilder) refusals(rt route, op *operation) []int {
	statuses := []int{http.StatusBadRequest, http.StatusUnauthorized}
	writes := rt.method != http.MethodGet
	if writes || !b.face.once { // from another site's page, or by a worker without a password
		statuses = append(statuses, http.StatusForbidden)
	}
	named := strings.Contains(rt.path, "{") || rt.method == http.MethodPut || rt.method == http.MethodDelete
	if _, asks := rt.body.(wire.MarketplaceBody); asks || slices.ContainsFunc(rt.query, func(p parameter) bool { return strings.HasSuffix(p.name, "Id") }) {
		named = true
	}
	if !named && op.RequestBody != nil {
		named = b.names(op.RequestBody.Content[jsonType].Schema, map[string]bool{})
	}
	if named {
		statuses = append(statuses, http.StatusNotFound)
	}
	if writes {
		statuses = append(statuses, http.StatusPreconditionFailed)
	}
	if rt.body != nil || rt.method == http.MethodPost {
		statuses = append(statuses, http.StatusRequestEntityTooLarge)
	}
	return append(statuses, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable)
}

// names tells whether a body can hold the id of a record, which may not exist.
func (b *specBuilder) names(s *schema, seen map[string]bool) bool {
	if s == nil || seen[s.Ref] {
		return false
	}
	if s.Ref != "" {
		seen[s.Ref] = true
		return b.names(b.named[strings.TrimPrefix(s.Ref, refPrefix)], seen)
	}
	if s.Pattern == idPattern || b.names(s.Items, seen) {
		return true
	}
	for _, part := range slices.Concat(s.OneOf, s.AnyOf) {
		if b.names(part, seen) {
			return true
		}
	}
	return slices.ContainsFunc(s.Properties, func(p member[*schema]) bool { return b.names(p.value, seen) })
}

func (b *specBuilder) components() components {
	c := components{
		SecuritySchemes: map[string]securityScheme{b.face.scheme: b.face.security},
	}
	known := c.SecuritySchemes[b.face.scheme]
	known.Description = b.prose.notes[b.face.prefix+"security"]
	c.SecuritySchemes[b.face.scheme] = known
	if b.face.once {
		c.Parameters.add("Idempotency-Key", &specParameter{
			Name: "Idempotency-Key", In: "header", Description: b.prose.notes["header Idempotency-Key"],
			Schema: &schema{Type: typeNames{"string"}, Pattern: fmt.Sprintf("^[ -~]{1,%d}$", lastmile.MaxReceiptKey)},
		})
	}
	for _, h := range []struct{ name, kind string }{
		{"X-RateLimit-Limit", "integer"},
		{"X-RateLimit-Remaining", "integer"},
		{"X-Request-Id", "string"},
		{"Idempotent-Replayed", "string"},
		{"Retry-After", "integer"},
	} {
		c.Headers.add(h.name, &specParameter{Description: b.prose.notes["header "+h.name], Schema: ofType(h.kind)})
	}
	refusal := b.of(reflect.TypeFor[ErrorBody](), form{})
	for _, status := range statuses() {
		r := &response{
			Headers: headerRefs("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-Request-Id"),
			Content: map[string]content{jsonType: {Schema: refusal}},
		}
		for _, e := range errorTable(b.prose) {
			if e.Status == status {
				r.Description += fmt.Sprintf("%d %s: %s ", e.Number, e.Class, e.Meaning)
			}
		}
		r.Description = strings.TrimSpace(r.Description)
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			r.Headers = append(r.Headers, headerRefs("Retry-After")...)
		}
		c.Responses.add(responseName(status), r)
		if b.batches && batchShaped(status) {
			c.Responses.add(batchResponseName(status), b.batchRefusal(r))
		}
	}
	c.Schemas = b.named
	return c
}

// errorRow is an error as the document lists it.
type errorRow struct {
	Status, Number int
	Class, Meaning string
}

// errorTable is every error a client can see, by number.
func errorTable(p prose) []errorRow {
	meaning := func(number int) string { return p.notes["error "+strconv.Itoa(number)] }
	var rows []errorRow
	for _, kind := range wire.ErrorKinds() {
		rows = append(rows, errorRow{kind.Status, kind.Number, kind.Class, meaning(kind.Number)})
	}
	slices.SortFunc(rows, func(a, b errorRow) int { return a.Number - b.Number })
	return rows
}

// statuses is every HTTP status of an error, in order.
func statuses() []int {
	all := map[int]bool{}
	for _, kind := range wire.ErrorKinds() {
		all[kind.Status] = true
	}
	return slices.Sorted(maps.Keys(all))
}

func headerRefs(names ...string) members[*specParameter] {
	var refs members[*specParameter]
	for _, name := range names {
		refs.add(name, &specParameter{Ref: "#/components/headers/" + name})
	}
	return refs
}

// responseName names the answer of a status: NotFound for 404.
func responseName(status int) string {
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

// operationID makes a name of a summary: the words up to the first comma, but
// for articles, as one word.
func operationID(summary string) string {
	summary, _, _ = strings.Cut(strings.ReplaceAll(summary, "'", ""), ",")
	var name strings.Builder
	for word := range strings.FieldsSeq(summary) {
		switch {
		case word == "a" || word == "an" || word == "the":
		case name.Len() == 0:
			name.WriteString(strings.ToLower(word))
		default:
			name.WriteString(upperFirst(word))
		}
	}
	return name.String()
}

func upperFirst(text string) string {
	for i, r := range text {
		return string(unicode.ToUpper(r)) + text[i+len(string(r)):]
	}
	return text
}

// sentence makes a sentence of a phrase.
func sentence(phrase string) string {
	if phrase == "" || strings.HasSuffix(phrase, ".") {
		return upperFirst(phrase)
	}
	return upperFirst(phrase) + "."
}
