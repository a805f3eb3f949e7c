// Package messaging is the text messages of organizations: what recipients are
// told of their tasks, what they answer, and the way there.
//
// A message is saved in the transaction of the change that owes it (Notify), and
// sent later by whichever node comes first (Sender), through a gateway that is
// not known here.
//
// The one thing to know: a message is sent at least once, and more than once
// only if nobody can tell whether it was. A process claims it on disk before it
// sends, so that one that dies leaves a message of which it is known that it may
// have gone out; then the gateway is asked, if it can be.
package messaging
