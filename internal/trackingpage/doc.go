// Package trackingpage holds what the recipient of a task sees on the page
// that follows it.
package trackingpage
