// Package settings reads and changes the settings of an organization together: what it
// is called, where its workers may complete tasks, what recipients see and how routes
// are planned again.
package settings
