// Package ordering connects couriers with their clients: the services that couriers
// offer, quotes and orders.
//
// A client is an organization that another one, its courier, delivers for. What it may
// do follows from the connection of the two organizations, which begins when the
// client is opened or accepts, and ends when the client is deleted or leaves.
package ordering
