package street

import (
	"math"
	"slices"
	"strings"
)

// used marks the tokens that have a meaning.
type used [maxTokens + 2]bool

// score compares a candidate with the query word by word. It reports whether the
// street may be meant.
func (s *search) score(c *candidate) bool {
	c.total, c.number = 0, -1
	for _, name := range split(s.string(c.names)) {
		one := *c
		if s.scoreName(&one, name) && one.total > c.total {
			*c = one
		}
	}
	return c.total > 0
}

// The weights of the parts of a query, and the minimum scores.
const (
	forName    = 3.0
	forCity    = 0.8
	forCode    = 1.0
	forNumber  = 0.6
	leastName  = 0.55
	leastTotal = 0.35
)

func (s *search) scoreName(c *candidate, name string) bool {
	words := wordsOf(name)
	if len(words) == 0 {
		return false
	}
	var taken used
	sum, matched, missed := 0.0, 0.0, 0
	c.from, c.to = len(s.street), 0
	for k := 0; k < len(words); k++ {
		weight := s.weightOf(words[k])
		sum += weight
		quality, from, to := s.matchWord(words[k], taken)
		if quality < matchVariant && k+1 < len(words) { // Kärntnerstraße for Kärntner Straße
			if joined, at, end := s.matchWord(words[k]+words[k+1], taken); joined > quality && joined > 0 {
				quality, from, to = joined, at, end
				k++
				sum += s.weightOf(words[k])
				weight += s.weightOf(words[k])
			}
		}
		if quality == 0 {
			missed++
			continue
		}
		matched += weight * quality
		for i := from; i < to; i++ {
			taken[i] = true
		}
		c.from, c.to = min(c.from, from), max(c.to, to)
	}
	share := matched / sum
	if share < leastName {
		return false
	}
	city, code, askedCity := s.scoreCity(c, &taken)
	number := s.scoreNumber(c, &taken)
	extra, all, whole := s.leftOver(taken)
	c.whole = whole
	spread := float64(c.to-c.from-(len(words)-missed)) * 0.05
	most := forName
	total := forName * (share - min(max(spread, 0), 0.2))
	if askedCity {
		most += forCity
		total += forCity * city
	}
	if len(s.codes) > 0 {
		most += forCode
		total += forCode * code
	}
	if c.number >= 0 || number > 0 {
		most += forNumber
		total += forNumber * number
	}
	if all > 0 {
		total -= 1.6 * extra / all
	}
	c.city = city >= 0.6 || code > 0
	c.total = total/most + 0.02*s.bias(c.at)
	return c.total >= leastTotal
}

// matchWord returns how well the best token, or two tokens together, match a word of a name,
// and the range of these tokens.
func (s *search) matchWord(w string, taken used) (quality float64, from, to int) {
	for i, t := range s.street {
		if taken[i] || t.unit && t.text != w {
			continue
		}
		q := s.compare(t, w, i == len(s.street)-1)
		if q > quality {
			quality, from, to = q, i, i+1
		}
		if i+1 < len(s.street) && !taken[i+1] && len(w) > len(t.text) && quality < matchVariant && strings.HasPrefix(w, t.text) && t.text+s.street[i+1].text == w {
			quality, from, to = matchVariant, i, i+2
		}
	}
	return quality, from, to
}

// compare returns how well a token matches a word.
func (s *search) compare(t token, w string, last bool) float64 {
	if t.text == w {
		return matchExact
	}
	if slices.Contains(t.variants, w) {
		return matchVariant
	}
	if last && s.query.Prefix && len(t.text) > 0 && strings.HasPrefix(w, t.text) {
		return matchPrefix
	}
	if t.short && strings.HasPrefix(w, t.text) {
		return matchShort
	}
	if !t.spelled() {
		return 0
	}
	if len(w) == 2 && len(t.text) == 2 && w[0] == t.text[1] && w[1] == t.text[0] {
		return matchShort
	}
	if most := mistakes(len([]rune(t.text))); most > 0 {
		edits := most + 1
		for _, form := range t.forms() {
			edits = min(edits, EditDistance(form, w, most))
		}
		if edits <= most {
			return editQuality(max(edits, 1))
		}
	}
	return 0
}

// spelled reports whether a token may be misspelled. House numbers are not (12 or 12b), but
// 7ht may be 7th.
func (t token) spelled() bool { return !t.isNum || len(strings.Trim(t.text, "0123456789")) > 1 }

