// Package identity contains the rules of how administrators sign in: their passwords
// and second factors, sessions, one-time links, and the texts of the mails that carry
// those. Package account applies them.
package identity
