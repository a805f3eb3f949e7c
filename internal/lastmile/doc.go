// Package lastmile is the domain of Dray: the records of the API, their states,
// rules and errors.
//
// It imports only the standard library, performs no I/O and reads no clock:
// everything it needs is passed as an argument. Every business rule is here or
// in one of the domain packages built on it.
package lastmile
