package street

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dray/internal/geo/gazetteer"
)

// shortForms maps abbreviations in addresses to the words that they stand for.
var shortForms = map[string]string{
	"st": "street saint sankt sint store", "str": "strasse straat strada", "av": "avenue avenida avinguda", "ave": "avenue avenida", "avda": "avenida", "al": "aleja allee alle",
	"rd": "road", "blvd": "boulevard", "bd": "boulevard bulevard", "boul": "boulevard", "bvd": "boulevard", "dr": "drive doutor doctor doktor", "ln": "lane", "ct": "court", "crt": "court",
	"pl": "place platz plads plass plein plac placa", "plz": "plaza platz", "pza": "plaza piazza", "pzza": "piazza", "pc": "praca", "sq": "square", "hwy": "highway", "pkwy": "parkway", "pky": "parkway",
	"ter": "terrace", "terr": "terrace", "cir": "circle", "trl": "trail", "cres": "crescent", "expy": "expressway", "fwy": "freeway", "hts": "heights", "mt": "mount mountain", "ft": "fort",
	"rte": "route", "rt": "route", "aly": "alley", "n": "north nord norte", "s": "south sud sul", "e": "east este", "w": "west", "o": "ost ouest oeste", "ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest",
	"r": "rue rua", "c": "calle carrer", "cl": "calle", "cll": "calle", "cra": "carrera", "kra": "carrera", "v": "via", "vle": "viale", "ul": "ulica ulice", "tr": "triq", "ch": "chemin", "chem": "chemin",
	"imp": "impasse", "fg": "faubourg", "fbg": "faubourg", "q": "quai", "lg": "largo", "tv": "travessa", "trav": "travessa", "estr": "estrada", "prof": "professor", "gen": "general", "gl": "gammel gamle",
	"ndr": "nordre", "sdr": "sondre", "vs": "vester", "dra": "doutora", "eng": "engenheiro", "sta": "santa", "sto": "santo", "ste": "sainte", "sv": "svaty sveti", "pk": "park", "brg": "bridge",
	"ул": "улица", "пр": "проспект", "просп": "проспект", "пер": "переулок", "пл": "площадь", "бул": "бульвар", "ш": "шоссе", "наб": "набережная",
	"1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth", "6th": "sixth", "7th": "seventh", "8th": "eighth", "9th": "ninth", "10th": "tenth", "11th": "eleventh", "12th": "twelfth",
}

// longForms are the values of shortForms, in the form in which words are compared,
// and shortsOf the abbreviations of a word.
var longForms, shortsOf = func() (longs, shorts map[string][]string) {
	longs, shorts = map[string][]string{}, map[string][]string{}
	for short, all := range shortForms {
		for long := range strings.FieldsSeq(all) {
			long = canonical(long)
			longs[short] = append(longs[short], long)
			shorts[long] = append(shorts[long], short)
		}
		slices.Sort(longs[short])
	}
	for _, all := range shorts {
		slices.Sort(all)
	}
	return longs, shorts
}()

// commonWords are words of street names that say little: types of streets, in full and
// abbreviated, and articles.
var commonWords = func() map[string]bool {
	all := map[string]bool{}
	for short, longs := range longForms {
		// Directions and numbers distinguish streets.
		if strings.Contains("n s e w o ne nw se sw", short) || isOrdinal(short) {
			continue
		}
		all[short] = true
		for _, long := range longs {
			all[long] = true
		}
	}
	for word := range strings.FieldsSeq(`weg vej gade gate gata gatan katu tie way walk close row caddesi sokak sokagi marg οδος λεωφορος utca ut ulitsa naberezhnaya nam namesti
		the of de la le les du des da do dos das di del della der die das den dem am an auf im zur zum el los las van og i och`) {
		all[canonical(word)] = true
	}
	return all
}()

// shortEndings are abbreviated ends of words.
var shortEndings = []struct {
	short string
	long  []string
}{{"str", []string{"strasse", "straat"}}, {"pl", []string{"platz", "plein", "plads"}}, {"gt", []string{"gate", "gata", "gatan"}}, {"gd", []string{"gade"}}}

// variants returns other forms of a word, without mistakes.
func variants(word string) []string {
	all := slices.Concat(longForms[word], shortsOf[word])
	for _, e := range shortEndings {
		if stem, ok := strings.CutSuffix(word, e.short); ok && len(stem) > 2 {
			for _, long := range e.long {
				all = append(all, stem+long)
			}
		}
		for _, long := range e.long {
			if stem, ok := strings.CutSuffix(word, long); ok && len(stem) > 2 {
				all = append(all, stem+e.short)
			}
		}
	}
	return all
}

// digraphs replaces pairs of letters that stand for an accented letter.
var digraphs = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u", "aa", "a")

// canonical returns the form in which a plain word is compared.
func canonical(word string) string {
	if len(word) > 3 {
		word = digraphs.Replace(word)
	}
	return word
}

