// Package planning contains the rules of dispatch: what a request may ask for, which
// workers and tasks take part, and how they become a problem for the optimizer and its
// solution a plan. It performs no I/O.
package planning
