// Package travel estimates how long workers travel and when they get to their
// tasks: by a formula for want of a road network, corrected by what an
// organization's own trips took. It also filters the positions that workers
// report.
package travel
