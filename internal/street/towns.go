package street

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"dray/internal/mapdata"
)

// Town is a city, town or village that streets of an index belong to.
type Town struct {
	Name, State string
	Country     string // ISO 3166-1 alpha-2; empty if unknown
	Location    Point
	Exact       bool // its name is the requested one
	Begins      bool // its name begins with the requested one
}

// maxTowns is the maximum number of towns with a word of the query that are compared with
// it.
const maxTowns = 5000

// Towns returns towns with a name, the best first. With a prefix, the name may be
// incomplete or misspelled. A line with anything else in it finds nothing.
func (x *Index) Towns(q Query) (towns []Town, err error) {
	defer runtime.KeepAlive(x)
	defer mapdata.Protect(&err, ErrDamaged)()
	s := x.newSearch(q)
	if len(s.street) == 0 || slices.ContainsFunc(s.street, func(t token) bool { return t.isNum || t.unit }) {
		return nil, nil
	}
	type match struct {
		place
		quality, away float64
	}
	var all []match
	for _, id := range s.townsWithAWord() {
		p, ok := s.place(id)
		if quality := s.matchTown(p.names); ok && quality > 0 && (q.Prefix || quality == matchExact) {
			away := 0.0
			if len(s.near) > 0 {
				away = math.Inf(1)
			}
			for _, n := range s.near {
				away = min(away, n.meters(p.at))
			}
			all = append(all, match{p, quality, away})
		}
	}
	slices.SortStableFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.quality, a.quality), cmp.Compare(a.away, b.away), cmp.Compare(a.names[0], b.names[0]))
	})
	for _, m := range all[:min(len(all), max(q.Limit, 1), MaxHits)] {
		towns = append(towns, Town{
			Name: m.names[0], State: m.state, Country: m.country, Location: m.at.point(), Exact: m.quality >= matchExact, Begins: m.quality >= matchPrefix,
		})
	}
	return towns, nil
}

// townsWithAWord returns the towns that share the rarest word of the query.
func (s *search) townsWithAWord() (found []uint32) {
	rarest := math.MaxInt
	for i, t := range s.street {
		var ids []uint32
		var options []option
		if s.query.Prefix {
			options = s.options(t, i == len(s.street)-1)
		} else if word, ok := s.lookUp(t.text); ok {
			options = []option{{word, matchExact}}
		}
		for _, o := range options {
			_, places := s.lists(o.word)
			places.each(func(id uint32) {
				if len(ids) < maxTowns {
					ids = append(ids, id)
				}
			})
		}
		if len(ids) > 0 && len(ids) < rarest {
			rarest, found = len(ids), ids
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// matchTown returns how well the query is the beginning of one of a town's names: less
// than matchPrefix if there is a mistake in it, and 0 if it is another name.
func (s *search) matchTown(names []string) (best float64) {
	for _, name := range names {
		words := wordsOf(name)
		if len(words) < len(s.street) {
			continue
		}
		quality := matchExact
		if len(words) > len(s.street) {
			quality = matchPrefix
		}
		for i, t := range s.street {
			quality = min(quality, s.compare(t, words[i], i == len(s.street)-1))
		}
		best = max(best, quality)
	}
	return best
}
