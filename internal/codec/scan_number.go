package codec

import (
	"bytes"
	"math/big"
	"strconv"
)

func (s *Scanner) number() *FieldError {
	size, ok := NumberSize(s.data[s.at:])
	literal := s.data[s.at : s.at+size]
	s.at += size
	if !ok {
		return s.syntax("a digit")
	}
	if !InRange(literal) {
		return s.reject(outOfRange, Clip(string(literal)))
	}
	return nil
}

// NumberSize returns the length of the JSON number at the beginning of b. If ok is false, size
// is the index at which the number is invalid.
func NumberSize(b []byte) (size int, ok bool) {
	at := 0
	digits := func() bool {
		start := at
		for at < len(b) && b[at] >= '0' && b[at] <= '9' {
			at++
		}
		return at > start
	}
	if at < len(b) && b[at] == '-' {
		at++
	}
	if at < len(b) && b[at] == '0' {
		at++ // no digit may follow
	} else if !digits() {
		return at, false
	}
	if at < len(b) && b[at] == '.' {
		at++
		if !digits() {
			return at, false
		}
	}
	if at < len(b) && (b[at] == 'e' || b[at] == 'E') {
		at++
		if at < len(b) && (b[at] == '+' || b[at] == '-') {
			at++
		}
		if !digits() {
			return at, false
		}
	}
	return at, true
}

// InRange reports whether the absolute value of a number is at most MaxNumber.
func InRange(literal []byte) bool {
	// The usual case: a number of at most fifteen bytes without an exponent is below 10^15.
	if len(literal) <= 15 && !hasExponent(literal) {
		return true
	}
	if tiny(literal) {
		return true
	}
	f, err := strconv.ParseFloat(string(literal), 64)
	switch {
	case err != nil, f > MaxNumber, f < -MaxNumber:
		return false
	case f < MaxNumber && f > -MaxNumber:
		return true
	}
	// A float64 of exactly the limit may have been rounded from 2^53+1. The length is limited
	// because exact arithmetic is expensive.
	if len(literal) > 64 {
		return false
	}
	exact, ok := new(big.Rat).SetString(string(literal))
	return ok && exact.Abs(exact).Cmp(big.NewRat(MaxNumber, 1)) <= 0
}

// tiny reports whether a number is close to zero because of its exponent. Subnormal numbers,
// such as 5e-324, take a hundred times as long to parse as others.
func tiny(literal []byte) bool {
	at := bytes.LastIndexByte(literal, '-')
	if at <= 0 || len(literal) > 64 { // the exponent is not negative, or the number is long
		return false
	}
	digits := bytes.TrimLeft(literal[at+1:], "0")
	return len(digits) >= len("100")
}

func hasExponent(literal []byte) bool {
	for _, c := range literal {
		if c == 'e' || c == 'E' {
			return true
		}
	}
	return false
}
