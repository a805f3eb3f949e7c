// Package trackingpage holds what the recipient of a task sees on its tracking
// page.
package trackingpage
