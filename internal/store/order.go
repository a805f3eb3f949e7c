package store

import "time"

// OrderSide is a side of orders.
type OrderSide string

// The sides of orders.
const (
	BothSides OrderSide = ""
	Received  OrderSide = "received" // by a courier
	Sent      OrderSide = "placed"   // by a client
)

// OrderRange selects orders of an organization; zero fields select all.
type OrderRange struct {
	Side     OrderSide
	From, To time.Time // created since the first, before the second
}
