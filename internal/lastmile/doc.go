// Package lastmile is the domain of Dray: every noun of the interface, its
// states, its rules and its errors.
//
// It imports nothing but the standard library, does no input or output and
// reads no clock: what it needs to know is an argument. A rule that is not
// here is not a rule.
package lastmile
