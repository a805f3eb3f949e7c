package geo

import (
	"strings"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
	"dray/internal/street"
)

// compare returns warnings about differences between a result and the requested address. Of
// an unparsed line, only the parts that are certain are compared.
func (q question) compare(found lastmile.GeocodedAddress, country string) []string {
	var warnings []string
	if found.Precision < lastmile.PrecisionStreet {
		warnings = append(warnings, lastmile.WarnApproximate)
	}
	asked, got := q.asked, found.Address
	exact := found.Precision >= lastmile.PrecisionStreet
	parsed := q.Unparsed == ""
	for _, check := range []struct {
		differs bool
		warning string
	}{
		{exact && asked.Number != "" && !sameNumber(asked.Number, got.Number), lastmile.MismatchNumber},
		{exact && parsed && asked.Street != "" && !sameStreet(asked.Street, got.Street), lastmile.MismatchStreet},
		{parsed && got.City != "" && asked.City != "" && !q.sameCity(asked.City, country, found), lastmile.MismatchCity},
		{got.PostalCode != "" && asked.PostalCode != "" && !samePostalCode(asked.PostalCode, got.PostalCode), lastmile.MismatchPostal},
	} {
		if check.differs {
			warnings = append(warnings, check.warning)
		}
	}
	return warnings
}

// sameNumber compares house numbers: 12 B equals 12b, and the first number of a range the
// whole range: 10 equals 10-12. But 37-10 and 37-52 are two houses in Queens.
func sameNumber(asked, found string) bool {
	a, f := normalizePostal(asked), normalizePostal(found)
	if a == f {
		return true
	}
	first, _, ranged := strings.Cut(asked, "-")
	other, _, rangedToo := strings.Cut(found, "-")
	return ranged != rangedToo && normalizePostal(first) == normalizePostal(other)
}

// streetWords maps common abbreviations in street names to the full words.
var streetWords = map[string]string{
	"st": "street", "str": "strasse", "ave": "avenue", "av": "avenue", "rd": "road", "blvd": "boulevard", "bd": "boulevard",
	"dr": "drive", "ln": "lane", "ct": "court", "pl": "place", "sq": "square", "hwy": "highway", "pkwy": "parkway", "ter": "terrace",
	"cir": "circle", "trl": "trail", "expy": "expressway", "fwy": "freeway", "plz": "plaza", "cres": "crescent", "aly": "alley",
	"n": "north", "s": "south", "e": "east", "w": "west", "ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest",
	"r": "rue", "c": "calle", "cl": "calle", "avda": "avenida", "pza": "plaza", "gl": "gammel", "ul": "ulica", "vle": "viale",
	"first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th", "seventh": "7th", "eighth": "8th", "ninth": "9th", "tenth": "10th",
}

// streetKey returns the form in which street names are compared.
func streetKey(name string) string {
	words := strings.Fields(gazetteer.Plain(name))
	for i, word := range words {
		if long, ok := streetWords[word]; ok {
			words[i] = long
		} else if stem, ok := strings.CutSuffix(word, "str"); ok && stem != "" {
			words[i] = stem + "strasse"
		}
	}
	return strings.Join(words, " ")
}

// sameStreet compares street names. Either may omit words of the other, such as
// the direction, and a letter or two may differ.
func sameStreet(asked, found string) bool {
	a, f := streetKey(asked), streetKey(found)
	if a == f || strings.ReplaceAll(a, " ", "") == strings.ReplaceAll(f, " ", "") {
		return true
	}
	if a == "" || f == "" {
		return false
	}
	if within(a, f) || within(f, a) {
		return true
	}
	return EditDistance(a, f) <= min(len(a), len(f))/6
}

// within reports whether b contains the words of a as a sequence.
func within(a, b string) bool { return strings.Contains(" "+b+" ", " "+a+" ") }

// sameCity reports whether a result is in the requested city: by name, or
// because a city of that name is nearby.
func (q question) sameCity(asked, country string, found lastmile.GeocodedAddress) bool {
	const near lastmile.Meters = 30_000
	a, f := gazetteer.Fold(asked), gazetteer.Fold(found.Address.City)
	if a == f || within(a, f) || within(f, a) {
		return true
	}
	for _, c := range q.places.Cities(asked, country) {
		if c.Location.Distance(found.Location) <= near {
			return true
		}
	}
	return false
}

// samePostalCode compares postal codes. One may be a prefix of the other.
func samePostalCode(asked, found string) bool {
	a, f := normalizePostal(asked), normalizePostal(found)
	return len(a) >= 3 && strings.HasPrefix(f, a) || len(f) >= 3 && strings.HasPrefix(a, f)
}

// EditDistance returns the edit distance of two texts, counting swapped letters as
// one edit. Long texts are considered different.
func EditDistance(a, b string) int {
	const longest = 200
	if len(a) > longest || len(b) > longest {
		return longest
	}
	return street.EditDistance(a, b, longest)
}
