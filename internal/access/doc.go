// Package access authenticates callers, and manages organizations, their API keys,
// administrators and webhook secrets, and the sessions and passwords of workers.
//
// It does not know HTTP. Every use case takes the lastmile.Principal that this
// package returns as an argument; it is never put into a context.
package access