// maxWord is the maximum length of a word, in bytes. The rest is cut off.
const maxWord = 60

// wordsOf returns the words of a name.
func wordsOf(name string) []string {
	words := strings.Fields(gazetteer.Plain(name))
	for i, w := range words {
		words[i] = canonical(w)
		if len(words[i]) > maxWord {
			words[i] = strings.ToValidUTF8(words[i][:maxWord], "")
		}
	}
	return words
}

// keyOf returns the form in which names are compared.
func keyOf(name string) string { return strings.Join(wordsOf(name), " ") }

// plainCode returns the form in which postal codes are compared.
func plainCode(code string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, code)
}

// houseNumber is a house number: 12, 12b, 5-11, 12/3. A house may have a name instead.
type houseNumber struct {
	value  uint32
	suffix string // in lower case, without spaces; a name, if there is no value
}

// maxHouseName is the maximum length of the name of a house, in bytes.
const maxHouseName = 60

// nameHouse returns the name of a house as a number: Rose Cottage, or A12.
func nameHouse(text string) (n houseNumber, ok bool) {
	name := strings.Join(strings.Fields(text), " ")
	return houseNumber{suffix: name}, len(name) <= maxHouseName && utf8.ValidString(name) && len(wordsOf(name)) > 0
}

// isName reports whether the house has a name instead of a number.
func (n houseNumber) isName() bool { return n.value == 0 && n.suffix != "" }

// parseNumber parses a house number.
func parseNumber(text string) (n houseNumber, ok bool) {
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		n.value = n.value*10 + uint32(text[end]-'0')
		if end++; end > 8 {
			return n, false
		}
	}
	if end == 0 || len(text)-end > maxSuffix || !utf8.ValidString(text) {
		return n, false
	}
	n.suffix = text[end:]
	return n, true
}

const maxSuffix = 16

// last returns the end of a range such as 5-11, or the number itself.
func (n houseNumber) last() uint32 {
	for _, dash := range []string{"-", "–"} {
		if rest, ok := strings.CutPrefix(n.suffix, dash); ok {
			if end, ok := parseNumber(rest); ok && end.value > n.value && end.value-n.value < 1000 {
				return end.value
			}
		}
	}
	return n.value
}

// isOrdinal reports whether a word is an ordinal, as in names of streets: 5th, 42nd.
func isOrdinal(word string) bool {
	digits := strings.TrimLeft(word, "0123456789")
	switch digits {
	case "st", "nd", "rd", "th":
		return len(digits) < len(word)
	}
	return false
}

// token is a word of a query.
type token struct {
	text     string   // canonical form
	raw      string   // plain form, if that is different
	variants []string // other forms of text
	number   houseNumber
	isNum    bool
	unit     bool // belongs to an apartment or floor
	known    bool // not searched, such as the country
	short    bool // was written with a period
	part     int  // index of the part of the line, between commas
	begins   bool // first token of a word of the line, which may consist of several
}

// unitWords are followed by the number of an apartment or similar.
var unitWords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`apt apartment appt app suite ste unit flat room rm floor fl level lot bldg building block tower space spc dept penthouse ph
		wohnung whg piso planta depto dpto puerta pta bloco apto interno int scala etage byt кв квартира офис lokal lok stiege tur sal lejl`) {
		all[word] = true
	}
	return all
}()

// maxShort is the maximum length of an abbreviation, in bytes.
const maxShort = 5

// maxTokens is the maximum number of words of a query that are considered.
const maxTokens = 24

// tokenize splits a line into words.
func tokenize(line string) []token {
	var all []token
	part := 0
	for piece := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '，' || r == '、' }) {
		part++
		inUnit := false
		for field := range strings.FieldsSeq(piece) {
			if len(all) >= maxTokens {
				return all
			}
			marked := strings.HasPrefix(field, "#")
			bare := strings.Trim(field, ".,#()\"")
			n, isNum := parseNumber(bare)
			if isNum && !isOrdinal(strings.ToLower(bare)) {
				all = append(all, token{text: strings.Join(wordsOf(bare), ""), number: n, isNum: true, unit: inUnit || marked, part: part, begins: true})
				inUnit = false
				continue
			}
			plain := gazetteer.Plain(bare)
			if unitWords[plain] {
				all = append(all, token{text: canonical(plain), unit: true, part: part, begins: true})
				inUnit = true
				continue
			}
			plainWords := strings.Fields(plain)
			words := wordsOf(bare) // one field may have many, as in a-b-c
			for i, w := range words[:min(len(words), maxTokens-len(all))] {
				short := strings.HasSuffix(field, ".") && len(w) <= maxShort
				raw := plainWords[i]
				if raw == w {
					raw = ""
				}
				all = append(all, token{text: w, raw: raw, unit: inUnit && len(w) <= 2 || marked, short: short, part: part, begins: i == 0})
			}
			inUnit = false
		}
	}
	return all
}
