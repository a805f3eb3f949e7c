package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// Limits on the structure of any request body. Limits on single fields belong
// to those fields.
const (
	MaxDepth   = 32     // containers inside one another, the outermost included
	MaxMembers = 256    // members of one object
	MaxItems   = 10_000 // elements of one array
)

// MaxNumber is the maximum absolute value of a number. A float64 represents every whole number
// up to it exactly, so that it is the same here, in JavaScript and in a database.
const MaxNumber = 1 << 53

// outOfRange is the message for a number beyond MaxNumber.
const outOfRange = "must be a number between -2^53 and 2^53, not %s"

// Scanner scans a body before it is decoded. It rejects everything that is not valid JSON or
// exceeds a limit, even in members that are ignored, and allocates little memory.
type Scanner struct {
	data   []byte
	at     int
	Depth  int
	frames [MaxDepth]frame // the containers around at, outermost first
	Keys   []key           // the keys so far of the objects around at, outermost first
	Values int             // number of values so far
	Items  int             // number of elements of the outermost array so far
}

// frame is an open container and the current position in it.
type frame struct {
	array bool
	index int       // array: index of the current element, or -1
	keys  int       // object: index of its first key in Scanner.Keys
	seen  [4]uint64 // object: a set of the lowest bytes of the hashes of its keys
	named bool      // object: the last key is that of the current member
}

// key is the position of a key in the body, without the quotes, and its hash.
type key struct {
	start, end int
	hash       uint64
}

// keySeed makes hashes of keys unpredictable, so that clients cannot send bodies whose keys
// collide and must all be compared.
var keySeed = maphash.MakeSeed()

// usualKeys is the initial capacity of Scanner.Keys, which is enough for most bodies.
const usualKeys = 16

// Scan scans a body, which must be exactly one JSON value, with optional white space around
// it.
func (s *Scanner) Scan(data []byte) *FieldError {
	s.data, s.Keys = data, make([]key, 0, usualKeys)
	if len(data) >= 3 && string(data[:3]) == "\uFEFF" {
		return Invalid("must not begin with a byte order mark: send plain UTF-8")
	}
	s.space()
	if err := s.value(); err != nil {
		return err
	}
	s.space()
	if s.at < len(data) {
		return Invalid("must be one JSON value, but %s follows it at byte %d", s.found(), s.at)
	}
	return nil
}

func (s *Scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek returns the next byte, or zero at the end. They need not be distinguished, because a
// zero byte is never valid.
func (s *Scanner) peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

func (s *Scanner) value() *FieldError {
	s.Values++
	switch c := s.peek(); {
	case c == '{':
		return s.object()
	case c == '[':
		return s.array()
	case c == '"':
		return s.text(false)
	case c == '-', c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.syntax("a value")
}

func (s *Scanner) word(word string) *FieldError {
	if len(s.data)-s.at < len(word) || string(s.data[s.at:s.at+len(word)]) != word {
		return s.syntax(word)
	}
	s.at += len(word)
	return nil
}

// open opens the container that begins at the next byte.
func (s *Scanner) open(array bool) (*frame, *FieldError) {
	if s.Depth == MaxDepth {
		return nil, s.reject("is nested too deeply: at most %d levels are allowed", MaxDepth)
	}
	s.at++
	s.space()
	f := &s.frames[s.Depth]
	*f = frame{array: array, index: -1, keys: len(s.Keys)}
	s.Depth++
	return f, nil
}

func (s *Scanner) shut() {
	s.at++
	s.Depth--
	s.Keys = s.Keys[:s.frames[s.Depth].keys]
}

func (s *Scanner) object() *FieldError {
	f, err := s.open(false)
	if err != nil {
		return err
	}
	if s.peek() == '}' {
		s.shut()
		return nil
	}
	for members := 1; ; members++ {
		f.named = false
		if members > MaxMembers {
			return s.reject("has too many members: at most %d are allowed", MaxMembers)
		}
		if err := s.member(f); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.at++
			s.space()
		case '}':
			s.shut()
			return nil
		default:
			return s.syntax("a comma or }")
		}
	}
}

// member scans a key, a colon, a value and the space after it.
func (s *Scanner) member(f *frame) *FieldError {
	if s.peek() != '"' {
		return s.syntax("a key in double quotes")
	}
	start := s.at + 1
	if err := s.text(true); err != nil {
		return err
	}
	if s.name(f, start, s.at-1) {
		return s.reject("is given more than once")
	}
	s.space()
	if s.peek() != ':' {
		return s.syntax("a colon")
	}
	s.at++
	s.space()
	if err := s.value(); err != nil {
		return err
	}
	s.space()
	return nil
}

// name makes the text from start to end the key of the current member of f, and reports
// whether the object already had that key.
func (s *Scanner) name(f *frame, start, end int) (again bool) {
	text := s.data[start:end]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = []byte(unquote(s.data[start-1 : end+1]))
	}
	k := key{start, end, maphash.Bytes(keySeed, text)}
	word, bit := k.hash>>6&3, uint64(1)<<(k.hash&63)
	if f.seen[word]&bit != 0 {
		for _, earlier := range s.Keys[f.keys:] {
			again = again || earlier.hash == k.hash && s.keyText(earlier) == s.keyText(k)
		}
	}
	f.seen[word] |= bit
	s.Keys = append(s.Keys, k)
	f.named = true
	return again
}

func (s *Scanner) keyText(k key) string {
	return unquote(s.data[k.start-1 : k.end+1])
}

