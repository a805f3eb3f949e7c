// Package gazetteer knows the cities of the world, the postal codes of the
// United States, and the names of countries and their states, all of it in the
// program itself.
//
// The data is one packed file, made by the program in internal/geo/generate.
// Nothing of it is read before the first question; from then on it stays in
// memory as sorted text and parallel arrays, about 11 MB. It knows no street:
// whatever it finds is the middle of a town or of a postal code's area.
package gazetteer

// Credit is what the licence of the data asks to be shown.
const Credit = "Place names and postal codes by GeoNames (www.geonames.org), CC BY 4.0; names of countries and states by Unicode CLDR, Unicode License v3."
