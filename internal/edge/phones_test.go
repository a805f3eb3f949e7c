package edge

import (
	"net/url"
	"slices"
	"testing"
)

func TestPhones(t *testing.T) {
	for query, want := range map[string][]string{
		"":                              nil,
		"phones=":                       nil,
		"phones=%2B12125550101":         {"+12125550101"},
		"phones=+12125550101":           {"+12125550101"},
		"phones=+1212,+1313":            {"+1212", "+1313"},
		"phones=%2B1212,%20%2B1313":     {"+1212", "+1313"},
		"phones=212,%20313":             {"212", "313"},
		"phones=%2B1+212+555+0101":      {"+1 212 555 0101"},
		"phones=(212)+555-0101,+313+55": {"(212) 555-0101", "313 55"},
		"phones=%2B1+212+%2B1+313":      {"+1 212", "+1 313"},
		"phones=[%2B1212+%2B1313]":      {"+1212", "+1313"},
		"phones=[212+313]":              {"212", "313"},
		"phones=[212+555,+313+555]":     {"212 555", "313 555"},
		"phones=212&phones[]=+1313":     {"212", "+1313"},
		"phones[0]=212+5&phones[1]=313": {"212 5", "313"},
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Call{Query: values}).Phones("phones"); !slices.Equal(got, want) {
			t.Errorf("%s has the numbers %q, want %q", query, got, want)
		}
	}
}