// forms returns the spellings of a token: two letters that look like an accented letter may
// be a mistake.
func (t token) forms() []string {
	if t.raw == "" {
		return []string{t.text}
	}
	return []string{t.text, t.raw}
}

// scoreCity returns how well the city and the postal code match, and whether the
// query names a city. It marks their tokens as used.
func (s *search) scoreCity(c *candidate, taken *used) (city, code float64, asked bool) {
	plain := ""
	if text, _, _ := s.code(c.code); text != "" {
		plain = plainCode(text)
	}
	for _, w := range s.codes {
		if w.plain != plain || plain == "" {
			continue
		}
		free := true
		for k := w.from; k < w.to; k++ {
			free = free && !taken[k]
		}
		if !free {
			continue
		}
		for k := w.from; k < w.to; k++ {
			taken[k] = true
		}
		code = 1
		break
	}
	if s.query.Line == "" {
		return s.places[c.place], code, len(s.city) > 0
	}
	city = s.places[c.place]
	if city == 0 {
		// Other words may name a city that is not in the index.
		return 0, code, s.hasFree(*taken)
	}
	p, _ := s.place(c.place)
	best := used{}
	bestShare := 0.0
	for _, name := range p.names {
		mark := *taken
		words := wordsOf(name)
		sum, got := 0.0, 0.0
		for _, w := range words {
			sum += float64(len(w))
			quality, at := 0.0, 0
			for i, t := range s.street {
				if mark[i] || t.isNum || t.unit {
					continue
				}
				if q := s.compare(t, w, i == len(s.street)-1); q > quality {
					quality, at = q, i
				}
			}
			if quality > 0 {
				mark[at] = true
				got += quality * float64(len(w))
			}
		}
		if sum > 0 && got/sum > bestShare {
			bestShare, best = got/sum, mark
		}
	}
	if bestShare > 0 {
		*taken = best
	}
	return bestShare, code, bestShare > 0 || s.hasFree(*taken)
}

// hasFree reports whether a word of the line has no meaning yet.
func (s *search) hasFree(taken used) bool {
	for i, t := range s.street {
		if !taken[i] && !t.isNum && !t.unit && !t.known {
			return true
		}
	}
	return false
}

// scoreNumber finds the house. It returns how well its number matches.
func (s *search) scoreNumber(c *candidate, taken *used) float64 {
	type choice struct {
		token, away int
		number      houseNumber
		letter      int // a token with the letter of the number; -1 for none
	}
	var choices []choice
	for i, t := range s.street {
		if !t.isNum || taken[i] || t.unit {
			continue
		}
		away := 0
		if t.part >= 0 {
			away = max(c.from-i-1, i-c.to, 0)
			if c.from < len(s.street) && s.street[c.from].part != t.part {
				away++
			}
		}
		choices = append(choices, choice{i, away, t.number, -1})
		// 85 A
		if k := i + 1; k < len(s.street) && !taken[k] && len(s.street[k].text) == 1 && s.street[k].part == t.part && t.number.suffix == "" && !s.street[k].isNum {
			lettered := t.number
			lettered.suffix = s.street[k].text
			choices = append(choices, choice{i, away, lettered, k})
		}
	}
	if len(choices) == 0 {
		return s.findNamed(c, taken, 1)
	}
	best, bestScore := -1, 0.0
	var bestHouse house
	for i, ch := range choices {
		if ch.away > 3 {
			continue
		}
		h, quality, ok := s.findHouse(c.streetRecord, ch.number)
		if !ok {
			quality = 0.2
		}
		if score := quality - 0.12*float64(ch.away); best < 0 || score > bestScore {
			best, bestScore, bestHouse = i, score, h
			c.exact = KindStreet
			switch {
			case ok && quality >= 0.9 && h.ranged:
				c.exact = KindRange
			case ok && quality >= 0.9:
				c.exact = KindHouse
			case ok:
				c.exact = KindNearby
			}
		}
	}
	if best < 0 || c.exact == KindStreet || c.exact == KindNearby {
		if found := s.findNamed(c, taken, 2); found > 0 || best < 0 {
			return found
		}
	}
	c.number, c.house = choices[best].token, bestHouse
	if choices[best].away == 0 && !s.inCode(c.number) {
		c.asked = choices[best].number
	}
	taken[choices[best].token] = true
	if k := choices[best].letter; k >= 0 {
		taken[k] = true
	}
	return max(bestScore, 0)
}

