// Package simulate plays a courier's day in a city against a server: a desk
// that makes tasks, and workers whose phones move, start, arrive and complete.
//
// It is a client like any other. It knows the platform by its two interfaces
// over HTTP and by nothing else, and reads their JSON with types of its own, so
// that what it finds true is true for everybody. It keeps a book of what it was
// told, and compares it with what the server says in the end.
//
// The one thing to know: there is no second clock. Everything happens now, by
// the real clock, because a phone cannot report the future. A day at ten times
// the speed has vehicles ten times as fast and stops ten times as short.
package simulate
