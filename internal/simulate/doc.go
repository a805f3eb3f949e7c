// Package simulate plays a courier's day in a city against a server: a dispatch
// desk that creates tasks, and workers whose phones move, start, arrive and
// complete.
//
// It is a client like any other: it uses only the two HTTP APIs of the
// platform, and decodes their JSON with its own types, so that its findings
// hold for every client. It records what the server acknowledged and finally
// compares that with what the server returns.
//
// There is no simulated clock. Everything happens in real time, because a phone
// cannot report the future. At ten times the speed, vehicles are ten times as
// fast and stops ten times as short.
package simulate
