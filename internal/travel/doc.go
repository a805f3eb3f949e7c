// Package travel estimates how long workers travel and when they reach their
// tasks: by a formula where no road network is available, corrected by how long
// the organization's own trips took. It also filters the positions that workers
// report.
package travel
