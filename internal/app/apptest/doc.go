// Package apptest runs the whole platform inside a test's own process, on
// either database, and holds what it answers against its own document.
//
// Only tests import it.
package apptest
