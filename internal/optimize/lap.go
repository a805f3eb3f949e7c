package optimize

import (
	"context"
	"time"
)

const (
	// firstLap is the time of the first of several laps.
	firstLap = 5 * time.Second
	// lapGrowth is the ratio of the times of consecutive laps.
	lapGrowth = 4
	// lastLap is the minimum ratio of the time of the last lap to that of all before it.
	lastLap = 4
)

// lap is a part of a search in which the temperature falls from the highest to the lowest.
// A plan is good only when the temperature has fallen. A long search therefore has short
// laps first, each starting from the best plan so far, so that it can be stopped at any
// time and still return the plan of a lap that took a good part of the time.
type lap struct {
	from, to float64 // share of the search at the beginning and at the end
}

// share returns the share of a lap that is done, and the length of the lap.
func (l lap) share(done float64) (share, length float64) {
	length = l.to - l.from
	return (done - l.from) / length, length
}

// after returns the share of the search that is done after a round of a lap.
func (l lap) after(round int) float64 { return l.from + (l.to-l.from)*float64(round)/rounds }

// laps divides a search into laps.
func (t *meter) laps() []lap {
	var all []lap
	var at time.Duration
	from := 0.0
	for length := firstLap; at+length <= (t.budget-at-length)/lastLap; length *= lapGrowth {
		at += length
		to := float64(at) / float64(t.budget)
		all = append(all, lap{from, to})
		from = to
	}
	return append(all, lap{from, 1})
}

// quench ends a search that is stopped before it has cooled down with a lap of the given
// length. The lap has few steps, so it takes fewer of them in each region, and it is not
// hotter than the search was.
func (s *search) quench(ctx context.Context, meter *meter, length time.Duration) {
	from := meter.done(s.iters)
	to := min(1, from+float64(length)/float64(meter.budget))
	if from >= to {
		return
	}
	if s.heat > 0 {
		s.hottest = s.heat
	}
	s.region = quenchSteps
	s.enter(lap{from, to})
	s.run(ctx, meter, to)
}

// enter begins a lap with the best plan so far.
func (s *search) enter(l lap) {
	if l.from > 0 {
		s.load(&s.best)
		s.current = s.absence()
	}
	s.lap, s.taken = l, s.iters
}
