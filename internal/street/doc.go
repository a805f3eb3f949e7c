// Package street finds addresses down to the house. It builds an index of streets and their
// houses from open data, and searches it.
//
// The index is one file that is mapped into memory. Streets are found by the words of their
// names, and the house numbers of each street are stored together. Spelling mistakes are
// corrected with the vocabulary of the index. A damaged file causes an error at worst, because
// everything that is read is checked.
package street

// Point is a location in degrees.
type Point struct{ Lon, Lat float64 }

// Query is an address to search, on one line or in parts.
type Query struct {
	Line string // if it is not empty, the parts are ignored

	Number, Street, City, PostalCode string

	Near   []Point  // where addresses are more likely
	Ignore []string // words of the line that are not searched, such as the country
	Prefix bool     // the last word may be incomplete
	Limit  int      // maximum number of hits; 0 means 1
}

// Kind is the kind of location of a hit.
type Kind uint8

// The kinds of hits.
const (
	KindStreet   Kind = iota // somewhere on the street
	KindNearby               // the nearest number on the street
	KindRange                // between two known numbers of a range
	KindCrossing             // where two streets meet
	KindHouse                // the house itself
)

// Hit is an address that was found.
type Hit struct {
	Number, Street, City, State, PostalCode string
	Country                                 string // ISO 3166-1 alpha-2; empty if unknown
	Location                                Point
	Kind                                    Kind
	Score                                   float64 // higher is better; from 0 to 1
	Confirmed                               bool    // the city or the postal code is the requested one
	Whole                                   bool    // every word of the line has a meaning
	Guessed                                 bool    // the city is not in the data, but the nearest known one
	Distance                                float64 // meters from the requested location; set by Reverse
	Requested                               string  // the requested house number, if no house has it
}
