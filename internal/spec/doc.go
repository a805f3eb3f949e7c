// Package spec describes HTTP APIs: it generates OpenAPI documents and reference pages from a
// list of operations and the Go types of their bodies.
//
// A field is described where it is declared: by the comment above it and by these struct
// tags, which are only for documentation and validate nothing:
//
//	json:"name,omitzero"  the name; fields with omitzero are optional in responses
//	required:"true"       the field must be sent in a request
//	nullable:"true"       the field may be null in a response, although it is not a pointer
//	enum:"a,b,c"          the possible values of the field or its elements
//	type:"string,null"    the JSON types of a field of type any
//	example:"text"        an example: text, comma-separated texts, or JSON
//
// A blank field with the tag required:"name,phone" names the required fields of a type whose
// fields are embedded. Types that have JSON methods describe themselves with the methods of
// the interfaces in describe.go.
//
// The package imports no other package of this module: it gets the routes and the types that
// it describes as arguments.
package spec
