package geo

import (
	"strings"

	"golang.org/x/text/language"
)

// languageOption is the meaning of options.language: the language of the result and,
// possibly, the country of the address.
type languageOption struct{ language, country string }

// defaultLanguage is the default language of results.
const defaultLanguage = "en"

// languageOf interprets a two-letter code. The API defines it as a country, but
// many clients send a language: upper case means a country, lower case a
// language, and vice versa if there is no such country or language.
func languageOf(code string) languageOption {
	if len(code) != 2 {
		return languageOption{language: defaultLanguage}
	}
	base, baseErr := language.ParseBase(strings.ToLower(code))
	region, regionErr := language.ParseRegion(strings.ToUpper(code))
	isCountry := regionErr == nil && region.IsCountry()
	capitals := code == strings.ToUpper(code)
	switch {
	case isCountry && (capitals || baseErr != nil):
		own, _ := language.Compose(region)
		likely, confidence := own.Base()
		if confidence == language.No {
			return languageOption{defaultLanguage, region.String()}
		}
		return languageOption{likely.String(), region.String()}
	case baseErr == nil:
		return languageOption{language: base.String()}
	}
	return languageOption{language: defaultLanguage}
}
