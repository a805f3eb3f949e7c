// Package app assembles the platform: configuration, wiring and lifecycle.
//
// It is the only package that imports all the others, reads the clock and the
// environment, and starts goroutines that outlive a call. App owns those
// goroutines: Stop ends them and waits for them.
package app
