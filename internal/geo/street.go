package geo

import (
	"regexp"
	"strings"
)

// unitWords are words that precede the number or letter of a unit, such as an apartment.
const unitWords = `apt|apartment|appt|appartement|app|suite|ste|unit|flat|room|rm|floor|fl|level|lot|bldg|building|block|tower|space|spc|trailer|trlr|dept|department|penthouse|ph|wohnung|whg|top|piso|planta|depto|dpto|puerta|pta|bloco|apto|interno|int|scala|étage|etage|byt|кв|квартира|офис`

var (
	unitForm = regexp.MustCompile(`(?i)^(?:(?:` + unitWords + `)\b\.? *(?:#|no\.?|nr\.?)? *[\pL\pN_-]*\d[\pL\pN_-]*|(?:` + unitWords + `)\b\.? *#? *[A-Z]{1,2}|(?:` + unitWords + `)|# *[\pL\pN_-]+|(?:\d+(?:st|nd|rd|th|\.|e|er|ème|eme)?|ground|top|first|second|third|lower|upper) (?:floor|fl|étage|etage|og|stock|piso)|\d+[ºª°]\.? ?[\pL\pN]{0,4}|\d+\. (?:tv|th|mf)\.?|rear|basement|bsmt|front|penthouse|ph|hinterhaus)$`)
	// unitAtEnd matches a unit after a street.
	unitAtEnd = regexp.MustCompile(`(?i)^(.*\S) +((?:apt|apartment|suite|ste|unit|flat|room|rm|bldg|building|lot|floor|fl|level|wohnung|whg)\b\.? *#? *(?:[\w-]*\d[\w-]*|[A-Z]{1,2})|(?:m\.|lok\.?|byt|кв\.?|оф\.?) *\d+\w?|# *[\w-]+|\d+(?:st|nd|rd|th) (?:floor|fl))$`)
	// unitAtStart matches a unit before a house number.
	unitAtStart = regexp.MustCompile(`(?i)^((?:` + unitWords + `)\b\.? *#? *(?:[\w]*\d[\w]*|[A-Z])|# *[\w]+) *(?: |-|/|–) *(\d.*)$`)

	numberOnly    = `\d+ ?½|\d+(?:bis|ter|quater|[A-Za-z])?(?:[-–/+]\d*[A-Za-z]?)*(?: \d/\d)?(?: (?:bis|ter|quater)\b)?|[NSEW]\d+[NSEW]\d+`
	numberAlone   = regexp.MustCompile(`^(?:(?i:n[°ºr]|no|nr|num|д)\.? *)?(` + numberOnly + `)$`)
	numberAtStart = regexp.MustCompile(`^(` + numberOnly + `),? +(\D.*|\d+(?:st|nd|rd|th|TH|ST|ND|RD|e)\b.*|\d+ (?i:de|di|do)\b.*)$`)
	numberMarked  = regexp.MustCompile(`^(.*?[^, ])[, ]+(?i:n[°ºr]|no|nr|num|д)\.? *(` + numberOnly + `)$`)
	numberAtEnd   = regexp.MustCompile(`^(.*?[\pL\pM.')]|[A-Z]\d{1,2})[, ]+(` + numberOnly + `|\d+ (?:[A-Za-z]|hs))$`)

	// numberedStreet matches streets whose name ends with a number, and boxes.
	numberedStreet = regexp.MustCompile(`(?i)(?:^|[ .])(?:highway|hwy|route|rte|interstate|us|sr|fm|county road|county rd|cr|state road|state rd|autoroute|ruta|box|postfach|apartado|casilla|bp)$`)
	// crossStreet matches addresses in Colombia: the street, the cross street and
	// the distance from it.
	crossStreet = regexp.MustCompile(`^((?i:calle|carrera|cra|cll?|kra?|diagonal|transversal|avenida|av)\.? \d+ ?[A-Za-z]{0,3}) *# *(\d+ ?[A-Za-z]{0,3} *- *\d+)$`)
	// datedStreet matches streets named after a date, such as Rue du 8 Mai 1945.
	datedStreet = regexp.MustCompile(`\d.* (?:1[5-9]|20)\d\d$`)
	// ordinalStreet matches numbers that begin the name of a street in French.
	ordinalStreet = regexp.MustCompile(`^\d+e (?i:avenue|av|rue|boulevard|rang)\b`)
)

