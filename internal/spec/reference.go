package spec

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reference is the data of a reference page: the OpenAPI spec, arranged for readers.
type reference struct {
	Revision, Title string
	Base            string
	Public          bool // the API for organizations, whose page also has the conventions
	About           string
	Sections        []section
	Objects         []object
	Errors          []Error
	ErrorSample     []token
	Hello           []token

	Headers           []parameterRow
	MaxKey, KeepHours int
	Limits
}

// Limits are the limits that reference pages mention.
type Limits struct {
	MaxBodyMB, MaxEntries, MaxMetadataKB, MaxNotes int
}

type (
	// section has the operations of one resource.
	section struct {
		Name, Anchor, About string
		Operations          []operationView
	}

	// operationView is one operation.
	operationView struct {
		Anchor, Method, Summary, About string
		Text                           string // the path as text
		Path                           []pathPart
		Parameters                     []parameterRow
		Body                           *bodyView
		Takes                          string    // media types of a request that is not JSON
		Reply                          *bodyView // nil if the response is empty or not JSON
		Sends                          string    // media types of a response that is not JSON
		Command                        template.HTML
		Sample                         []token
		SampleText                     string // example of a response that is not JSON
		Try                            string // path of a request that the page can send; may be empty
		Statuses                       []statusView
	}

	// pathPart is a part of a path. Parameters are highlighted.
	pathPart struct {
		Text      string
		Parameter bool
	}

	parameterRow struct {
		Name, In, Type, About string
		Required              bool
	}

	// bodyView is the body of a request or response. Fields is empty if the type is described
	// with the objects.
	bodyView struct {
		Type   typeView
		Fields []fieldRow
	}

	fieldRow struct {
		Name     string
		Type     typeView
		Required bool
		Nullable bool
		About    string
		Values   []string
	}

	// typeView is the name of a type. Object is the anchor of its description, if any.
	typeView struct {
		Text, Object string
	}

	// object is a named type of JSON objects.
	object struct {
		Name, Anchor, About string
		Sent                bool // used in requests, not in responses
		Fields              []fieldRow
	}

	statusView struct {
		Status int
		Name   string
	}
)

// newReference returns the data of the reference page of an API.
func newReference(a API, limits Limits) reference {
	doc, _ := a.document()
	v := viewer{document: doc, api: a}
	ref := reference{
		Revision: a.Version, Title: a.Title, Base: a.Base, About: a.Description,
		Errors: a.Errors, ErrorSample: highlight(indented(v.sample(refTo(a.ErrorBody.Name()), 0))),
		Hello:  highlight(indented(v.sample(v.hello(), 0))),
		MaxKey: a.IdempotencyKey.Max, KeepHours: a.IdempotencyKey.Hours, Limits: limits,
	}
	for _, h := range doc.Components.Headers {
		ref.Headers = append(ref.Headers, parameterRow{Name: h.name, Type: h.value.Schema.Type[0], About: h.value.Description})
	}
	for _, t := range doc.Tags {
		s := section{Name: t.Name, Anchor: slug(t.Name), About: t.Description}
		for _, path := range doc.Paths {
			for _, op := range path.value {
				if op.value.Tags[0] == t.Name {
					s.Operations = append(s.Operations, v.operation(strings.ToUpper(op.name), path.name, op.value))
				}
			}
		}
		ref.Sections = append(ref.Sections, s)
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		s := doc.Components.Schemas[name]
		ref.Objects = append(ref.Objects, object{Name: name, Anchor: objectAnchor(name), About: s.Description, Sent: s.AdditionalProperties == nil, Fields: v.fields(s)})
	}
	return ref
}

// viewer converts parts of the OpenAPI spec to the data of the page.
type viewer struct {
	*document
	api API
}

// hello returns the schema of the response of the first operation. In the public API, it tests
// a key, and the page begins with it.
func (v viewer) hello() *schema {
	return v.Paths[0].value[0].value.Responses[0].value.Content[jsonType].Schema
}

