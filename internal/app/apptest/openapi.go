package apptest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Spec is the interface's document, for holding live traffic against it. It
// may be used by several goroutines.
//
// It does not use the validator of package openapi3, which compiles a schema
// anew for each value and takes a hundred times as long as the request.
type Spec struct {
	base   string
	paths  map[string]map[string]*specOperation
	errors specContent // what every refusal looks like
	checker
}

type (
	specOperation struct {
		RequestBody *specContent            `json:"requestBody"`
		Responses   map[string]*specContent `json:"responses"`
	}

	specContent struct {
		Ref     string `json:"$ref"`
		Content map[string]struct {
			Schema jsonSchema `json:"schema"`
		} `json:"content"`
	}
)

// NewSpec reads a document and fails the test when it is none.
func NewSpec(t testing.TB, document []byte) *Spec {
	t.Helper()
	var doc struct {
		Servers    []struct{ URL string }
		Paths      map[string]map[string]*specOperation
		Components struct {
			Responses map[string]specContent
			Schemas   map[string]jsonSchema
		}
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatalf("read the document: %v", err)
	}
	if len(doc.Servers) != 1 || len(doc.Paths) == 0 {
		t.Fatal("the document has no server or no paths")
	}
	for _, path := range doc.Paths {
		for _, operation := range path {
			for status, response := range operation.Responses {
				if name, ok := strings.CutPrefix(response.Ref, "#/components/responses/"); ok {
					shared := doc.Components.Responses[name]
					operation.Responses[status] = &shared
				}
			}
		}
	}
	return &Spec{
		base: doc.Servers[0].URL, paths: doc.Paths, errors: doc.Components.Responses["NotFound"],
		checker: checker{schemas: doc.Components.Schemas},
	}
}

// Check fails the test when a live answer does not match the document: its
// route, its status and its body. path may begin with the server's path and
// may end with a query. A request that was done must match as well; leave
// requestBody out where a test sends what the server takes by tolerance alone.
func (s *Spec) Check(t testing.TB, method, path string, status int, requestBody, responseBody []byte) {
	t.Helper()
	answered := method + " " + path + " answered " + strconv.Itoa(status)
	operation := s.operation(method, path)
	if operation == nil {
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
			t.Errorf("%s, but it is not in the document", answered)
			return
		}
		s.checkContent(t, answered, s.errors, responseBody)
		return
	}
	documented := operation.Responses[strconv.Itoa(status)]
	if documented == nil {
		t.Errorf("%s, which the document does not have: %s", answered, responseBody)
		return
	}
	s.checkContent(t, answered, *documented, responseBody)
	if status == http.StatusOK && operation.RequestBody != nil && hasBody(requestBody) {
		s.checkContent(t, method+" "+path+" took a request", *operation.RequestBody, requestBody)
	}
}

// hasBody tells whether the server would see a body: nothing and null are none.
func hasBody(body []byte) bool {
	text := bytes.TrimSpace(body)
	return len(text) > 0 && string(text) != "null"
}

// operation finds the operation of a path: of several that match, the one with
// the fewest parameters, as the server does.
func (s *Spec) operation(method, path string) *specOperation {
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimSuffix(strings.TrimPrefix(path, s.base), "/")
	var found *specOperation
	fewest := -1
	for pattern, methods := range s.paths {
		parameters, ok := match(pattern, path)
		operation := methods[strings.ToLower(method)]
		if ok && operation != nil && (fewest < 0 || parameters < fewest) {
			found, fewest = operation, parameters
		}
	}
	return found
}

// match tells whether a path fits a pattern, and with how many parameters.
func match(pattern, path string) (parameters int, ok bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return 0, false
	}
	for i, segment := range want {
		switch {
		case strings.HasPrefix(segment, "{") && got[i] != "":
			parameters++
		case segment != got[i]:
			return 0, false
		}
	}
	return parameters, true
}

// checkContent holds a body against the schema of its content; no content
// means that there must be no body.
func (s *Spec) checkContent(t testing.TB, what string, documented specContent, body []byte) {
	t.Helper()
	if len(documented.Content) == 0 {
		if len(body) > 0 {
			t.Errorf("%s with a body, which the document does not have: %s", what, body)
		}
		return
	}
	documentedJSON, isJSON := documented.Content["application/json"]
	if !isJSON {
		return
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s with what is not JSON: %v: %s", what, err, body)
		return
	}
	if err := s.check(documentedJSON.Schema, value, "body"); err != nil {
		t.Errorf("%s not as documented: %v\n%s", what, err, body)
	}
}
