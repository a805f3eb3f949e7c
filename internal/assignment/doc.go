// Package assignment chooses workers for tasks that are assigned
// automatically, and explains the choice.
package assignment
