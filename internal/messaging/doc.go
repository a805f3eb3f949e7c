// Package messaging sends text messages to recipients and workers, and handles the
// replies.
//
// Composer saves a message in the transaction of its event. Sender, on any node,
// sends it later through a Gateway.
//
// A message is sent at least once. It is sent again only if it is unknown whether
// an attempt succeeded. A node marks a message as being sent before it sends it, so
// that a crash leaves the message marked as possibly sent. If the gateway is a
// Finder, the next attempt asks it first whether it has the message.
package messaging
