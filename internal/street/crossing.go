package street

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// between matches the names of two streets with a word or sign for their crossing.
var between = regexp.MustCompile(`(?i)^(?:(?:corner of|intersection of|ecke|esquina de|angle de|hjørnet af) +)?(.+?)(?: *(?:&|@|\+|/) *| +(?:and|at|und|ecke|corner|cnr|corner of|y|e|et|og|och|en|esquina|esq\.?|angle|angolo|hjørnet af) +)(.+)$`)

// maxCrossed is the maximum length of a text that may name two streets, in bytes.
const maxCrossed = 200

// crossingOf returns the two streets that a query names.
func crossingOf(q Query) (first, second string, ok bool) {
	text, rest := q.Line, ""
	if text == "" {
		if q.Number != "" {
			return "", "", false
		}
		text = q.Street
	}
	if text, rest, ok = strings.Cut(text, ","); ok {
		rest = "," + rest
	}
	if len(text) > maxCrossed {
		return "", "", false
	}
	m := between.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", "", false
	}
	return m[1] + rest, m[2] + rest, true
}

// maxSides is the maximum number of streets considered for each side of a crossing.
const maxSides = 40

// searchCrossing returns the crossings of two streets.
func (x *Index) searchCrossing(q Query, first, second string, limit int) (hits []Hit) {
	sides := [2][]*candidate{}
	for i, name := range []string{first, second} {
		one := q
		if q.Line != "" {
			one.Line = name
		} else {
			one.Street = name
		}
		s := x.newSearch(one)
		sides[i] = s.run()
		if len(sides[i]) == 0 || sides[i][0].total < goodScore {
			s.fuzzy = true
			sides[i] = append(sides[i], s.run()...)
		}
		sides[i] = sides[i][:min(len(sides[i]), maxSides)]
	}
	for _, a := range sides[0] {
		for _, met := range x.crossings(a.streetRecord) {
			k := slices.IndexFunc(sides[1], func(b *candidate) bool { return b.id == met.other })
			if k < 0 {
				continue
			}
			b := sides[1][k]
			h, other := x.hit(a.streetRecord), x.hit(b.streetRecord)
			h.Street += " & " + other.Street
			h.Kind, h.Location = KindCrossing, met.at.point()
			h.Score, h.Confirmed, h.Whole = min((a.total+b.total)/2, 1), a.city || b.city, a.whole && b.whole
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), limit)]
}
