// Package sms knows telephones: how numbers are written in each country, and
// the gateways that bring text messages to them.
//
// A gateway hands one message over, once, and says what came of it. When and how
// often is decided elsewhere. What a gateway's server posts to us is believed
// only with its signature.
package sms
