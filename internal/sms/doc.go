// Package sms knows telephones: how numbers are written in each country, and
// the gateways that text messages leave by.
//
// The default gateway is the outbox: messages stay in the database, where
// `dray outbox` prints them.
package sms
