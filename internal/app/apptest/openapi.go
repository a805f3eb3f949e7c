package apptest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Spec is an OpenAPI spec with which live traffic is compared. It may be used by several
// goroutines.
type Spec struct {
	base    string
	routes  map[routeKey][]specRoute
	errors  specContent // content of every error response
	schemas *schemas
}

type (
	// routeKey is common to a request and all routes that may match it.
	routeKey struct {
		method   string
		segments int
	}

	specRoute struct {
		segments   []string
		parameters int
		operation  *specOperation
	}

	specOperation struct {
		RequestBody *specContent            `json:"requestBody"`
		Responses   map[string]*specContent `json:"responses"`
	}

	specContent struct {
		Ref     string              `json:"$ref"`
		Content map[string]struct{} `json:"content"` // by media type

		schema string // JSON pointer to the schema of JSON content
	}
)

// NewSpec reads a spec and fails the test if it is not valid.
func NewSpec(t testing.TB, document []byte) *Spec {
	t.Helper()
	var doc struct {
		Servers    []struct{ URL string }
		Paths      map[string]map[string]*specOperation
		Components struct{ Responses map[string]specContent }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatalf("read the spec: %v", err)
	}
	if len(doc.Servers) != 1 || len(doc.Paths) == 0 {
		t.Fatal("the spec has no server or no paths")
	}
	shared := func(name string) specContent {
		content := doc.Components.Responses[name]
		content.schema = schemaOf("components", "responses", name)
		return content
	}
	routes := map[routeKey][]specRoute{}
	for path, methods := range doc.Paths {
		segments := strings.Split(path, "/")
		for method, operation := range methods {
			key := routeKey{strings.ToUpper(method), len(segments)}
			routes[key] = append(routes[key], specRoute{segments, strings.Count(path, "{"), operation})
			if operation.RequestBody != nil {
				operation.RequestBody.schema = schemaOf("paths", path, method, "requestBody")
			}
			for status, response := range operation.Responses {
				response.schema = schemaOf("paths", path, method, "responses", status)
				if name, ok := strings.CutPrefix(response.Ref, "#/components/responses/"); ok {
					*response = shared(name)
				}
			}
		}
	}
	schemas, err := schemasOf(document)
	if err != nil {
		t.Fatalf("read the schemas of the spec: %v", err)
	}
	return &Spec{base: doc.Servers[0].URL, routes: routes, errors: shared("NotFound"), schemas: schemas}
}

// Check fails the test if a live response does not match the spec: its route, its status and
// its body. path may begin with the server's path and may end with a query. The body of a
// request that succeeded must match as well; pass nil if a test sends a body that the server
// only tolerates.
func (s *Spec) Check(t testing.TB, method, path string, status int, requestBody, responseBody []byte) {
	t.Helper()
	responded := method + " " + path + " returned " + strconv.Itoa(status)
	operation := s.operation(method, path)
	if operation == nil {
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
			t.Errorf("%s, but it is not in the spec", responded)
			return
		}
		s.checkContent(t, responded, s.errors, responseBody)
		return
	}
	documented := operation.Responses[strconv.Itoa(status)]
	if documented == nil {
		t.Errorf("%s, which the spec does not have: %s", responded, responseBody)
		return
	}
	s.checkContent(t, responded, *documented, responseBody)
	if status == http.StatusOK && operation.RequestBody != nil && hasBody(requestBody) {
		s.checkContent(t, method+" "+path+" accepted a request", *operation.RequestBody, requestBody)
	}
}

// hasBody reports whether the server regards a body as one: it ignores an empty body and
// null.
func hasBody(body []byte) bool {
	text := bytes.TrimSpace(body)
	return len(text) > 0 && string(text) != "null"
}

// operation finds the operation of a path. If several match, it returns the one with the
// fewest parameters, as the server does.
func (s *Spec) operation(method, path string) *specOperation {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, s.base), "/"), "/")
	var found specRoute
	for _, route := range s.routes[routeKey{method, len(segments)}] {
		if route.matches(segments) && (found.operation == nil || route.parameters < found.parameters) {
			found = route
		}
	}
	return found.operation
}

// matches reports whether a path with the same number of segments matches the route.
func (r specRoute) matches(path []string) bool {
	for i, segment := range r.segments {
		if segment != path[i] && (!strings.HasPrefix(segment, "{") || path[i] == "") {
			return false
		}
	}
	return true
}

// schemaOf returns the JSON pointer to the schema of the content that keys lead to.
func schemaOf(keys ...string) string {
	return pointer(append(keys, "content", "application/json", "schema")...)
}

// checkContent validates a body against the schema of its content; without
// content there must be no body.
func (s *Spec) checkContent(t testing.TB, what string, documented specContent, body []byte) {
	t.Helper()
	if len(documented.Content) == 0 {
		if len(body) > 0 {
			t.Errorf("%s with a body, which the spec does not have: %s", what, body)
		}
		return
	}
	if _, isJSON := documented.Content["application/json"]; !isJSON {
		return
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s with what is not JSON: %v: %s", what, err, body)
		return
	}
	if err := s.schemas.validate(documented.schema, value); err != nil {
		t.Errorf("%s not as documented: %v\n%s", what, err, body)
	}
}
