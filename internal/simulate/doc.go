// Package simulate plays a courier's day in a city against a server: a dispatch
// desk that creates tasks, and workers whose phones move, start, arrive and
// complete.
//
// It is a client like any other: it uses only the HTTP APIs, decodes their JSON with
// its own types, and finally compares what the server acknowledged with what it
// returns. There is no simulated clock, because a phone cannot report the future: at
// ten times the speed, vehicles are ten times as fast.
package simulate
