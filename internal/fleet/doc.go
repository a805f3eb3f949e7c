// Package fleet keeps workers, teams, hubs and schedules, who is on duty, and
// where workers are.
//
// It does not move tasks: what a worker or team has to do is the business of
// package taskflow.
package fleet
