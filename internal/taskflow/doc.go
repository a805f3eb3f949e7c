// Package taskflow creates tasks, alone or in batches, and clones, moves, assigns,
// plans, starts, completes and deletes them.
//
// The rules are in package lastmile. This package reads the records that a rule
// needs and stores the change together with its events.
package taskflow
