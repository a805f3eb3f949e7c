package geo_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
)

// BenchmarkGeocode looks up random cities, and compares that with looking up
// the same names in a map: the ratio is the cost of the fuzzy search.
func BenchmarkGeocode(b *testing.B) {
	cities := drawnCities(b)
	random := rand.New(rand.NewPCG(1, 1))
	g := new(geo.Gazetteer)
	byName := make(map[string]lastmile.Point)
	for c := range embedded(b).AllCities() {
		byName[c.Name] = c.Location
	}
	exact, wrong, lines := make([]lastmile.AddressQuery, len(cities)), make([]lastmile.AddressQuery, len(cities)), make([]lastmile.AddressQuery, len(cities))
	for i, c := range cities {
		exact[i], wrong[i] = cityQuery(c, c.Name), cityQuery(c, misspelled(random, c.Name))
		lines[i].Unparsed = fmt.Sprintf("12 Long Road, %s, %s, %s", c.Name, c.State.Name, c.Country)
	}
	// perOp measures a map lookup of the same names in the same run.
	perOp := func() float64 {
		const rounds = 200
		start := time.Now()
		hits := 0
		for range rounds {
			for _, c := range cities {
				if _, ok := byName[c.Name]; ok {
					hits++
				}
			}
		}
		return float64(time.Since(start).Nanoseconds()) / float64(rounds*len(cities))
	}
	run := func(name string, queries []lastmile.AddressQuery) {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				_, _ = g.Geocode(b.Context(), queries[i%len(queries)])
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/perOp(), "×map")
		})
	}
	run("exact", exact)
	run("misspelled", wrong)
	run("line", lines)
}

func BenchmarkEstimate(b *testing.B) {
	for _, n := range []int{50, 200, 1000} {
		points := city(n)
		b.Run(fmt.Sprintf("%d×%d", n, n), func(b *testing.B) {
			for b.Loop() {
				_, _ = geo.Estimate{}.Matrix(b.Context(), lastmile.Car, points, points)
			}
		})
	}
}
