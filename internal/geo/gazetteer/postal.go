package gazetteer

import (
	"iter"
	"slices"

	"dray/internal/lastmile"
)

// Postal is the area of a postal code of the United States.
type Postal struct {
	Code     string
	City     City
	Location lastmile.Point // center of the area
}

// PostalCode returns the areas of a postal code of the United States, given as
// a number. Nearly all codes have one area.
func (g *Gazetteer) PostalCode(code uint32) []Postal {
	from, _ := slices.BinarySearch(g.postal, code)
	var found []Postal
	for i := from; i < len(g.postal) && g.postal[i] == code; i++ {
		found = append(found, Postal{
			Code: digits(code), City: g.city(int(g.postalCity[i]), 0), Location: point(g.postalLon[i], g.postalLat[i]),
		})
	}
	return found
}

// AllPostalCodes returns every postal code of the United States in order.
func (g *Gazetteer) AllPostalCodes() iter.Seq[Postal] {
	return func(yield func(Postal) bool) {
		for i, code := range g.postal {
			if !yield(Postal{digits(code), g.city(int(g.postalCity[i]), 0), point(g.postalLon[i], g.postalLat[i])}) {
				return
			}
		}
	}
}

// digits formats a postal code of the United States.
func digits(code uint32) string {
	text := []byte("00000")
	for i := len(text) - 1; code > 0 && i >= 0; i-- {
		text[i] = byte('0' + code%10)
		code /= 10
	}
	return string(text)
}
