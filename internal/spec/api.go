package spec

import (
	"fmt"
	"reflect"
)

// API is an HTTP API that has an OpenAPI document.
type API struct {
	Base        string // the path that all operations are under
	Title       string
	Version     string // of the API
	Program     string // version of the program that serves it
	Description string

	Security   Security
	Idempotent bool // POST takes an Idempotency-Key

	IdempotencyKey IdempotencyKey

	Tags       []Tag
	Operations []Operation
	Paths      map[string]PathParameter // by name

	// Variables names the shell variable of an id in the commands of the reference, by the
	// segment before it in the path; by default its singular. SampleIDs does for ids in
	// examples.
	Variables, SampleIDs map[string]string

	Errors      []Error
	ErrorBody   reflect.Type // of every error
	BatchErrors BatchErrors

	Headers []Header // of responses

	// Descriptions holds the descriptions of types ("Worker") and of fields by
	// the type that declares them ("WorkerRecord.Phone").
	Descriptions map[string]string
}

// Security is how callers are authenticated.
type Security struct {
	Name        string // of the scheme, in the OpenAPI spec
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
	Body         reflect.Type // of the request; nil when it has none
	Example      string       // JSON of a request body
	Reply        reflect.Type // of the response; nil when it is empty
	Status       int          // of the response; by default 200
	Public       bool         // needs no credentials
	FindsRecords bool         // may respond 404 although no field of the body is an id
	BatchErrors  bool         // has the errors of a batch
	Sends        []string     // media types of a response that is not JSON
	Sample       string       // such a response, if it is text
	Takes        []string     // media types of a request that is not JSON
}

// Parameter is a parameter in the query or a header.
type Parameter struct {
	Name, Description string
	Required          bool
	Type              string // JSON type; by default string
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

// Error is an error that operations respond with.
type Error struct {
	Status, Number int
	Class, Meaning string
}

// BatchErrors is the shape of the errors of operations that take a batch.
type BatchErrors struct {
	Body reflect.Type
	// Applies reports whether errors with a status have the shape.
	Applies func(status int) bool
}

// IdempotencyKey is the header that makes a POST safe to repeat.
type IdempotencyKey struct {
	Description string
	Max         int // characters
	Hours       int // that a key is remembered for
}

func (k IdempotencyKey) parameter() *specParameter {
	return &specParameter{
		Name: "Idempotency-Key", In: "header", Description: k.Description,
		Schema: &schema{Type: typeNames{"string"}, Pattern: fmt.Sprintf("^[ -~]{1,%d}$", k.Max)},
	}
}