func (s *Scanner) array() *FieldError {
	f, err := s.open(true)
	if err != nil {
		return err
	}
	if s.peek() == ']' {
		s.shut()
		return nil
	}
	for f.index = 0; ; f.index++ {
		if s.Depth == 1 {
			s.Items++
		}
		if f.index == MaxItems {
			s.Depth-- // the path is that of the array, not of the element
			return s.reject("has too many elements: at most %d are allowed", MaxItems)
		}
		if err := s.value(); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.at++
			s.space()
		case ']':
			s.shut()
			return nil
		default:
			return s.syntax("a comma or ]")
		}
	}
}

// text scans a string, which is a key or a value.
func (s *Scanner) text(key bool) *FieldError {
	for s.at++; s.at < len(s.data); {
		if s.at += plainRun(s.data[s.at:]); s.at == len(s.data) {
			break
		}
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c == '\\':
			if err := s.escape(key); err != nil {
				return err
			}
		case c < ' ':
			return s.control(key, rune(c), true)
		default:
			r, size := utf8.DecodeRune(s.data[s.at:])
			if r == utf8.RuneError && size == 1 {
				return s.inText(key, "is not valid UTF-8 at byte %d", s.at)
			}
			s.at += size
		}
	}
	return s.syntax("a closing double quote")
}

// plainRun returns the number of bytes before the first quote, backslash, byte below a space
// or byte that is not ASCII. It checks eight bytes at a time.
func plainRun(text []byte) (n int) {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for ; len(text)-n >= 8; n += 8 {
		eight := binary.LittleEndian.Uint64(text[n:])
		quotes, backslashes := eight^(each*'"'), eight^(each*'\\')
		// The high bit of a byte is set in found if the byte is not plain. Borrows may also
		// set it in later bytes, which does not matter because only the first one is used.
		found := (eight-each*' ')&^eight | (quotes-each)&^quotes | (backslashes-each)&^backslashes | eight
		if found &= high; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for ; n < len(text); n++ {
		if c := text[n]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return n
}

// escape scans an escape sequence, which begins with a backslash.
func (s *Scanner) escape(key bool) *FieldError {
	s.at++
	switch c := s.peek(); c {
	case '"', '\\', '/', 'n', 'r', 't':
		s.at++
		return nil
	case 'b':
		return s.control(key, '\b', false)
	case 'f':
		return s.control(key, '\f', false)
	case 'u':
		return s.unicode(key)
	}
	return s.syntax(`one of "\/bfnrtu`)
}

// unicode scans the u of an escape sequence and its digits, and the second half of a surrogate
// pair.
func (s *Scanner) unicode(key bool) *FieldError {
	r, ok := hex4(s.data[s.at+1:])
	if !ok {
		s.at++
		return s.syntax("four hexadecimal digits")
	}
	const (
		high, low, after = 0xD800, 0xDC00, 0xE000 // first high and low surrogates, and first rune after them
	)
	switch {
	case r < ' ' && r != '\t' && r != '\n' && r != '\r':
		return s.control(key, r, false)
	case r < high || r >= after:
		s.at += 5
		return nil
	}
	rest := s.data[s.at+5:]
	if r < low && len(rest) > 2 && rest[0] == '\\' && rest[1] == 'u' {
		if second, ok := hex4(rest[2:]); ok && second >= low && second < after {
			s.at += 11
			return nil
		}
	}
	return s.inText(key, "holds half of a surrogate pair, \\u%04x: send the whole character", r)
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// control rejects a control character. PostgreSQL cannot store NUL in a text, and the others
// do not belong in names, addresses or notes. raw means that it is not escaped.
func (s *Scanner) control(key bool, r rune, raw bool) *FieldError {
	if raw && (r == '\t' || r == '\n' || r == '\r') {
		return s.inText(key, "holds %U as it is: write it as %s", r, strconv.QuoteRune(r)[1:3])
	}
	return s.inText(key, "holds the control character %U: only tab, newline and carriage return are allowed, escaped", r)
}

// inText rejects a string that is a key or a value.
func (s *Scanner) inText(key bool, format string, args ...any) *FieldError {
	if key {
		return s.reject("has a key that "+format, args...)
	}
	return s.reject(format, args...)
}

// reject returns the error for an unacceptable value at the current path.
func (s *Scanner) reject(format string, args ...any) *FieldError {
	return Invalid(format, args...).at(s.path())
}

// syntax returns the error for a next byte that is not valid JSON.
func (s *Scanner) syntax(want string) *FieldError {
	place := ""
	if path := s.path(); path != "" {
		place = " in " + path
	}
	return Invalid("is not valid JSON: at byte %d%s there is %s instead of %s", s.at, place, s.found(), want)
}

// found returns a description of the next byte or character for a message.
func (s *Scanner) found() string {
	if s.at >= len(s.data) {
		return "the end"
	}
	r, size := utf8.DecodeRune(s.data[s.at:])
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("the byte 0x%02x", s.data[s.at])
	}
	return strconv.QuoteRune(r)
}

// path returns the current path, such as tasks[3].notes.
func (s *Scanner) path() string {
	var path []byte
	for i, f := range s.frames[:s.Depth] {
		switch {
		case f.array && f.index >= 0:
			path = appendIndex(path, f.index)
		case f.named:
			last := len(s.Keys)
			if i+1 < s.Depth {
				last = s.frames[i+1].keys
			}
			path = appendKey(path, s.keyText(s.Keys[last-1]))
		}
	}
	return string(path)
}
