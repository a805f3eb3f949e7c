// Package taskflow creates tasks, alone or in batches, and clones, moves, assigns,
// plans, starts, completes and deletes them.
//
// Each use case is a type with its own port: Tasks, Containers, Batches,
// RoutePlans, Fields, Work for workers and Pages for recipients. Several of them
// share Base and Creator.
//
// The rules are in package lastmile. This package reads the records that a rule
// needs and stores the change together with its events.
package taskflow
