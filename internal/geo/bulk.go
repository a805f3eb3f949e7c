package geo

import (
	"context"
	"sync"

	"dray/internal/lastmile"
)

// Answer is what was found for one of many addresses.
type Answer struct {
	Place lastmile.Place
	Err   error
}

// GeocodeAll looks up many addresses, some at a time, and returns the answers
// in their order. The same address is asked for once. It returns when all
// answers are there.
func GeocodeAll(ctx context.Context, g Geocoder, queries []lastmile.AddressQuery, atOnce int) []Answer {
	first := make(map[lastmile.AddressQuery]int, len(queries))
	work := make(chan int, len(queries))
	for i, q := range queries {
		if _, seen := first[q]; !seen {
			first[q] = i
			work <- i
		}
	}
	close(work)
	answers := make([]Answer, len(queries))
	var workers sync.WaitGroup
	for range min(max(atOnce, 1), len(first)) {
		workers.Go(func() {
			for i := range work {
				if err := ctx.Err(); err != nil {
					answers[i].Err = err
					continue
				}
				answers[i].Place, answers[i].Err = g.Geocode(ctx, queries[i])
			}
		})
	}
	workers.Wait()
	for i, q := range queries {
		answers[i] = answers[first[q]]
	}
	return answers
}
