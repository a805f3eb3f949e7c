// Package recipientapi is what recipients of tasks reach over HTTP: the data of
// the page that follows a task, and the replies to text messages that gateways
// pass on.
package recipientapi
