package spec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
)

// document returns the OpenAPI document of an API. gaps are the types that it cannot describe.
func (a API) document() (doc *document, gaps []string) {
	b := &builder{schemas: schemas{descriptions: a.Descriptions, named: map[string]*schema{}}, api: a}
	doc = &document{
		OpenAPI:  "3.1.0",
		Info:     info{Title: a.Title, Version: a.Version, Description: a.Description, Program: a.Program},
		Servers:  []server{{URL: a.Base}},
		Security: []map[string][]string{{a.Security.Name: {}}},
	}
	for _, t := range a.Tags {
		doc.Tags = append(doc.Tags, tag(t))
	}
	for _, op := range a.Operations {
		at := slices.IndexFunc(doc.Paths, func(m member[members[*operation]]) bool { return m.name == op.Path })
		if at < 0 {
			at = len(doc.Paths)
			doc.Paths.add(op.Path, nil)
		}
		doc.Paths[at].value.add(strings.ToLower(op.Method), b.operation(op))
	}
	doc.Components = b.components()
	return doc, b.gaps
}

// builder collects the components that operations share.
type builder struct {
	schemas
	api     API
	batches bool // at least one operation has BatchErrors
}

func (b *builder) operation(o Operation) *operation {
	op := &operation{
		OperationID: operationID(o.Summary), Tags: []string{o.Tag}, Summary: o.Summary, Description: o.Description,
		Parameters: b.parameters(o), sample: o.Sample,
	}
	switch {
	case o.Body != nil:
		op.RequestBody = b.body(o)
	case len(o.Takes) > 0:
		op.RequestBody = &requestBody{Description: "The file itself, not a form.", Required: true, Content: anyOf(o.Takes)}
	}
	if o.Public {
		op.Security = &[]map[string][]string{}
	}
	b.batches = b.batches || o.BatchErrors
	op.Responses.add(strconv.Itoa(o.success()), b.success(o))
	for _, status := range b.errors(o, op) {
		name := responseName(status)
		if o.BatchErrors && b.api.BatchErrors.Applies(status) {
			name = batchResponseName(status)
		}
		op.Responses.add(strconv.Itoa(status), &response{Ref: "#/components/responses/" + name})
	}
	return op
}

// success returns the status of a successful response.
func (o Operation) success() int { return cmp.Or(o.Status, http.StatusOK) }

// body describes the body of a request.
func (b *builder) body(o Operation) *requestBody {
	s := b.of(o.Body, form{request: true})
	if s.Items != nil {
		s.MinItems = 1 // a search without criteria is rejected
	}
	target := b.named[strings.TrimPrefix(s.Ref, refPrefix)]
	required := s.Items != nil || target != nil && len(target.Required) > 0
	sent := content{Schema: s}
	if o.Example != "" {
		sent.Example = json.RawMessage(o.Example)
	}
	return &requestBody{Required: required, Content: map[string]content{jsonType: sent}}
}

// success describes the response to a successful request.
func (b *builder) success(o Operation) *response {
	ok := &response{Description: "Success. The response has no body.", Headers: headerRefs("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-Request-Id")}
	if o.Method == http.MethodPost && b.api.Idempotent {
		ok.Headers = append(ok.Headers, headerRefs("Idempotent-Replayed")...)
	}
	if len(o.Sends) > 0 {
		ok.Description, ok.Content = "Success. The response is the file itself.", anyOf(o.Sends)
		if slices.Contains(o.Sends, streamType) {
			ok.Description = "Success. The response is a stream of server-sent events, which the server does not end."
			ok.Content = map[string]content{streamType: {Schema: &schema{Type: typeNames{"string"}}, Example: textExample(o.Sample)}}
		}
		return ok
	}
	if o.Reply == nil {
		return ok
	}
	ok.Description = "Success."
	ok.Content = map[string]content{jsonType: {Schema: b.reply(o)}}
	return ok
}

// textExample returns a text as a JSON string, or nil if it is empty.
func textExample(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil || text == "" {
		return nil
	}
	return data
}

// anyOf returns content that is not JSON and has one of the media types. OpenAPI 3.1 describes
// bytes with a schema without a type.
func anyOf(types []string) map[string]content {
	all := map[string]content{}
	for _, t := range types {
		all[t] = content{Schema: &schema{}}
	}
	return all
}

