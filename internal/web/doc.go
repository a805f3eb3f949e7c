// Package web serves the pages that people look at: the one at the root, which
// says what the server is, and the worker's web app.
//
// The app is built from the folder web of the repository into dist, and compiled
// into the program. A program compiled without it works, and says on its pages
// how to build it.
package web
