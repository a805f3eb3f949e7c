package apptest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas validates values against the schemas of one OpenAPI spec. Compiling a schema takes
// a hundred times as long as validating a value, so each is compiled only once. schemas may
// be used by several goroutines.
type schemas struct {
	mu       sync.Mutex
	spec     any
	compiler *jsonschema.Compiler
	strict   *jsonschema.Schema            // schema of schemas
	compiled map[string]*jsonschema.Schema // by JSON pointer
}

// strictSchema is the schema of schemas, and rejects unknown keywords. A validator would
// ignore them and accept what they are meant to forbid.
const strictSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$id": "spec:strict", "$dynamicAnchor": "meta",
	"$ref": "https://json-schema.org/draft/2020-12/schema",
	"unevaluatedProperties": false
}`

// sharedSchemas caches the schemas of each spec, by its digest, because every platform that a
// test starts serves the same spec.
var sharedSchemas sync.Map

// schemasOf returns the schemas of a spec.
func schemasOf(spec []byte) (*schemas, error) {
	digest := sha256.Sum256(spec)
	if found, ok := sharedSchemas.Load(digest); ok {
		return found.(*schemas), nil
	}
	made, err := newSchemas(spec)
	if err != nil {
		return nil, err
	}
	found, _ := sharedSchemas.LoadOrStore(digest, made)
	return found.(*schemas), nil
}

func newSchemas(spec []byte) (*schemas, error) {
	s := &schemas{compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	s.compiler.DefaultDraft(jsonschema.Draft2020)
	var err error
	if s.spec, err = jsonschema.UnmarshalJSON(bytes.NewReader(spec)); err != nil {
		return nil, err
	}
	strict, err := jsonschema.UnmarshalJSON(strings.NewReader(strictSchema))
	if err != nil {
		return nil, err
	}
	for url, doc := range map[string]any{"spec:document": s.spec, "spec:strict": strict} {
		if err := s.compiler.AddResource(url, doc); err != nil {
			return nil, err
		}
	}
	if s.strict, err = s.compiler.Compile("spec:strict"); err != nil {
		return nil, err
	}
	return s, s.checkComponents()
}

// checkComponents compiles every shared schema, so that an invalid one is found even if no
// test uses it.
func (s *schemas) checkComponents() error {
	shared, ok := member(s.spec, "components", "schemas").(map[string]any)
	if !ok {
		return nil
	}
	for name := range shared {
		if _, err := s.compile(pointer("components", "schemas", name)); err != nil {
			return err
		}
	}
	return nil
}

// compile returns the schema at a JSON pointer into the spec.
func (s *schemas) compile(at string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.compiled[at]; found != nil {
		return found, nil
	}
	if err := s.strict.Validate(member(s.spec, keys(at)...)); err != nil {
		return nil, fmt.Errorf("the schema at %s: %w", at, err)
	}
	compiled, err := s.compiler.Compile("spec:document#" + at)
	if err != nil {
		return nil, err
	}
	s.compiled[at] = compiled
	return compiled, nil
}

// validate returns an error if a value does not match the schema at a JSON pointer.
func (s *schemas) validate(at string, value any) error {
	schema, err := s.compile(at)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

var (
	escapeKey   = strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "{", "%7B", "}", "%7D")
	unescapeKey = strings.NewReplacer("~1", "/", "~0", "~", "%25", "%", "%7B", "{", "%7D", "}")
)

// pointer returns the JSON pointer to a member, as the fragment of a URL.
func pointer(keys ...string) string {
	var out strings.Builder
	for _, key := range keys {
		out.WriteString("/" + escapeKey.Replace(key))
	}
	return out.String()
}

// keys returns the keys in a pointer.
func keys(pointer string) []string {
	all := strings.Split(pointer, "/")[1:]
	for i, key := range all {
		all[i] = unescapeKey.Replace(key)
	}
	return all
}

// member returns the member of a value that keys lead to, or nil.
func member(value any, keys ...string) any {
	for _, key := range keys {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[key]
	}
	return value
}
