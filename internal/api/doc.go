// Package api is the public HTTP interface, version 2, and the one that workers'
// phones speak: the route tables, who may pass, how requests are read and
// answers and errors are written.
//
// Handlers translate: they decode a request, call one use case and return what
// it returned. No rule of the interface is decided here. Each route stands
// once, in the file of its resource; the document at openapi.json is made of
// the same entries.
package api
