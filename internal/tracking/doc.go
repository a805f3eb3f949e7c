// Package tracking receives the positions of workers and derives estimates from
// them: when tasks will be reached and completed, how late they are, and which
// thresholds were reached.
//
// Reporting a position only stores it, whatever tasks the worker has. The
// estimates are refreshed in the background: at once when the worker's tasks have
// changed, every minute on duty, every ten minutes off duty, and every half
// minute while the worker moves. Any node may refresh them; it takes a
// lease, and saves estimates in the transaction that ends the lease. Map services
// are called between two transactions, never inside one.
package tracking
