// Package recipientapi serves recipients of tasks over HTTP: the data of the
// tracking page, and the replies to text messages that gateways forward.
package recipientapi
