// Package tileapi serves the base map: vector tiles at /tiles/{z}/{x}/{y}, and their
// description, which maps need to request them, at /tiles.json.
//
// The tiles come from the imported maps or, if the operator configured it, from a PMTiles
// file on another server. If another server serves the tiles itself, this package serves
// only /tiles.json.
package tileapi
