// Package app puts the platform together: configuration, wiring, commands and
// lifecycle.
//
// It is the only package that sees all the others, reads the clock and the
// environment, and starts goroutines that outlive a call. Each of those has an
// owner, a stop and a wait.
package app
