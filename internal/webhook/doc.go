// Package webhook notifies the servers of organizations of events: it registers
// webhooks, sends their notifications, retries, and logs every attempt. It also
// serves the same events as a stream.
//
// Notifications are stored in the transaction of the change they report; this
// package only sends them. Every request it makes goes through Egress, which
// decides which addresses can be reached at all.
package webhook
