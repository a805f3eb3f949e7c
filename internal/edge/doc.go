// Package edge is where HTTP requests arrive: it routes and authorizes them,
// limits their rate and size, reads their bodies, and writes responses, streams
// and errors.
//
// An API is a list of routes. A route is made by a constructor such as Get or
// Create, whose type parameters are the Go types of the request body and of the
// reply: a handler that returns another type does not compile, and the OpenAPI
// document is generated from the same types. The package knows no resource and no
// rule of the business.
package edge
