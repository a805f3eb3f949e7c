package spec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// target returns the path of an operation with a shell variable for each id, and the query of
// an example.
func (v viewer) target(path string, op *operation) string {
	before := "" // the last segment that is not an id
	var out strings.Builder
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			switch example := v.api.Paths[name].Example; {
			case example != "":
				segment, before = example, example
			case name == "id":
				segment = "$" + cmp.Or(v.api.Variables[before], variable(singular(before)))
			default:
				segment = "$" + variable(name)
			}
		} else {
			before = segment
		}
		out.WriteString("/" + segment)
	}
	mark := "?"
	for _, p := range op.Parameters {
		if p.In == "query" && (p.Required || p.example != "") {
			out.WriteString(mark + inQuery.Replace(p.Name+"="+p.example))
			mark = "&"
		}
	}
	text := out.String()
	for id, name := range v.api.SampleIDs {
		text = strings.ReplaceAll(text, id, "$"+name)
	}
	return text
}

// inQuery encodes characters that curl or a shell would interpret.
var inQuery = strings.NewReplacer(" ", "%20", "[", "%5B", "]", "%5D")

var capital = regexp.MustCompile(`([a-z])([A-Z])`)

// variable converts a name in camel case to the name of a shell variable.
func variable(name string) string { return strings.ToUpper(capital.ReplaceAllString(name, "${1}_$2")) }

func singular(name string) string {
	if stem, ok := strings.CutSuffix(name, "ches"); ok {
		return stem + "ch"
	}
	return strings.TrimSuffix(name, "s")
}

// command returns a curl command that performs an operation.
func (v viewer) command(method, target string, op *operation) string {
	var c strings.Builder
	c.WriteString("curl")
	for _, r := range op.Responses {
		if _, stream := r.value.Content[streamType]; stream {
			c.WriteString(" -N")
		}
	}
	switch {
	case op.Security != nil:
	case v.api.Security.Scheme == "basic":
		c.WriteString(` -u "` + keyMark + `:"`)
	default:
		c.WriteString(` -H "Authorization: Bearer $TOKEN"`)
	}
	if method != http.MethodGet && (method != http.MethodPost || op.RequestBody == nil) {
		c.WriteString(" -X " + method)
	}
	c.WriteString(` "` + originMark + v.api.Base + target + `"`)
	if op.RequestBody == nil {
		return c.String()
	}
	sent, isJSON := op.RequestBody.Content[jsonType]
	if !isJSON {
		c.WriteString(" \\\n  -H 'Content-Type: image/png' --data-binary @image.png")
		return c.String()
	}
	var example any = sent.Example
	if sent.Example == nil {
		example = v.sample(sent.Schema, 0)
	}
	body := strings.ReplaceAll(indented(example), "'", `'\''`)
	for id, name := range v.api.SampleIDs {
		body = strings.ReplaceAll(body, id, `'"$`+name+`"'`)
	}
	c.WriteString(" \\\n  -H 'Content-Type: application/json' \\\n  -d '" + body + "'")
	return c.String()
}

// indented returns a value as indented JSON.
func indented(value any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return "{}"
	}
	return compactLists(strings.TrimSpace(out.String()))
}

// maxSampleDepth is the maximum depth of samples, for objects that contain their own type.
const maxSampleDepth = 12

// sample returns a value for a schema, from the examples in the schema.
func (v viewer) sample(s *schema, depth int) any {
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case depth > maxSampleDepth:
		return nil
	case s.Ref != "":
		return v.sample(v.resolve(s), depth+1)
	case len(s.OneOf) > 0:
		return v.sample(s.OneOf[0], depth+1)
	case len(s.AnyOf) > 0:
		return v.sample(s.AnyOf[0], depth+1)
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.Type) == 0 || slices.Contains(s.Type, "null"):
		return nil
	case s.Items != nil:
		return []any{v.sample(s.Items, depth+1)}
	}
	switch s.Type[0] {
	case "object":
		return v.sampleObject(s, depth)
	case "boolean":
		return false
	case "number", "integer":
		return 0
	}
	return ""
}

// sampleObject returns an object for a schema, without optional fields that have no example.
func (v viewer) sampleObject(s *schema, depth int) any {
	object := members[any]{}
	for _, p := range s.Properties {
		if slices.Contains(s.Required, p.name) || len(p.value.Examples) > 0 {
			object.add(p.name, v.sample(p.value, depth+1))
		}
	}
	return object
}

// token is a piece of JSON with the CSS class for its color.
type token struct {
	Class, Text string
}

var jsonPieces = regexp.MustCompile(`("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b`)

// highlight splits JSON into tokens.
func highlight(text string) []token {
	var pieces []token
	end := 0
	for _, at := range jsonPieces.FindAllStringSubmatchIndex(text, -1) {
		pieces = append(pieces, token{"", text[end:at[0]]})
		class := "lit"
		switch {
		case at[4] >= 0:
			class = "key"
		case at[2] >= 0:
			class = "str"
		}
		end = at[1]
		if class == "key" {
			end = at[3]
		}
		pieces = append(pieces, token{class, text[at[0]:end]})
	}
	return append(pieces, token{"", text[end:]})
}

var shortList = regexp.MustCompile(`\[\s+("[^"\n]*"|-?[\d.]+)(,\s+-?[\d.]+)?\s+\]`)

// compactLists puts arrays of one element and pairs of numbers on one line.
func compactLists(text string) string {
	return shortList.ReplaceAllStringFunc(text, func(list string) string {
		inner := strings.TrimSpace(strings.Trim(list, "[]"))
		first, second, pair := strings.Cut(inner, ",\n")
		if pair {
			first += ", " + strings.TrimSpace(second)
		}
		return "[" + first + "]"
	})
}