// findNamed finds the house by its name, which must have at least the given number of words.
// It returns 1, or 0 if there is none.
func (s *search) findNamed(c *candidate, taken *used, least int) float64 {
	best := 0 // words of the name
	s.houses(c.streetRecord, func(h house) bool {
		words := wordsOf(h.number.suffix)
		if !h.number.isName() || len(words) <= best || len(words) < least {
			return h.number.value == 0 // numbers are in order
		}
		for from := 0; from+len(words) <= len(s.street); from++ {
			same := true
			for i, w := range words {
				same = same && !taken[from+i] && s.compare(s.street[from+i], w, false) >= matchOneEdit
			}
			if same {
				best, c.number, c.house, c.exact = len(words), from, h, KindHouse
			}
		}
		return true
	})
	for i := range best {
		taken[c.number+i] = true
	}
	return float64(min(best, 1))
}

// inCode reports whether a token may be part of a postal code.
func (s *search) inCode(token int) bool {
	return slices.ContainsFunc(s.codes, func(c codeWord) bool { return c.from <= token && token < c.to })
}

// findHouse returns the house with a number, or the nearest one, and how well its
// number matches.
func (x *Index) findHouse(s streetRecord, n houseNumber) (best house, quality float64, ok bool) {
	nearest := math.Inf(1)
	var places []micro // locations of the best number
	x.houses(s, func(h house) bool {
		if h.number.isName() {
			return true
		}
		q := 0.0
		switch end := h.number.last(); {
		case h.number == n:
			q = 1
		case sameSuffix(h.number, n):
			q = 0.99
		case h.number.value == n.value && end > n.value:
			q = 0.97 // 5 is in 5-11
		case end > h.number.value && n.value > h.number.value && n.value <= end && (n.value-h.number.value)%2 == 0:
			q = 0.95
		case n.last() > n.value && h.number.value >= n.value && h.number.value <= n.last():
			q = 0.94 - 0.0001*float64(h.number.value-n.value) // 5-11 was requested, 5 exists
		case h.number.value == n.value && (h.number.suffix == "" || n.suffix == ""):
			q = 0.92
		}
		if h.ranged {
			q -= 0.005
		}
		if q > quality {
			best, quality, ok, places = h, q, true, append(places[:0], h.at)
		} else if q == quality && h.number == best.number {
			places = append(places, h.at)
		}
		if quality < 0.9 {
			away := math.Abs(float64(h.number.value) - float64(n.value))
			if (h.number.value-n.value)%2 != 0 {
				away += 2.5 // the other side of the street
			}
			if h.number.value == n.value {
				away = 0.5
			}
			if away < nearest {
				nearest = away
				best, quality, ok = h, 0.55/(1+away/100), true
			}
		}
		return quality < 1 || h.number == n
	})
	if quality >= 0.9 && len(places) > 1 {
		best.at = among(places)
	}
	return best, quality, ok
}

// sameHouse is the maximum distance of the locations of one house from their middle, in
// meters.
const sameHouse = 50.0

// among returns the location of a house whose number is at several locations: their middle,
// if it is close to all, as between the buildings of one plot; otherwise the location that is
// close to most others.
func among(places []micro) micro {
	center := middle(places)
	if !slices.ContainsFunc(places, func(p micro) bool { return p.meters(center) > sameHouse }) {
		return center
	}
	best, most := places[0], 0
	for _, p := range places {
		near := 0
		for _, other := range places {
			if p.meters(other) <= sameHouse {
				near++
			}
		}
		if near > most {
			best, most = p, near
		}
	}
	return best
}

// sameSuffix compares numbers without punctuation: 12-b equals 12b.
func sameSuffix(a, b houseNumber) bool {
	return a.value == b.value && a.suffix != "" && b.suffix != "" && strings.EqualFold(plainCode(a.suffix), plainCode(b.suffix))
}

// leftOver returns the weight of the words without a meaning, the weight of all words, and
// whether every word has a meaning.
func (s *search) leftOver(taken used) (extra, all float64, whole bool) {
	whole = true
	for i, t := range s.street {
		weight := 1.0
		switch {
		case t.unit || t.known && !taken[i]:
			continue
		case t.isNum:
			weight = 0.3
		case len(t.text) <= 2:
			weight = 0.3
		}
		all += weight
		if !taken[i] {
			extra += weight
			whole = whole && weight < 1
		}
	}
	return extra, all, whole
}
