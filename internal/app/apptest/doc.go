// Package apptest runs the whole platform in the process of a test, on either
// database, and checks its responses against its OpenAPI documents.
//
// Only tests import it.
package apptest
