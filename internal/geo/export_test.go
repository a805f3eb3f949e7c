package geo

import (
	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// ReadPostalCodesOfSize is ReadPostalCodes with another limit.
var ReadPostalCodesOfSize = readPostalCodes

// CountReadings returns how many interpretations a query has.
func CountReadings(q lastmile.AddressQuery) int {
	places, err := gazetteer.Embedded()
	if err != nil {
		return 0
	}
	readings, _ := read(places, q)
	return len(readings)
}
