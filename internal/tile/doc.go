// Package tile builds the base map of an extract of OpenStreetMap, as vector tiles in one
// PMTiles file, and reads such files.
//
// Tiles follow the Mapbox Vector Tile specification 2.1, the file PMTiles 3: other
// programs can read both. The layers and their attributes are those of Layers.
//
// Build reads the extract in four passes and keeps the shapes to draw in memory. Then it
// divides the world into quarters recursively, clips the shapes to each quarter, and encodes a
// tile at every step. A shape that fills a tile completely, such as the sea, also fills all
// tiles in it, which the file stores as one entry for each zoom level.
package tile

import "errors"

// The zoom levels of tiles.
const (
	MinZoom = 0
	MaxZoom = 14
)

// Attribution is the text that maps made from these tiles must show.
const Attribution = "© OpenStreetMap contributors"

// Limits of an extract and of the tiles that are built from it. They bound the memory
// and the time that hostile files can use.
const (
	maxPoints = 150_000_000 // of everything that is drawn
	maxTile   = 500_000     // bytes of a tile that is not compressed
	maxName   = 255         // bytes

	// The maximum cost of dividing shapes, in points: a base for every file, plus a multiple
	// of its points. The shapes of real extracts are small and cost a fraction of it.
	baseCost     = 300_000
	costPerPoint = 20
	costPerPart  = 16
)

// Errors of files.
var (
	ErrEmpty   = errors.New("the file contains nothing to draw on a map")
	ErrDamaged = errors.New("the tile file is damaged; import the map again")
	ErrHuge    = errors.New("the shapes of the file are implausibly large")
)

// Layer describes a layer of tiles.
type Layer struct {
	ID      string            `json:"id"`
	Fields  map[string]string `json:"fields"`
	MinZoom int               `json:"minzoom"`
	MaxZoom int               `json:"maxzoom"`
}

// layer is the position of a layer in a tile.
type layer uint8

const (
	layerWater layer = iota
	layerWaterway
	layerLanduse
	layerBuilding
	layerRoad
	layerPlace
	layerNumber
	layers int = iota
)

// layerNames are the names of the layers.
var layerNames = [layers]string{"water", "waterway", "landuse", "building", "road", "place", "housenumber"}

// Layers are the layers of the tiles that Build makes.
var Layers = []Layer{
	{"water", map[string]string{"kind": "String"}, 0, MaxZoom},
	{"waterway", map[string]string{"kind": "String", "name": "String"}, zoomRiver, MaxZoom},
	{"landuse", map[string]string{"kind": "String"}, zoomNature, MaxZoom},
	{"building", map[string]string{}, zoomBuilding, MaxZoom},
	{"road", map[string]string{
		"class": "String", "name": "String", "ref": "String", "oneway": "Number", "bridge": "Boolean", "tunnel": "Boolean",
	}, zoomMotorway, MaxZoom},
	{"place", map[string]string{"kind": "String", "name": "String", "rank": "Number"}, zoomCity, MaxZoom},
	{"housenumber", map[string]string{"number": "String"}, MaxZoom, MaxZoom},
}
