// Package messaging is the text messages of organizations: what recipients are
// sent about their tasks, what they reply, and how messages reach the gateway.
//
// A message is saved in the transaction of the event it is about (Notify), and
// sent later by any node (Sender), through a gateway that is not known here.
//
// The one thing to know: a message is sent at least once, and more than once
// only if it cannot be known whether an attempt went through. A node marks a
// message as being sent before it sends it, so that a crash leaves the message
// marked as possibly sent; the next attempt then asks the gateway first, if the
// gateway can be asked.
package messaging