// reply describes a response. If callers can select fields with a filter, only the id is
// always present.
func (b *builder) reply(o Operation) *schema {
	t, _ := alias(o.Reply)
	whole := b.of(t, form{})
	if !slices.ContainsFunc(o.Query, func(p Parameter) bool { return p.Name == "filter" }) {
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

func (b *builder) parameters(o Operation) []*specParameter {
	var all []*specParameter
	for _, found := range pathParameter.FindAllStringSubmatch(o.Path, -1) {
		p := &specParameter{Name: found[1], In: "path", Required: true, Schema: ofType("string"), Description: b.api.Paths[found[1]].Description}
		if found[1] == "id" {
			p.Schema = idSchema()
		}
		all = append(all, p)
	}
	for _, q := range o.Query {
		p := &specParameter{Name: q.Name, In: "query", Required: q.Required, Schema: ofType(cmp.Or(q.Type, "string")), Description: sentence(q.Description), example: q.Example}
		all = append(all, p)
	}
	for _, h := range o.Header {
		all = append(all, &specParameter{Name: h.Name, In: "header", Schema: ofType(cmp.Or(h.Type, "string")), Description: sentence(h.Description)})
	}
	if o.Method == http.MethodPost && b.api.Idempotent {
		all = append(all, &specParameter{Ref: "#/components/parameters/Idempotency-Key"})
	}
	return all
}

// errors lists the statuses of the possible errors of an operation.
func (b *builder) errors(o Operation, op *operation) []int {
	// 403 is the response to requests from pages of other sites, of administrators whose role
	// does not allow them, and of workers who have not set a password.
	statuses := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}
	writes := o.Method != http.MethodGet
	finds := o.FindsRecords || strings.Contains(o.Path, "{") || o.Method == http.MethodPut || o.Method == http.MethodDelete ||
		slices.ContainsFunc(o.Query, func(p Parameter) bool { return strings.HasSuffix(p.Name, "Id") })
	if !finds && op.RequestBody != nil {
		finds = b.hasID(op.RequestBody.Content[jsonType].Schema, map[string]bool{})
	}
	if finds {
		statuses = append(statuses, http.StatusNotFound)
	}
	if writes {
		statuses = append(statuses, http.StatusPreconditionFailed)
	}
	if op.RequestBody != nil || o.Method == http.MethodPost {
		statuses = append(statuses, http.StatusRequestEntityTooLarge)
	}
	return append(statuses, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable)
}

// hasID reports whether a body can contain the id of a record, so that the record may not
// exist. seen holds the references that were followed.
func (b *builder) hasID(s *schema, seen map[string]bool) bool {
	if s == nil || seen[s.Ref] {
		return false
	}
	if s.Ref != "" {
		seen[s.Ref] = true
		return b.hasID(b.named[strings.TrimPrefix(s.Ref, refPrefix)], seen)
	}
	if s.Pattern == idPattern || b.hasID(s.Items, seen) {
		return true
	}
	for _, part := range slices.Concat(s.OneOf, s.AnyOf) {
		if b.hasID(part, seen) {
			return true
		}
	}
	return slices.ContainsFunc(s.Properties, func(p member[*schema]) bool { return b.hasID(p.value, seen) })
}

func (b *builder) components() components {
	security := b.api.Security
	c := components{
		SecuritySchemes: map[string]securityScheme{
			security.Name: {Type: "http", Scheme: security.Scheme, Description: security.Description},
		},
	}
	if b.api.Idempotent {
		c.Parameters.add("Idempotency-Key", b.api.IdempotencyKey.parameter())
	}
	for _, h := range b.api.Headers {
		c.Headers.add(h.Name, &specParameter{Description: h.Description, Schema: ofType(h.Type)})
	}
	body := b.of(b.api.ErrorBody, form{})
	for _, status := range b.api.statuses() {
		r := &response{
			Headers: headerRefs("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-Request-Id"),
			Content: map[string]content{jsonType: {Schema: body}},
		}
		for _, e := range b.api.Errors {
			if e.Status == status {
				r.Description += fmt.Sprintf("%d %s: %s ", e.Number, e.Class, e.Meaning)
			}
		}
		r.Description = strings.TrimSpace(r.Description)
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			r.Headers = append(r.Headers, headerRefs("Retry-After")...)
		}
		c.Responses.add(responseName(status), r)
		if b.batches && b.api.BatchErrors.Applies(status) {
			batch := *r
			batch.Content = map[string]content{jsonType: {Schema: b.of(b.api.BatchErrors.Body, form{})}}
			c.Responses.add(batchResponseName(status), &batch)
		}
	}
	c.Schemas = b.named
	return c
}

// statuses lists the HTTP statuses of all errors, in ascending order.
func (a API) statuses() []int {
	var all []int
	for _, e := range a.Errors {
		all = append(all, e.Status)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func batchResponseName(status int) string { return "Batch" + responseName(status) }

func headerRefs(names ...string) members[*specParameter] {
	var refs members[*specParameter]
	for _, name := range names {
		refs.add(name, &specParameter{Ref: "#/components/headers/" + name})
	}
	return refs
}

// responseName returns the name of the response with a status, such as NotFound for 404.
func responseName(status int) string {
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

// operationID returns an id for a summary: the words up to the first comma, without articles,
// in camel case.
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

// sentence returns a phrase with a capital letter and a full stop.
func sentence(phrase string) string {
	if phrase == "" || strings.HasSuffix(phrase, ".") {
		return upperFirst(phrase)
	}
	return upperFirst(phrase) + "."
}
