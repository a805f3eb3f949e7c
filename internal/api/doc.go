// Package api is the public HTTP API, version 2: the routes of organizations'
// servers, by resource, and their OpenAPI document.
//
// Handlers translate: they decode a request, call one use case and return the
// wire form of its result. No rule of the business is decided here. Each route
// is declared once, in the file of its resource, with its description and an example;
// the compiler checks the type that it returns.
package api
