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

// NumberSize returns how many bytes of b are a JSON number. When it is not
// ok, the number breaks off after that many.
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
		at++ // and no digit may follow
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

// InRange reports whether a number's magnitude is within maxNumber.
func InRange(literal []byte) bool {
	// Fifteen bytes without an exponent are below 10^15: the usual case.
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
	// At the limit itself the float64 was rounded, and 2^53+1 looks like 2^53.
	// The length is bounded because the exact arithmetic is not cheap.
	if len(literal) > 64 {
		return false
	}
	exact, ok := new(big.Rat).SetString(string(literal))
	return ok && exact.Abs(exact).Cmp(big.NewRat(MaxNumber, 1)) <= 0
}

// tiny reports whether a number is close to zero because of its exponent. Those that a
// float64 holds only in part, such as 5e-324, take a hundred times as long to read as
// others.
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
