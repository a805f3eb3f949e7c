// Package messaging sends text messages to the recipients of tasks and handles
// their replies.
//
// A message is saved in the transaction of the event that it is about (Composer)
// and sent later by any node (Sender), through a Gateway. It is sent at least once,
// and more than once only if the result of an attempt is unknown: a node marks a
// message before sending it, so that after a crash the next attempt can first ask
// the gateway whether the message was sent, if the gateway supports that.
package messaging
