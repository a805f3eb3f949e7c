// Package gazetteer holds the cities of the world, the postal codes of the
// United States, and the names of countries and their states, embedded in the
// program.
//
// The data is one packed file, created by the program in internal/geo/generate.
// It is unpacked by the first query and then stays in memory as sorted text and
// parallel arrays, about 11 MB. It has no streets: every result is the center
// of a town or postal code.
package gazetteer

// Credit is the attribution that the license of the data requires.
const Credit = "Place names and postal codes by GeoNames (www.geonames.org), CC BY 4.0; names of countries and states by Unicode CLDR, Unicode License v3."
