// Package openapi holds the tests of the published OpenAPI documents and of the
// reference page: every route is in them, every field is described, and samples
// of requests and responses fit their schemas.
//
// It contains tests only.
package openapi
