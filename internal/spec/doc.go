// Package spec describes HTTP APIs: it makes OpenAPI documents and a reference
// page for people from a list of operations and the Go types of their bodies.
//
// Everything that a document says about a field stands beside that field. The
// comment above it is its description; these struct tags say the rest:
//
//	json:"name,omitzero"  the name; fields with omitzero are optional in responses
//	required:"true"       must be in a request
//	nullable:"true"       may be null in a response although it is no pointer
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
