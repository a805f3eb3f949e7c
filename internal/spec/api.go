package spec

import (
	"fmt"
	"reflect"
)

// API is an HTTP API that has an OpenAPI document.
type API struct {
	Base        string // path prefix of all operations
	Title       string
	Version     string // version of the API
	Program     string // version of the program that serves the API
	Description string

	Security   Security
	Idempotent bool // POST accepts an Idempotency-Key

	IdempotencyKey IdempotencyKey

	Tags       []Tag
	Operations []Operation
	Paths      map[string]PathParameter // by name

	// Variables maps the segment before an id in a path to the shell variable of the id in
	// the commands of the reference; the default is the singular of the segment. SampleIDs
	// maps ids in examples to their shell variables.
	Variables, SampleIDs map[string]string

	Errors      []Error
	ErrorBody   reflect.Type // type of the body of errors
	BatchErrors BatchErrors

	Headers []Header // headers of responses

	// Descriptions holds the descriptions of types ("Worker") and of fields by
	// the type that declares them ("WorkerRecord.Phone").
	Descriptions map[string]string
}

// Security describes how callers are authenticated.
type Security struct {
	Name        string // name of the scheme in the OpenAPI spec
	Scheme      string // as in the Authorization header: basic or bearer
	Description string
}

// Tag is a group of operations.
type Tag struct {
	Name, Description string
}

// Operation is one operation of an API.
type Operation struct {
	Method, Path string
	Tag          string
	Summary      string
	Description  string
	Query        []Parameter
	Header       []Parameter
	Body         reflect.Type // type of the request body; nil for none
	Example      string       // example of a request body, as JSON
	Reply        reflect.Type // type of the response; nil if it is empty
	Status       int          // status of the response; the default is 200
	Public       bool         // requires no credentials
	FindsRecords bool         // may respond with 404 although the body has no field with an id
	BatchErrors  bool         // errors have the form of BatchErrors
	Sends        []string     // media types of a response that is not JSON
	Sample       string       // example of a response that is text, not JSON
	Takes        []string     // media types of a request that is not JSON
}

// Parameter is a parameter in the query or a header.
type Parameter struct {
	Name, Description string
	Required          bool
	Type              string // JSON type; the default is string
	Example           string
}

// PathParameter is a parameter in the path of operations.
type PathParameter struct {
	Description string
	Example     string
}

// Header is a header of responses.
type Header struct {
	Name, Type, Description string
}

// Error is an error with which operations respond.
type Error struct {
	Status, Number int
	Class, Meaning string
}

// BatchErrors is the form of the errors of operations for batches.
type BatchErrors struct {
	Body reflect.Type
	// Applies reports whether errors with a status have this form.
	Applies func(status int) bool
}

// IdempotencyKey is the header that makes a POST safe to repeat.
type IdempotencyKey struct {
	Description string
	Max         int // maximum length of a key in characters
	Hours       int // how long a key is kept
}

func (k IdempotencyKey) parameter() *specParameter {
	return &specParameter{
		Name: "Idempotency-Key", In: "header", Description: k.Description,
		Schema: &schema{Type: typeNames{"string"}, Pattern: fmt.Sprintf("^[ -~]{1,%d}$", k.Max)},
	}
}
