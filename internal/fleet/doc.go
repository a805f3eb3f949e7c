// Package fleet manages workers, teams, hubs, schedules and duty.
//
// Task lists of workers and teams are managed by package taskflow, and locations
// of workers by package tracking.
package fleet
