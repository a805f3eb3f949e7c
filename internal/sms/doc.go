// Package sms parses phone numbers by the rules of each country and implements
// gateways for text messages.
//
// A gateway sends one message, once, and returns the result. Retries are
// decided elsewhere. Requests from a gateway's server are accepted only with a
// valid signature.
package sms
