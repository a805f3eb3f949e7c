package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"dray/internal/geo/gazetteer"
)

// languages are the languages of the names of countries and states. If a name is
// ambiguous, the first language wins.
var languages = strings.Fields(`en de fr es it pt nl da sv nb nn fi is pl cs sk hu ro bg el tr ru uk be
	et lv lt sl hr sr sr-Latn bs mk sq mt ga cy ca eu gl lb ka hy az kk ky uz tg tk mn
	ar he fa ur hi bn pa gu mr ta te kn ml si ne th lo km my vi id ms fil ja ko zh zh-Hant
	sw am af zu xh so ha yo ig pt-PT es-419 en-GB fr-CA`)

// noCountries are codes in CLDR that are groups or reserved, or denote parts of other
// countries.
var noCountries = strings.Fields("AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ")

// aliases are common names that CLDR lacks.
var aliases = map[string][]string{
	"AE": {"UAE", "U.A.E.", "Emirates"},
	"BA": {"Bosnia", "Bosnia-Herzegovina"},
	"BN": {"Brunei Darussalam"},
	"BO": {"Plurinational State of Bolivia"},
	"CD": {"DR Congo", "DRC", "Democratic Republic of the Congo", "Democratic Republic of Congo", "Congo Kinshasa", "Zaire"},
	"CG": {"Congo", "Republic of the Congo", "Congo Brazzaville"},
	"CI": {"Cote d'Ivoire", "Ivory Coast"},
	"CN": {"PRC", "P.R. China", "People's Republic of China", "Mainland China"},
	"CV": {"Cabo Verde", "Cape Verde"},
	"CZ": {"Czech Republic", "Czechia"},
	"DE": {"Federal Republic of Germany", "BRD"},
	"DO": {"Dominican Rep."},
	"FM": {"Micronesia, Federated States of", "Federated States of Micronesia"},
	"GB": {
		"UK", "U.K.", "Great Britain", "Britain", "England", "Scotland", "Wales", "Northern Ireland",
		"United Kingdom of Great Britain and Northern Ireland",
		"Großbritannien", "Grande-Bretagne", "Gran Bretaña", "Gran Bretagna", "Grã-Bretanha", "Groot-Brittannië", "Storbritannien",
		"Angleterre", "Inglaterra", "Inghilterra", "Engeland", "Schottland",
	},
	"GM": {"The Gambia"},
	"HK": {"Hong Kong", "Hong Kong SAR"},
	"IE": {"Republic of Ireland", "Eire"},
	"IR": {"Islamic Republic of Iran"},
	"KP": {"Democratic People's Republic of Korea", "DPRK"},
	"KR": {"Korea", "Republic of Korea", "South Korea", "Korea South"},
	"LA": {"Lao People's Democratic Republic", "Lao PDR"},
	"MD": {"Republic of Moldova"},
	"MK": {"Macedonia", "FYROM", "Republic of North Macedonia"},
	"MM": {"Burma", "Myanmar"},
	"MO": {"Macau", "Macao", "Macau SAR"},
	"NL": {"Holland", "The Netherlands", "Kingdom of the Netherlands", "Olanda", "Hollande"},
	"PS": {"Palestine", "State of Palestine", "West Bank", "Gaza"},
	"RU": {"Russian Federation"},
	"SA": {"KSA", "Kingdom of Saudi Arabia"},
	"SY": {"Syrian Arab Republic"},
	"SZ": {"Swaziland"},
	"TL": {"East Timor"},
	"TR": {"Turkey", "Türkiye"},
	"TW": {"Taiwan", "Republic of China", "Chinese Taipei"},
	"TZ": {"United Republic of Tanzania"},
	"US": {"USA", "U.S.", "U.S.A.", "United States of America", "The United States", "America", "Estados Unidos de America"},
	"VA": {"Vatican", "Holy See"},
	"VC": {"Saint Vincent and the Grenadines"},
	"VE": {"Bolivarian Republic of Venezuela"},
	"VG": {"British Virgin Islands"},
	"VI": {"US Virgin Islands", "Virgin Islands"},
	"VN": {"Viet Nam"},
	"ZA": {"RSA", "Republic of South Africa"},
}

// shortNames replace names of CLDR that are too long for addresses.
var shortNames = map[string]string{"HK": "Hong Kong", "MO": "Macao", "MM": "Myanmar", "PS": "Palestine", "CD": "DR Congo", "CG": "Republic of the Congo"}

type territories struct {
	Main map[string]struct {
		LocaleDisplayNames struct {
			Territories map[string]string `json:"territories"`
		} `json:"localeDisplayNames"`
	} `json:"main"`
}

func countries(files map[string][]byte) ([]gazetteer.CountryData, error) {
	in := make(map[string]map[string]string) // by language, then code
	for _, l := range languages {
		file, err := decode[territories](files, "main/"+l+"/territories.json")
		if err != nil {
			return nil, err
		}
		in[l] = file.Main[l].LocaleDisplayNames.Territories
	}
	taken := make(claims)
	all := make(map[string]*gazetteer.CountryData)
	for _, code := range slices.Sorted(maps.Keys(in["en"])) {
		if len(code) != 2 || slices.Contains(noCountries, code) {
			continue
		}
		name := in["en"][code]
		if short, ok := shortNames[code]; ok {
			name = short
		}
		all[code] = &gazetteer.CountryData{Code: code, Name: name}
		taken[gazetteer.Fold(name)], taken[strings.ToLower(code)] = code, code
	}
	codes := slices.Sorted(maps.Keys(all))
	for _, code := range codes {
		region, err := language.ParseRegion(code)
		if err != nil {
			return nil, fmt.Errorf("country %s: %w", code, err)
		}
		taken.claim(code, region.ISO3(), &all[code].Names)
	}
	for _, code := range codes {
		for _, name := range aliases[code] {
			taken.claim(code, name, &all[code].Names)
		}
	}
	for _, l := range languages {
		for _, key := range slices.Sorted(maps.Keys(in[l])) {
			code, _, _ := strings.Cut(key, "-alt-")
			if c, ok := all[code]; ok && len(gazetteer.Fold(in[l][key])) > 2 {
				taken.claim(code, in[l][key], &c.Names)
			}
		}
	}
	list := make([]gazetteer.CountryData, len(codes))
	for i, code := range codes {
		list[i] = *all[code]
	}
	return list, nil
}
