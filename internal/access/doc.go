// Package access authenticates callers, and manages organizations, their API keys,
// administrators and webhook secrets, and the sessions and passwords of workers.
//
// It is independent of HTTP. Every use case has the lastmile.Principal that this
// package returns as a parameter; the principal is never stored in a context.
package access
