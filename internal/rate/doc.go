// Package rate limits how often callers do something: an organization, a phone, a
// link or a host, each by its key.
package rate
