// Package osmtest damages files for tests of their readers.
package osmtest

import (
	"bytes"
	"math/rand/v2"
)

// Damage returns a copy of b with some bytes changed, removed or repeated.
func Damage(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + r.IntN(4) {
		if len(b) == 0 {
			return b
		}
		at := r.IntN(len(b))
		switch r.IntN(6) {
		case 0:
			b[at] = byte(r.Uint32())
		case 1:
			b[at] ^= 1 << r.IntN(8)
		case 2:
			b[at] = 0xff // numbers become large
		case 3:
			b = b[:at]
		case 4:
			b = append(bytes.Clone(b[:at]), b[r.IntN(len(b)):]...)
		default:
			for ; at < len(b) && r.IntN(8) > 0; at++ {
				b[at] = byte(r.Uint32())
			}
		}
	}
	return b
}
