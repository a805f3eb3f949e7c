// Package order has the rules of delivery services, quotes and orders: which
// services a courier offers for a delivery, what it costs, and how an order follows
// its two tasks.
//
// Prices are exact. Amounts are integers in the smallest unit of their currency;
// what is multiplied with them is a rational number. Every entry of a price is
// rounded once, half up, and the total is the sum of the entries.
package order
