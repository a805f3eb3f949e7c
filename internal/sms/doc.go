// Package sms knows telephones: how numbers are written in each country.
//
// There is no gateway yet: text messages stay in the database, the outbox, where
// `dray outbox` prints them. Gateways have their place here.
package sms
