package optimize

import (
	"math"
	"math/bits"
)

// rng is a small generator of random numbers (wyrand).
type rng struct{ state uint64 }

func newRNG(seed uint64) rng { return rng{seed*0x9E3779B97F4A7C15 + 0x1234567} }

func (r *rng) next() uint64 {
	r.state += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(r.state, r.state^0xe7037ed1a0b428db)
	return hi ^ lo
}

// below returns a number from 0 to n-1.
func (r *rng) below(n uint32) uint32 {
	return uint32(uint64(uint32(r.next())) * uint64(n) >> 32)
}

// float returns a number above 0 and below 1.
func (r *rng) float() float64 { return (float64(r.next()>>12) + 0.5) / (1 << 52) }

// geometric returns the number of failed trials before the first success, which has
// probability p.
func (r *rng) geometric(p float64) uint32 {
	return uint32(min(math.Log(r.float())/math.Log(1-p), 1<<30))
}
