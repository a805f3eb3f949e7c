// Package web serves pages: the one at the root, which describes the server, the
// dashboard of administrators, the worker's web app, and the page on which a recipient
// follows a task.
//
// The app is built from the folder web of the repository into dist, and compiled
// into the program. A program compiled without it works; its pages explain how to
// build it.
package web
