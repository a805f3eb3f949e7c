// Package abuse holds attacks on the built program. They are played against a
// process with little memory, next to an honest organization whose requests are
// timed and whose acknowledged writes are read back.
//
// It contains tests only, which run with `make abuse`.
package abuse
