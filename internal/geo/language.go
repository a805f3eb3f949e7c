package geo

import (
	"strings"

	"golang.org/x/text/language"
)

// spoken is what options.language says: which language to answer in, and
// perhaps which country the address is in.
type spoken struct{ language, country string }

// defaultLanguage is what addresses are shown in when nobody asks for another.
const defaultLanguage = "en"

// languageOf understands a code of two letters. The interface takes it for a
// country, while many clients send a language: capitals mean a country, small
// letters a language, and each the other where there is no such one.
func languageOf(code string) spoken {
	if len(code) != 2 {
		return spoken{language: defaultLanguage}
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
			return spoken{defaultLanguage, region.String()}
		}
		return spoken{likely.String(), region.String()}
	case baseErr == nil:
		return spoken{language: base.String()}
	}
	return spoken{language: defaultLanguage}
}
