package street

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sort"
	"strings"

	"dray/internal/mapdata"
)

// Limits of a search.
const (
	maxCandidates = 60_000 // streets that share a word with the query
	maxScored     = 80     // the best of them, which are compared word by word
	maxCommon     = 1500   // streets that share a word; more common words are ignored if there are rarer ones
	maxPrefixed   = 200    // words that begin with an incomplete word
	maxFuzzy      = 40     // words that are similar to a misspelled word
	MaxHits       = 20
)

// How well words match.
const (
	matchExact   = 1.0
	matchVariant = 0.97
	matchPrefix  = 0.9
	matchShort   = 0.85
	matchOneEdit = 0.86
	matchTwoEdit = 0.72
)

// Search returns the best hits for a query, the best first.
func (x *Index) Search(q Query) (hits []Hit, err error) {
	defer runtime.KeepAlive(x) // its memory is unmapped when it is not used any more
	defer mapdata.Protect(&err, ErrDamaged)()
	limit := min(max(q.Limit, 1), MaxHits)
	hits = x.searchAddress(q, limit)
	if first, second, ok := crossingOf(q); ok {
		met := x.searchCrossing(q, first, second, limit)
		// What looks like two streets may be one: Calle Ramón y Cajal, or Via Roma 27/A.
		one := len(met) > 0 && len(hits) > 0 && hits[0].Whole && hits[0].Score > met[0].Score
		if hits = append(met, hits...); one {
			slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
		}
		hits = hits[:min(len(hits), limit)]
	}
	return hits, nil
}

// search is the state of one search.
type search struct {
	*Index
	query  Query
	street []token // the words that may be the street's
	city   []token // the words that may be the city's
	codes  []codeWord
	fuzzy  bool // whether words that exist may be misspelled

	places  map[uint32]float64 // how well places match
	near    []micro
	words   map[wordKey][]option
	weights map[string]float64
}

// codeWord is a postal code in the query.
type codeWord struct {
	plain    string
	from, to int // range of its tokens; empty for a query in parts
	known    bool
}

// searchAddress first searches words that exist as they are. If no hit is good, it also
// considers that they may be misspelled.
func (x *Index) searchAddress(q Query, limit int) []Hit {
	s := x.newSearch(q)
	best := s.run()
	if len(best) == 0 || best[0].total < goodScore {
		s.fuzzy = true
		best = append(best, s.run()...)
	}
	return s.hits(best, limit)
}

// goodScore is the score at which other spellings are not considered.
const goodScore = 0.93

func (x *Index) newSearch(q Query) *search {
	s := &search{Index: x, query: q, words: map[wordKey][]option{}, weights: map[string]float64{}}
	for _, p := range q.Near {
		if m, ok := microOf(p.Lon, p.Lat); ok {
			s.near = append(s.near, m)
		}
	}
	defer s.prepare()
	if q.Line != "" {
		s.street = tokenize(q.Line)
		s.city = s.street
		s.findCodes()
		return s
	}
	s.street = tokenize(q.Street)
	if n, ok := parseNumber(q.Number); ok && q.Number != "" {
		// It may be part of the street as well: 34 in 34 Rue X.
		s.street = append(s.street, token{text: strings.Join(wordsOf(q.Number), ""), number: n, isNum: true, part: -1, begins: true})
	} else {
		for _, word := range wordsOf(q.Number)[:min(len(wordsOf(q.Number)), max(maxTokens-len(s.street), 0))] {
			s.street = append(s.street, token{text: word, unit: true, part: -1, begins: true})
		}
	}
	s.city = tokenize(q.City)
	if plain := plainCode(q.PostalCode); plain != "" {
		_, known := x.findCode(plain)
		s.codes = []codeWord{{plain: plain, known: known}}
	}
	return s
}

// prepare finds other forms of the words.
func (s *search) prepare() {
	var known []string
	for _, name := range s.query.Ignore {
		known = append(known, wordsOf(name)...)
	}
	for _, tokens := range [][]token{s.street, s.city} {
		for i := range tokens {
			tokens[i].variants = variants(tokens[i].text)
			tokens[i].known = slices.Contains(known, tokens[i].text)
		}
	}
}

