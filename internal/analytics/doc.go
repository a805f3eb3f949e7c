// Package analytics sums up what workers did in a window of time.
package analytics
