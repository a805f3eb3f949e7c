package lastmile_test

import (
	"testing"

	"dray/internal/lastmile"
)

func TestAddressLine(t *testing.T) {
	for want, a := range map[string]lastmile.Address{
		"1 Main Street, 4B, Springfield, IL 62701, United States": {Number: "1", Street: "Main Street", Apartment: "4B", City: "Springfield", State: "IL", PostalCode: "62701", Country: "United States"},
		"Springfield, United States":                              {City: " Springfield ", Country: "United States"},
		"":                                                        {},
	} {
		if got := a.Line(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