// findCodes finds known postal codes in a line: one or two words with a digit.
func (s *search) findCodes() {
	for i := range s.street {
		for k := i; k < min(i+2, len(s.street)); k++ {
			plain := plainCode(s.street[i].text)
			if k > i {
				plain += plainCode(s.street[k].text)
			}
			if len(plain) < 3 || !strings.ContainsAny(plain, "0123456789") {
				continue
			}
			// D-80331 and DK-1620
			bare := strings.TrimLeft(plain, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
			for _, form := range []string{plain, bare} {
				if _, known := s.findCode(form); known {
					s.codes = append(s.codes, codeWord{form, i, k + 1, true})
					break
				}
			}
		}
	}
}

// findCode returns the position of a postal code.
func (x *Index) findCode(plain string) (uint32, bool) {
	n := len(x.parts[secCodes]) / codeSize
	at := sort.Search(n, func(i int) bool {
		code, _, _ := x.code(uint32(i))
		return plainCode(code) >= plain
	})
	code, _, _ := x.code(uint32(at))
	return uint32(at), at < n && plainCode(code) == plain
}

// option is a word of the vocabulary that a token may stand for.
type option struct {
	word    int
	quality float64
}

// wordKey identifies the options of a token.
type wordKey struct {
	text, raw   string
	last, fuzzy bool
}

// options returns the words that a token may stand for.
func (s *search) options(t token, last bool) []option {
	key := wordKey{t.text, t.raw, last && s.query.Prefix, s.fuzzy}
	all, known := s.words[key]
	if !known {
		all = s.findOptions(t, last)
		s.words[key] = all
	}
	return all
}

func (s *search) findOptions(t token, last bool) []option {
	var all []option
	exact := false
	if i, ok := s.lookUp(t.text); ok {
		all = append(all, option{i, matchExact})
		exact = true
	}
	for _, v := range t.variants {
		if i, ok := s.lookUp(v); ok {
			all = append(all, option{i, matchVariant})
			exact = true
		}
	}
	if !t.spelled() {
		return all
	}
	if last && s.query.Prefix && len(t.text) > 1 {
		s.starting(t.text, maxPrefixed, func(i int) { all = append(all, option{i, matchPrefix}) })
	}
	if most := mistakes(len([]rune(t.text))); most > 0 && (s.fuzzy || !exact) {
		first := len(all)
		for _, form := range t.forms() {
			s.Index.near(form, most, func(i, edits int) {
				if edits > 0 || form != t.text {
					all = append(all, option{i, editQuality(max(edits, 1))})
				}
			})
		}
		slices.SortStableFunc(all[first:], func(a, b option) int { return cmp.Compare(b.quality, a.quality) })
		all = all[:min(len(all), first+maxFuzzy)]
	}
	return all
}

func editQuality(edits int) float64 {
	switch edits {
	case 0:
		return matchExact
	case 1:
		return matchOneEdit
	}
	return matchTwoEdit
}

// commonWeight is the maximum weight of commonWords, even if an index has few of them.
const commonWeight = 1.2

// rarity returns the weight of a word that a number of streets have.
func (x *Index) rarity(count int) float64 {
	return 0.35 + math.Log(1+float64(x.Streets())/float64(1+max(count, 0)))
}

// weightOf returns the weight of a word. The fewer streets have it, the larger it is.
func (s *search) weightOf(text string) float64 {
	w, known := s.weights[text]
	if !known {
		w = s.rarity(0)
		if i, ok := s.lookUp(text); ok {
			streets, _ := s.lists(i)
			w = s.rarity(streets.count)
		}
		if commonWords[text] {
			w = min(w, commonWeight)
		}
		s.weights[text] = w
	}
	return w
}

// candidate is a street that may be meant.
type candidate struct {
	streetRecord
	score float64 // of its words
	last  int     // the last token that added to the score
	added float64 // what it added

	total  float64
	number int         // the token that is the house number; -1 for none
	asked  houseNumber // that number, if it is next to the street
	house  house
	exact  Kind
	city   bool // the city or the postal code is confirmed
	whole  bool
	from   int // the range of tokens of the street's name
	to     int
}

// run returns the candidates, the best first.
func (s *search) run() []*candidate {
	s.matchPlaces()
	found := s.collect()
	all := make([]*candidate, 0, len(found))
	for id, c := range found {
		rec, ok := s.Index.street(id)
		if !ok {
			continue
		}
		c.streetRecord = rec
		c.score += 2.5*s.places[rec.place] + 3*s.codeScore(rec.code) + s.bias(rec.at)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	all = all[:min(len(all), maxScored)]
	all = slices.DeleteFunc(all, func(c *candidate) bool { return !s.score(c) })
	slices.SortStableFunc(all, func(a, b *candidate) int { return cmp.Compare(b.total, a.total) })
	return all
}

// matchPlaces finds the cities that the query names.
func (s *search) matchPlaces() {
	s.places = map[uint32]float64{}
	matched := map[uint32]float64{}
	for i, t := range s.city {
		if t.unit || t.isNum && s.query.Line != "" {
			continue
		}
		best := map[uint32]float64{}
		for _, o := range s.options(t, i == len(s.city)-1) {
			_, places := s.lists(o.word)
			places.each(func(id uint32) { best[id] = max(best[id], o.quality*float64(len(t.text))) })
		}
		for id, q := range best {
			matched[id] += q
		}
	}
	for id, q := range matched {
		p, ok := s.place(id)
		if !ok {
			continue
		}
		for _, name := range p.names {
			length := 0
			for _, w := range wordsOf(name) {
				length += len(w)
			}
			if length > 0 {
				s.places[id] = max(s.places[id], min(q/float64(length), 1))
			}
		}
	}
}

// collect finds the streets that share words with the query.
func (s *search) collect() map[uint32]*candidate {
	found := map[uint32]*candidate{}
	type list struct {
		postings
		token int
		score float64
	}
	var lists []list
	add := func(token int, o option) {
		streets, _ := s.lists(o.word)
		if streets.count > 0 {
			lists = append(lists, list{streets, token, o.quality * s.rarity(streets.count)})
		}
	}
	for i, t := range s.street {
		if t.unit {
			continue
		}
		for _, o := range s.options(t, i == len(s.street)-1) {
			add(i, o)
		}
		if i+1 < len(s.street) && !s.street[i+1].unit {
			if word, ok := s.lookUp(t.text + s.street[i+1].text); ok {
				add(i, option{word, matchVariant})
			}
		}
	}
	slices.SortStableFunc(lists, func(a, b list) int { return cmp.Compare(a.count, b.count) })
	for _, l := range lists {
		if l.count > maxCommon && len(found) > 0 {
			break // it says little
		}
		l.each(func(id uint32) {
			c := found[id]
			if c == nil {
				if len(found) >= maxCandidates {
					return
				}
				c = &candidate{last: -1}
				found[id] = c
			}
			if c.last == l.token {
				if l.score > c.added {
					c.score += l.score - c.added
					c.added = l.score
				}
				return
			}
			c.last, c.added = l.token, l.score
			c.score += l.score
		})
	}
	return found
}

func (s *search) codeScore(id uint32) float64 {
	if len(s.codes) == 0 || id == none {
		return 0
	}
	code, _, _ := s.code(id)
	plain := plainCode(code)
	for _, c := range s.codes {
		if c.plain == plain {
			return 1
		}
	}
	return 0
}

// bias returns a score, up to 0.5, for being near a location where addresses are likely.
func (s *search) bias(at micro) float64 {
	best := 0.0
	for _, p := range s.near {
		best = max(best, 0.5/(1+p.meters(at)/10_000))
	}
	return best
}

// hits returns the best candidates as hits, each street once.
func (s *search) hits(best []*candidate, limit int) (hits []Hit) {
	slices.SortStableFunc(best, func(a, b *candidate) int { return cmp.Compare(b.total, a.total) })
	seen := map[uint32]bool{}
	for _, c := range best {
		if seen[c.id] || len(hits) == limit {
			continue
		}
		seen[c.id] = true
		h := s.hit(c.streetRecord)
		h.Score, h.Confirmed, h.Whole = min(c.total, 1), c.city, c.whole
		if c.number >= 0 && c.exact != KindStreet {
			h.Kind, h.Location, h.Number = c.exact, c.house.at.point(), numberText(c.house.number)
		}
		if c.asked.value > 0 && h.Kind != KindHouse && h.Kind != KindRange {
			h.Requested = numberText(c.asked)
		}
		hits = append(hits, h)
	}
	return hits
}

// numberText returns a house number as it is written.
func numberText(n houseNumber) string {
	if n.isName() {
		return n.suffix
	}
	digits := []byte{}
	for v := n.value; ; v /= 10 {
		digits = append(digits, byte('0'+v%10))
		if v < 10 {
			break
		}
	}
	slices.Reverse(digits)
	return string(digits) + strings.ToUpper(n.suffix)
}

// hit returns the hit for a street as a whole.
func (x *Index) hit(s streetRecord) Hit {
	names, _, _ := strings.Cut(x.string(s.names), separator)
	h := Hit{Street: names, Location: s.at.point(), Guessed: s.guessed}
	h.PostalCode, _, _ = x.code(s.code)
	if p, ok := x.place(s.place); ok {
		h.City, h.State, h.Country = p.names[0], p.state, p.country
	}
	return h
}