// Maximum lengths of parts that are parsed, in bytes. Longer parts are kept as they are.
const (
	maxUnit   = 60
	maxStreet = 200
)

// isUnit reports whether a part of a line is an apartment, a floor or similar.
func isUnit(part string) bool { return len(part) <= maxUnit && unitForm.MatchString(part) }

// withoutUnits returns the parts of a line that are not units.
func withoutUnits(parts []string) []string {
	var rest []string
	for _, part := range parts {
		if !isUnit(part) {
			rest = append(rest, part)
		}
	}
	return rest
}

// readStreet reads the parts of a line before the city. Parts that are neither the street nor
// its number, such as the name of a building, are added to the apartment.
func readStreet(parts []string) (number, street, apartment string) {
	var lines, units []string
	for _, part := range parts {
		if isUnit(part) {
			units = append(units, part)
			continue
		}
		if len(part) > maxStreet || crossStreet.MatchString(part) {
			lines = append(lines, part)
			continue
		}
		if m := unitAtStart.FindStringSubmatch(part); m != nil {
			units, part = append(units, m[1]), m[2]
		}
		if m := unitAtEnd.FindStringSubmatch(part); m != nil && !isUnit(m[1]) {
			part, units = m[1], append(units, m[2])
		}
		lines = append(lines, part)
	}
	at := -1
	for i, line := range lines {
		if m := numberAlone.FindStringSubmatch(line); m != nil && len(lines) > 1 {
			// 12, Rue de Rivoli or Rua Augusta, 100
			other := max(i-1, 0)
			if i == 0 {
				other = 1
			}
			if n, _ := splitStreet(lines[other]); n != "" {
				continue
			}
			number, street = m[1], lines[other]
			lines = append(lines[:min(i, other)], lines[max(i, other)+1:]...)
			return number, street, join(lines, units)
		}
		if n, s := splitStreet(line); n != "" {
			number, street, at = n, s, i
			break
		}
	}
	if at < 0 {
		return "", strings.Join(lines, ", "), strings.Join(units, ", ")
	}
	return number, street, join(append(append([]string{}, lines[:at]...), lines[at+1:]...), units)
}

func join(lines, units []string) string {
	return strings.Join(append(append([]string{}, lines...), units...), ", ")
}

// splitStreet separates the house number from a street, at either end.
func splitStreet(line string) (number, street string) {
	if len(line) > maxStreet {
		return "", line
	}
	if m := crossStreet.FindStringSubmatch(line); m != nil {
		return m[2], strings.TrimSpace(m[1])
	}
	if m := numberAtStart.FindStringSubmatch(line); m != nil && !ordinalStreet.MatchString(line) {
		return m[1], m[2]
	}
	if m := numberMarked.FindStringSubmatch(line); m != nil {
		return m[2], m[1]
	}
	m := numberAtEnd.FindStringSubmatch(line)
	if m == nil || numberedStreet.MatchString(m[1]) || datedStreet.MatchString(line) {
		return "", line
	}
	return m[2], m[1]
}

func hasDigit(text string) bool { return strings.ContainsAny(text, "0123456789") }

// streetTypes are words that end the name of a street.
var streetTypes = map[string]bool{
	"street": true, "st": true, "str": true, "avenue": true, "ave": true, "road": true, "rd": true, "boulevard": true, "blvd": true, "drive": true, "dr": true,
	"lane": true, "ln": true, "court": true, "ct": true, "place": true, "pl": true, "square": true, "sq": true, "highway": true, "hwy": true,
	"parkway": true, "pkwy": true, "terrace": true, "way": true, "circle": true, "cir": true, "broadway": true, "alley": true, "plaza": true,
	"nw": true, "ne": true, "sw": true, "se": true,
}

// endsStreet reports whether text may be a street that a city follows.
func endsStreet(text string) bool {
	if hasDigit(text) {
		return true
	}
	words := strings.Fields(text)
	return len(words) > 1 && streetTypes[strings.ToLower(strings.TrimSuffix(words[len(words)-1], "."))]
}
