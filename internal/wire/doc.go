// Package wire is the JSON of the API: the types of requests and responses, their
// units and their rules for null, and their translation to and from the domain.
//
// The comment above a field is its description in the OpenAPI document, and its
// tags are the rest of what the document says about it: see package spec. Write
// comments for clients; after "make docs", descriptions.json has them.
//
// The package contains no rule of the business: those are in package lastmile. It
// knows no HTTP and no database. Requests are decoded by package codec.
package wire
