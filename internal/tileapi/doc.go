// Package tileapi serves the base map: vector tiles at /tiles/{z}/{x}/{y}, and what a map
// needs to know to request them at /tiles.json.
//
// The tiles come from the imported maps or, if the operator configured it, from a PMTiles
// file on another server. Of tiles that another server serves by itself, only the
// description is here.
package tileapi
