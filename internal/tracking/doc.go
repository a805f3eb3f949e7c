// Package tracking receives the positions of workers and estimates when tasks
// will be reached and completed, how late that is, and which thresholds of webhooks
// were reached.
//
// Reporting a position only stores it. Estimates are refreshed in the background,
// by any node: soon after a worker's list changes or the worker moves, and
// otherwise at intervals. Map services are called between two transactions, never
// inside one.
package tracking
