// Package dispatch assigns the tasks of teams to workers on duty, along routes that the
// optimizer plans. A dispatch is a job: it is stored when it is requested, planned in the
// background, and applied in transactions that can be resumed.
package dispatch
