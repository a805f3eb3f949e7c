// Package spec describes HTTP APIs: it makes OpenAPI documents and a reference
// page from a list of operations and the Go types of their bodies.
//
// A field is described where it is declared: by the comment above it and by these
// struct tags, which describe the API and validate nothing:
//
//	json:"name,omitzero"  the name; fields with omitzero are optional in responses
//	required:"true"       must be sent in a request
//	nullable:"true"       may be null in a response, although it is not a pointer
//	enum:"a,b,c"          the values it can have, or its elements can have
//	type:"string,null"    the JSON types of a field that is an any
//	example:"text"        an example: text, comma-separated texts, or JSON
//
// A blank field with the tag required:"name,phone" names the required fields of
// a type whose fields are embedded. Types that have JSON methods describe
// themselves with the methods of the interfaces in describe.go.
//
// The package knows neither the routes nor the types it describes, and imports
// no other package of this module.
package spec
