// Package wire is the JSON of the API: the types of requests and responses, their
// units and their rules for null, and their translation to and from the domain.
//
// The comment above a field is its description in the OpenAPI document, and its
// tags add the rest of its schema: see package spec. Write these comments for
// clients of the API, and run "make docs" to copy them to descriptions.json.
//
// The package contains no business rules: those are in package lastmile. It
// depends neither on HTTP nor on a database. Package codec decodes requests.
package wire
