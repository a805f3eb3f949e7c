// Package webhook tells the servers of organizations what happened: it
// registers them, sends what they are owed, tries again, and keeps the log of
// every attempt. It also serves the same events as a stream.
//
// Notifications are stored in the transaction of the change they tell of; this
// package only sends them. Everything it sends leaves through one client,
// Egress, which decides what may be reached at all.
package webhook
