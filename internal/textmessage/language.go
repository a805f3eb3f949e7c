package textmessage

import (
	"slices"
	"strconv"
	"strings"
)

// Languages are those in which recipients are spoken to. The first is for
// everybody who speaks none of them.
var Languages = []string{"en", "es", "fr", "de", "pt"}

// spoken is what is spoken where none of what a recipient asks for is known.
var spoken = map[string]string{
	"AT": "de", "CH": "de", "DE": "de", "LI": "de",
	"AR": "es", "BO": "es", "CL": "es", "CO": "es", "CR": "es", "CU": "es", "DO": "es", "EC": "es", "ES": "es", "GQ": "es",
	"GT": "es", "HN": "es", "MX": "es", "NI": "es", "PA": "es", "PE": "es", "PY": "es", "SV": "es", "UY": "es", "VE": "es",
	"BF": "fr", "BJ": "fr", "CD": "fr", "CG": "fr", "CI": "fr", "CM": "fr", "FR": "fr", "GA": "fr", "GN": "fr", "LU": "fr",
	"MC": "fr", "ML": "fr", "NE": "fr", "SN": "fr", "TG": "fr",
	"AO": "pt", "BR": "pt", "CV": "pt", "GW": "pt", "MZ": "pt", "PT": "pt", "ST": "pt",
}

// ChooseLanguage picks the language for a recipient: the one a browser asks for
// most (its Accept-Language header) of those there are, else that of the
// country.
func ChooseLanguage(accept, country string) string {
	best, weight := "", 0.0
	for choice := range strings.SplitSeq(accept, ",") {
		tag, parameters, _ := strings.Cut(choice, ";")
		language, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		q := 1.0
		if text, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q="); ok {
			var err error
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		if q > weight && slices.Contains(Languages, language) {
			best, weight = language, q
		}
	}
	switch {
	case best != "":
		return best
	case spoken[country] != "":
		return spoken[country]
	}
	return Languages[0]
}
