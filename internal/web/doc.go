// Package web serves the pages that people look at.
//
// For now that is one: the page at the root, which says what the server is and
// where its interface and documents are.
package web
