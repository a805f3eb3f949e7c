// Package accountapi serves what concerns one's own account: setting up an
// installation, signing in and out, invitations, passwords, second factors and
// sessions. It also authenticates the session cookie for the public API, and serves
// the part of that with which administrators are invited.
package accountapi
