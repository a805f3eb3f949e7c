// Package tracking takes in where workers are and tells what follows: when
// tasks will be reached and done, how late that is, and which thresholds were
// met.
//
// A position is stored and nothing more, whatever the worker has to do. What
// follows from it is found by looks at the worker: at once when the worker's
// list has changed, every minute on duty and every ten off duty, and half a
// minute apart while the worker moves. Any node may look; a claim keeps others
// away, and what a look finds is saved only under it. Map services are asked
// between two transactions, never inside one.
package tracking
