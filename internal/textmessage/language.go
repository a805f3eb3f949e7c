package textmessage

import (
	"slices"
	"strconv"
	"strings"
)

// Languages are the supported languages of recipients. The first is the
// default.
var Languages = []string{"en", "es", "fr", "de", "pt"}

// spoken maps countries to their most common supported language.
var spoken = map[string]string{
	"AT": "de", "CH": "de", "DE": "de", "LI": "de",
	"AR": "es", "BO": "es", "CL": "es", "CO": "es", "CR": "es", "CU": "es", "DO": "es", "EC": "es", "ES": "es", "GQ": "es",
	"GT": "es", "HN": "es", "MX": "es", "NI": "es", "PA": "es", "PE": "es", "PR": "es", "PY": "es", "SV": "es", "UY": "es", "VE": "es",
	"BE": "fr", "BF": "fr", "BJ": "fr", "CD": "fr", "CG": "fr", "CI": "fr", "CM": "fr", "FR": "fr", "GA": "fr", "GN": "fr", "LU": "fr",
	"MC": "fr", "ML": "fr", "NE": "fr", "SN": "fr", "TG": "fr",
	"AO": "pt", "BR": "pt", "CV": "pt", "GW": "pt", "MZ": "pt", "PT": "pt", "ST": "pt",
}

// ChooseLanguage picks the language of a recipient: the preferred supported
// language of an Accept-Language header, or else that of the country.
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
