// Package taskflow is a task's life: it is created, alone or in a batch, cloned,
// put into containers, assigned, planned, worked on, completed and deleted here.
//
// What the rules are is decided by package lastmile; this package finds what a
// rule needs to know, and stores the change together with its events.
package taskflow
