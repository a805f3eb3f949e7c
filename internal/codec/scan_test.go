package codec

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzScanner compares the scanner with a parser that shares no code with it. A body that the
// scanner accepts must be valid JSON without duplicate keys, and a valid body may be rejected
// only because of a limit.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b":[1,2,{"c":"\ud83d\ude9a"}]},"d":-0.5e-7}`, `{"a":1,"\u0061":2}`, `{"a":{"b":1},"c":{"b":1},"b":{"a":1}}`,
		`[[],{},"",0,-0,1E5,true,false,null]`, `"\ud800\udc00\u00e9\n"`, `{"":{"":{"":1,"x":2}}}`, "[\"\xed\xa0\x80\"]",
		`[9007199254740992,9007199254740993]`, `{"x":[{"y":1,"y":1}]}`, `[1,]`, `{"a":1,}`, "\uFEFF[]", `01`, `1.`, `-`, `"\u00"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Scanner
		err := s.Scan(data)
		valid := jsontext.Value(data).IsValid()
		switch {
		case err == nil && !valid:
			t.Fatalf("%q was passed", data)
		case err == nil && s.Depth != 0, err == nil && len(s.Keys) != 0:
			t.Fatalf("%q left %d containers and %d keys open", data, s.Depth, len(s.Keys))
		case err != nil && valid && !limit(err.Error()):
			t.Fatalf("%q was rejected: %v", data, err)
		}
	})
}

func limit(message string) bool {
	for _, part := range []string{"nested too deeply", "too many", "between -2^53", "control character"} {
		if strings.Contains(message, part) {
			return true
		}
	}
	return false
}

func TestTinyNumbers(t *testing.T) {
	for literal, want := range map[string]bool{
		"5e-324": true, "-5E-324": true, "0.5e-0324": true, "1e-100": true, "1e-999999999": true,
		"1e-99": false, "1e-00099": false, "-100": false, "1e100": false, "0": false, "1" + strings.Repeat("0", 64) + "e-100": false,
	} {
		if got := tiny([]byte(literal)); got != want {
			t.Errorf("%s: got %t", literal, got)
		}
	}
}

func TestInRange(t *testing.T) {
	tests := map[string]bool{
		"0": true, "-0": true, "999999999999999": true, "1e15": true, "1e16": false, "9007199254740991.9": true,
		"9007199254740992": true, "-9007199254740992": true, "9007199254740992.0": true, "900719925474099200e-2": true,
		"9007199254740993": false, "-9007199254740992.5": false, "9007199254740992.00000000000000000000000000000001": false,
		"1e-999999999": true, "5e-324": true, "-5e-324": true, "1e999999999": false, "0e999999999": true, "123456789e9": false,
		"9007199254740992." + strings.Repeat("0", 100): false, // too long for exact arithmetic
	}
	for literal, want := range tests {
		if got := InRange([]byte(literal)); got != want {
			t.Errorf("%s: got %t", literal, got)
		}
	}
}

// TestPlainRun puts every byte at every position among bytes that are next to the limits.
func TestPlainRun(t *testing.T) {
	for _, fill := range []byte{' ', '!', '#', '[', ']', 'x', 0x7f} {
		for length := range 20 {
			for at := range length {
				for c := range 256 {
					text := bytes.Repeat([]byte{fill}, length)
					text[at] = byte(c)
					want := length
					if c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
						want = at
					}
					if got := plainRun(text); got != want {
						t.Fatalf("%q begins with %d plain bytes, want %d", text, got, want)
					}
				}
			}
		}
	}
}
