// Package geo talks to map services: geocoders and travel-time engines.
//
// What they answer is treated as hostile, and none of them is ever asked
// inside a transaction.
package geo
