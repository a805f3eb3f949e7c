package codec

import (
	"errors"
	"math"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Number parses a number in any notation that clients use: 21, 21.0, 2.1e1 and a string that
// contains one of these. Languages without integers write fractions, and spreadsheets and
// forms have only strings.
func Number(data []byte) (float64, bool) {
	data = bare(data)
	if size, ok := NumberSize(data); !ok || size != len(data) {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(data), 64)
	return n, err == nil
}

// bare returns data without the quotes of a string.
func bare(data []byte) []byte {
	if len(data) > 2 && data[0] == '"' {
		return data[1 : len(data)-1]
	}
	return data
}

// otherNotation reports whether the decoder stopped at a number in a notation that it does not
// support for the type, or at a string in place of a number.
func otherNotation(e *json.SemanticError) bool {
	if e.GoType == nil || e.JSONKind != '0' && e.JSONKind != '"' {
		return false
	}
	return (isWhole(e.GoType.Kind()) || isFloat(e.GoType.Kind())) && !readsItself(e.GoType)
}

// anyNotation decodes numbers with Number.
var anyNotation = json.UnmarshalFromFunc(func(d *jsontext.Decoder, into any) error {
	field := reflect.ValueOf(into).Elem()
	whole := isWhole(field.Kind())
	if kind := d.PeekKind(); kind != '0' && kind != '"' || !whole && !isFloat(field.Kind()) || readsItself(field.Type()) {
		return errors.ErrUnsupported
	}
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	n, ok := Number(value)
	switch {
	case !ok:
		return Malformed("must be a number, not %s", KindName(value[0]))
	case !InRange(bare(value)): // the scanner does not check numbers in strings
		return Invalid(outOfRange, Clip(string(bare(value))))
	case whole:
		return setWhole(field, n, Clip(string(bare(value))))
	case field.OverflowFloat(n):
		return Invalid("must be a smaller number, not %s", Clip(string(bare(value))))
	}
	field.SetFloat(n)
	return nil
})

// setWhole stores a number in a field for whole numbers.
func setWhole(field reflect.Value, n float64, written string) error {
	if n != math.Trunc(n) {
		return Malformed("must be a whole number, not %s", written)
	}
	bits := field.Type().Bits()
	if field.CanUint() {
		limit := float64(uint64(1) << min(bits, 53))
		if n < 0 || n >= limit {
			return Invalid("must be a whole number between 0 and %.0f, not %s", limit-1, written)
		}
		field.SetUint(uint64(n))
		return nil
	}
	limit := float64(int64(1) << min(bits-1, 53))
	if n < -limit || n >= limit {
		return Invalid("must be a whole number between %.0f and %.0f, not %s", -limit, limit-1, written)
	}
	field.SetInt(int64(n))
	return nil
}
