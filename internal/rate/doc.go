// Package rate limits how often, and how many at the same time, callers perform operations.
// Callers, such as organizations, phones, links or hosts, are identified by keys.
package rate
