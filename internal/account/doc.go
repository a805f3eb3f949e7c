// Package account signs administrators in, and manages their passwords, second
// factors, sessions, invitations and password resets, and the setup of a new
// installation.
//
// Secrets are random and stored as hashes, except those of second factors, which are
// sealed. Responses and their time do not depend on whether an account exists.
package account
