// Package access authenticates callers, and manages organizations, their API keys,
// administrators and webhook secrets, and the sessions and passwords of workers.
//
// It is independent of HTTP. The lastmile.Principal that it returns is a parameter of every
// use case; it is never stored in a context.
package access
