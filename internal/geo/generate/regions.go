package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"dray/internal/geo/gazetteer"
)

type division struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

type subdivisions struct {
	Subdivisions struct {
		LocaleDisplayNames struct {
			Subdivisions map[string]string `json:"subdivisions"`
		} `json:"localeDisplayNames"`
	} `json:"subdivisions"`
}

var (
	lettersOnly = regexp.MustCompile(`^[A-Za-z]{2,3}$`)
	// kindWords are words for kinds of divisions, on which the sources differ.
	kindWords = regexp.MustCompile(`\b(province|region|state|county|canton|district|department|governorate|oblast|prefecture|city|municipality|of|the|autonomous|community)\b`)
)

// bare returns a folded name without words for its kind.
func bare(name string) string {
	key := gazetteer.Fold(name)
	if without := strings.Join(strings.Fields(kindWords.ReplaceAllString(key, " ")), " "); without != "" {
		return without
	}
	return key
}

// regions returns the first-level divisions of all countries, with GeoNames' codes. CLDR adds
// common codes and names in other languages if the English names agree.
func regions(cities, names map[string][]byte) ([]gazetteer.StateData, error) {
	divisions, err := decode[[]division](cities, "admin1.json")
	if err != nil {
		return nil, err
	}
	in := make(map[string]map[string]string) // by language, then CLDR's id
	for _, l := range languages {
		path := "subdivisions/" + l + "/" + l + ".json"
		if names[path] == nil {
			continue // CLDR has no names in this language
		}
		file, err := decode[subdivisions](names, path)
		if err != nil {
			return nil, err
		}
		in[l] = file.Subdivisions.LocaleDisplayNames.Subdivisions
	}
	english := in["en"]
	byName := make(map[string]string) // country and bare English name to CLDR's id
	for _, id := range slices.Sorted(maps.Keys(english)) {
		byName[strings.ToUpper(id[:2])+bare(english[id])] = id
	}
	slices.SortFunc(divisions, func(a, b division) int { return strings.Compare(a.Code, b.Code) })

	all := make([]gazetteer.StateData, len(divisions))
	taken := make(map[string]claims)
	for i, d := range divisions {
		country, code, _ := strings.Cut(d.Code, ".")
		all[i] = gazetteer.StateData{Country: country, Code: code, Name: d.Name}
		if taken[country] == nil {
			taken[country] = make(claims)
		}
		taken[country][gazetteer.Fold(d.Name)] = code
	}
	ids := make([]string, len(all)) // of CLDR
	for i := range all {
		r := &all[i]
		if lettersOnly.MatchString(r.Code) {
			taken[r.Country].claim(r.Code, r.Code, &r.Names)
		}
		ids[i] = byName[r.Country+bare(r.Name)]
		if code := strings.TrimPrefix(ids[i], strings.ToLower(r.Country)); lettersOnly.MatchString(code) {
			taken[r.Country].claim(r.Code, code, &r.Names)
		}
		taken[r.Country].claim(r.Code, bare(r.Name), &r.Names)
	}
	for i := range all {
		r := &all[i]
		for _, name := range stateNames[r.Country][r.Name] {
			taken[r.Country].claim(r.Code, name, &r.Names)
		}
		for _, l := range languages {
			if name := in[l][ids[i]]; name != "" {
				taken[r.Country].claim(r.Code, name, &r.Names)
			}
		}
		r.Name = strings.TrimPrefix(r.Name, "State of ")
	}
	return all, nil
}
