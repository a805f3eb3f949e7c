// Package cli is the command line of the program: one file for each command,
// and Main, which finds the command, reads its flags and turns its error into
// an exit code.
package cli
