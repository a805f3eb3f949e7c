// Package access knows who is asking: organizations, API keys, workers who are
// signed in, passwords, and the receipts that make a repeated request harmless.
//
// It does not know HTTP: package api hands it what the caller sent. A
// A Principal is an argument of everything done for a caller; it is never put
// into a context.
package access
