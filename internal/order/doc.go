// Package order has the rules of delivery services, quotes and orders: which
// services a courier offers for a delivery, what it costs, and how an order follows
// its two tasks.
//
// Prices are exact. Amounts are integers in the smallest unit of their currency, and
// the factors with which they are multiplied are rational numbers. Every entry of a
// price is rounded once, half up, and the total is the sum of the entries.
package order
