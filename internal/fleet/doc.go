// Package fleet keeps workers, teams, hubs and schedules, and who is on duty.
//
// It does not move tasks: what a worker or team has to do is the business of
// package taskflow, and where workers are that of package tracking.
package fleet
