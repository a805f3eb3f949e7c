// Package board returns what dispatchers see of a day: the workers and their lists, and
// the tasks, together with the position in the event log from which the board is kept up
// to date.
package board
