// Package board returns a day as dispatchers see it: the workers, their lists and the tasks,
// together with the position in the event log from which clients keep the board up to date.
package board
