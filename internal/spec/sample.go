package spec

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// command is a curl command that does an operation.
func (v viewer) command(method, path string, op *operation) string {
	var c strings.Builder
	c.WriteString(`curl -u "$KEY:"`)
	if method != "GET" && method != "POST" {
		c.WriteString(" -X " + method)
	}
	c.WriteString(` "` + originMark + v.api.Base)
	c.WriteString(pathParameter.ReplaceAllStringFunc(path, func(name string) string {
		if example := v.api.Paths[strings.Trim(name, "{}")].Example; example != "" {
			return example
		}
		return "$" + strings.ToUpper(strings.Trim(name, "{}"))
	}))
	mark := "?"
	for _, p := range op.Parameters {
		if p.In == "query" && p.Required {
			c.WriteString(mark + p.Name + "=" + p.example)
			mark = "&"
		}
	}
	c.WriteString(`"`)
	if op.RequestBody != nil {
		sent, isJSON := op.RequestBody.Content[jsonType]
		if !isJSON {
			c.WriteString(" \\\n  --data-binary @FILE")
			return c.String()
		}
		var example any = sent.Example
		if sent.Example == nil {
			example = v.sample(sent.Schema, 0)
		}
		c.WriteString(" \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(indented(example), "'", `'\''`) + "'")
	}
	return c.String()
}

// indented writes a value as JSON for reading.
func indented(value any) string {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return "{}"
	}
	return compactLists(string(data))
}

// maxSampleDepth ends samples of objects that contain their own kind.
const maxSampleDepth = 12

// sample makes a value that a schema takes, of the examples in it.
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

// sampleObject leaves out what is not always there, unless it has an example.
func (v viewer) sampleObject(s *schema, depth int) any {
	object := members[any]{}
	for _, p := range s.Properties {
		if slices.Contains(s.Required, p.name) || len(p.value.Examples) > 0 {
			object.add(p.name, v.sample(p.value, depth+1))
		}
	}
	return object
}

// token is a piece of JSON with the class that colors it.
type token struct {
	Class, Text string
}

var jsonPieces = regexp.MustCompile(`("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b`)

// highlight cuts the JSON of a value into pieces by kind.
func highlight(value any) []token {
	text := indented(value)
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

// compactLists puts pairs of numbers, and lists of one, on one line.
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
