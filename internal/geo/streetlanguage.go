package geo

import (
	"slices"
	"strings"
	"unicode"

	"dray/internal/geo/gazetteer"
)

// streetLanguage describes how streets are named in a language: by the first word, or by the
// end of the last word. Words that several languages use are left out.
type streetLanguage struct {
	first, ends []string
	countries   []string // where the language is spoken
	america     bool     // the United States have such streets too, with the number first
}

var streetLanguages = []streetLanguage{
	{ends: []string{"strasse", "str", "gasse", "platz", "weg"}, countries: []string{"DE", "AT", "CH", "LI", "LU"}},
	{first: []string{"rue", "chemin", "impasse", "quai"}, countries: []string{"FR", "BE", "CH", "LU", "MC", "CA"}},
	{first: []string{"via", "viale", "piazza", "corso", "vicolo"}, countries: []string{"IT", "CH", "SM"}, america: true},
	{first: []string{"calle", "carrera", "paseo"}, countries: []string{"ES", "MX", "CO", "AR", "CL", "PE", "VE", "EC", "UY", "BO", "PY", "CR", "GT", "DO", "PA", "PR"}, america: true},
	{first: []string{"rua", "travessa", "praca", "largo"}, countries: []string{"PT", "BR", "AO", "MZ"}},
	{ends: []string{"straat", "gracht", "laan", "plein"}, countries: []string{"NL", "BE"}},
	{ends: []string{"gade", "vej"}, countries: []string{"DK"}},
	{ends: []string{"gatan", "vagen"}, countries: []string{"SE", "FI"}},
	{first: []string{"ul", "ulica"}, countries: []string{"PL", "HR", "SI", "BA"}},
}

// spoken returns the codes of the countries that the street of a reading suggests.
func (r reading) spoken() []string {
	numberFirst := len(r.before) > 0 && r.before[0] != "" && unicode.IsDigit(rune(r.before[0][0]))
	return streetCountries(r.withStreet().street, numberFirst)
}

// streetCountries returns the codes of the countries where streets are named like the given
// one; none if it could be anywhere. numberFirst means that its number precedes it.
func streetCountries(street string, numberFirst bool) []string {
	words := strings.Fields(gazetteer.Plain(street))
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	if last == "str" && numberFirst {
		return nil // an English street, because in German the number follows
	}
	for _, l := range streetLanguages {
		if l.america && numberFirst {
			continue
		}
		if len(words) > 1 && slices.Contains(l.first, words[0]) ||
			slices.ContainsFunc(l.ends, func(end string) bool { return strings.HasSuffix(last, end) && (last != end || len(words) > 1) }) {
			return l.countries
		}
	}
	return nil
}

// isStreet reports whether a name is that of a street rather than of a city.
func isStreet(name string) bool {
	words := strings.Fields(gazetteer.Plain(name))
	return len(words) > 1 && streetTypes[words[len(words)-1]] || len(streetCountries(name, false)) > 0
}
