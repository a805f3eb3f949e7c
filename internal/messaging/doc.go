<<<<<<< HEAD
// Package messaging sends text messages to the recipients of tasks and handles
// their replies.
//
// A message is saved in the transaction of the event that it is about (Composer)
// and sent later by any node (Sender), through a Gateway. It is sent at least once,
// and more than once only if the result of an attempt is unknown: a node marks a
// message before sending it, so that after a crash the next attempt can first ask
// the gateway whether the message was sent, if the gateway supports that.
=======
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
>>>>>>> main
package messaging
