package lastmile

import (
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of text fields, in characters.
const (
	MaxText  = 1_000  // default
	MaxNotes = 10_000 // notes of destinations, recipients and tasks
	MaxShown = 64     // of a client's text in an error
)

// CheckText rejects a text of more than limit characters.
func CheckText(field, text string, limit int) error {
	if len(text) > limit && utf8.RuneCountInString(text) > limit {
		return Invalid("%s has %d characters; at most %d are allowed", field, utf8.RuneCountInString(text), limit)
	}
	return nil
}

// RequireText rejects a text that is blank or too long.
func RequireText(field, text string) error {
	if strings.TrimSpace(text) == "" {
		return Missing(field)
	}
	return CheckText(field, text, MaxText)
}

// FoldName returns the form in which names are compared, which ignores case.
func FoldName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// FirstError returns the first error that is not nil.
func FirstError(checks ...error) error {
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

// nextModified returns the next modification time of a record: now, or at least a millisecond
// after before if the clock has gone backwards.
func nextModified(before, now time.Time) time.Time {
	if next := before.Add(time.Millisecond); !before.IsZero() && now.Before(next) {
		return next
	}
	return now
}

// touch sets the modification time of a record if an update has changed it, and reports
// whether it has. An update that changes nothing causes no event, so that an integration that
// writes back a record from a notification does not cause the next notification.
func touch[T any](modified *time.Time, before, after T, now time.Time) bool {
	if !modified.IsZero() && Same(before, after) {
		return false
	}
	*modified = nextModified(*modified, now)
	return true
}

// Same reports whether two values are deeply equal. Times are equal if they are the same
// instant, and empty slices and maps are equal to nil.
func Same[T any](a, b T) bool { return same(reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()) }

func same(a, b reflect.Value) bool {
	if at, ok := reflect.TypeAssert[time.Time](a); ok {
		other, ok := reflect.TypeAssert[time.Time](b)
		return ok && at.Equal(other)
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return a.Elem().Type() == b.Elem().Type() && same(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		for i := range min(a.Len(), b.Len()) {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	case reflect.Map:
		for _, key := range a.MapKeys() {
			if other := b.MapIndex(key); !other.IsValid() || !same(a.MapIndex(key), other) {
				return false
			}
		}
		return a.Len() == b.Len()
	default:
		return a.Equal(b)
	}
}

// Truncate returns the first most characters of a text.
func Truncate(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}

// PrintableASCII reports whether a text consists of printable ASCII characters.
func PrintableASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// Limits of names in text messages.
const (
	maxPlain       = 60 // characters
	maxPlainMarks  = 3  // combining marks per letter
	maxPlainDigits = 6  // more could be a phone number
)

// PlainName makes a name safe to include in a text message. It removes control, formatting
// and invisible characters and phone numbers, breaks up web and mail addresses, which phones
// would turn into links, and truncates the rest.
func PlainName(name string) string {
	kept := visible(name)
	var b strings.Builder
	for i, r := range kept {
		var next rune
		if i+1 < len(kept) {
			next = kept[i+1]
		}
		switch {
		case isDot(r):
			b.WriteByte('.')
			if next != 0 && next != ' ' && !isDot(next) {
				b.WriteByte(' ')
			}
		case r == ':' && next != 0 && next != ' ':
			b.WriteString(": ")
		case (r == '/' || r == '\\') && (next == '/' || next == '\\'):
		case r == '/' && i > 0 && (kept[i-1] == '/' || kept[i-1] == ':' || kept[i-1] == '\\'):
			b.WriteByte(' ')
		case r == '@':
			b.WriteString(" at ")
		default:
			b.WriteRune(r)
		}
	}
	text := strings.Join(strings.Fields(withoutNumbers(b.String())), " ")
	return strings.TrimRight(Truncate(text, maxPlain), " :/\\")
}

// visible returns the visible characters of a name, with single spaces.
func visible(name string) []rune {
	var kept []rune
	marks := 0
	for _, r := range name {
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp):
			if len(kept) > 0 && kept[len(kept)-1] != ' ' {
				kept = append(kept, ' ')
			}
			continue
		case unicode.In(r, unicode.C, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector),
			r == unicode.ReplacementChar, r == '\u2800': // a Braille pattern without dots
			continue
		case unicode.Is(unicode.M, r):
			if marks++; marks > maxPlainMarks {
				continue
			}
		default:
			marks = 0
		}
		if kept = append(kept, r); len(kept) > 4*maxPlain {
			break
		}
	}
	return kept
}

// isDot reports whether browsers accept r as the dot of a host name.
func isDot(r rune) bool {
	switch r {
	case '.', '\u2024', '\u3002', '\ufe52', '\uff0e', '\uff61':
		return true
	}
	return false
}

// withoutNumbers removes runs of digits and separators that have more than maxPlainDigits
// digits, because they could be phone numbers.
func withoutNumbers(text string) string {
	runes := []rune(text)
	var b strings.Builder
	for i := 0; i < len(runes); {
		if !unicode.IsDigit(runes[i]) {
			b.WriteRune(runes[i])
			i++
			continue
		}
		end, digits := i, 0
		for j := i; j < len(runes) && (unicode.IsDigit(runes[j]) || strings.ContainsRune(" -.()/+", runes[j])); j++ {
			if unicode.IsDigit(runes[j]) {
				digits++
				end = j + 1
			}
		}
		if digits <= maxPlainDigits {
			b.WriteString(string(runes[i:end]))
		}
		i = end
	}
	return b.String()
}