func (v viewer) operation(method, path string, op *operation) operationView {
	target := v.target(path, op)
	o := operationView{
		Anchor: op.OperationID, Method: method, Summary: op.Summary, About: op.Description, Text: path, Path: pathParts(path),
		Command: template.HTML(shellHTML(v.command(method, target, op))), // it is escaped
	}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			continue // the same for every POST, and described in its own section
		}
		o.Parameters = append(o.Parameters, parameterRow{p.Name, p.In, v.typeOf(p.Schema).Text, p.Description, p.Required})
	}
	if op.RequestBody != nil {
		if sent, ok := op.RequestBody.Content[jsonType]; ok {
			o.Body = v.body(sent.Schema)
		} else {
			o.Takes = mediaTypes(op.RequestBody.Content)
		}
	}
	for _, r := range op.Responses {
		if sent, ok := r.value.Content[jsonType]; ok {
			o.Reply = v.body(sent.Schema)
			o.Sample = highlight(indented(v.sample(sent.Schema, 0)))
			if method == http.MethodGet && v.api.Security.Scheme == "basic" {
				o.Try = v.api.Base + target
			}
		} else if len(r.value.Content) > 0 {
			o.Sends, o.SampleText = mediaTypes(r.value.Content), op.sample
		} else if status, err := strconv.Atoi(r.name); err == nil && r.value.Ref != "" {
			o.Statuses = append(o.Statuses, statusView{status, strings.TrimPrefix(r.value.Ref, "#/components/responses/")})
		}
	}
	return o
}

// mediaTypes lists the media types of a body that is not JSON.
func mediaTypes(all map[string]content) string {
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// body describes a request or a response. The fields of named objects in responses are
// described only once, with the objects.
func (v viewer) body(s *schema) *bodyView {
	for len(s.AnyOf) > 0 {
		s = s.AnyOf[0]
	}
	b := &bodyView{Type: v.typeOf(s)}
	if b.Type.Object != "" && !v.sent(s) {
		return b
	}
	if s.Items != nil {
		s = s.Items
	}
	b.Fields = v.fields(v.resolve(s))
	return b
}

// sent reports whether a schema is that of a request.
func (v viewer) sent(s *schema) bool {
	if s.Items != nil {
		s = s.Items
	}
	return v.resolve(s).AdditionalProperties == nil
}

// resolve follows a reference.
func (v viewer) resolve(s *schema) *schema {
	if target, ok := v.Components.Schemas[strings.TrimPrefix(s.Ref, refPrefix)]; ok {
		return target
	}
	return s
}

func (v viewer) fields(s *schema) []fieldRow {
	var rows []fieldRow
	for _, p := range s.Properties {
		row := fieldRow{
			Name: p.name, Type: v.typeOf(p.value), Required: slices.Contains(s.Required, p.name),
			Nullable: takesNull(p.value), About: p.value.Description,
		}
		values := p.value.Enum
		if p.value.Items != nil {
			values = p.value.Items.Enum
		}
		for _, value := range values {
			if text, ok := value.(string); ok && !slices.Contains(p.value.Type, "boolean") {
				row.Values = append(row.Values, text)
			}
		}
		rows = append(rows, row)
		if p.value.Ref == "" && len(p.value.Properties) > 0 {
			for _, inner := range v.fields(p.value) {
				inner.Name = p.name + "." + inner.Name
				rows = append(rows, inner)
			}
		}
	}
	return rows
}

func takesNull(s *schema) bool {
	return slices.Contains(s.Type, "null") || slices.ContainsFunc(s.OneOf, takesNull)
}

// typeOf returns the name of the type of a schema, without null.
func (v viewer) typeOf(s *schema) typeView {
	switch {
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, refPrefix)
		return typeView{name, objectAnchor(name)}
	case len(s.OneOf) > 0:
		var all typeView
		for _, one := range s.OneOf {
			if t := v.typeOf(one); t.Text != "" {
				all.Text = strings.TrimPrefix(all.Text+" or "+t.Text, " or ")
				all.Object = cmp.Or(all.Object, t.Object)
			}
		}
		return all
	case s.Pattern == idPattern:
		return typeView{Text: "id"}
	case slices.Contains(s.Type, "boolean") && len(s.Enum) > 0:
		return typeView{Text: "boolean"}
	case len(s.PrefixItems) > 0:
		return typeView{Text: fmt.Sprintf("array of %d numbers", len(s.PrefixItems))}
	case s.Items != nil:
		of := v.typeOf(s.Items)
		return typeView{"array of " + plural(of.Text), of.Object}
	}
	names := slices.DeleteFunc(slices.Clone(s.Type), func(name string) bool { return name == "null" })
	return typeView{Text: strings.Join(names, " or ")}
}

func plural(name string) string {
	switch {
	case strings.HasPrefix(name, "array"):
		return strings.Replace(name, "array", "arrays", 1)
	case name == strings.ToLower(name):
		return name + "s"
	}
	return name
}

func pathParts(path string) []pathPart {
	var parts []pathPart
	for len(path) > 0 {
		at := pathParameter.FindStringIndex(path)
		if at == nil {
			return append(parts, pathPart{Text: path})
		}
		parts = append(parts, pathPart{Text: path[:at[0]]}, pathPart{path[at[0]:at[1]], true})
		path = path[at[1]:]
	}
	return parts
}

var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug returns an anchor for a text.
func slug(text string) string {
	return strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

func objectAnchor(name string) string { return "object-" + name }
