package lastmile

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits on what people write, in characters.
const (
	MaxText  = 1_000  // any text field that has no limit of its own
	MaxNotes = 10_000 // notes of destinations, recipients and tasks
)

// CheckText refuses a text longer than limit characters.
func CheckText(field, text string, limit int) error {
	if len(text) > limit && utf8.RuneCountInString(text) > limit {
		return Invalid("%s has %d characters; at most %d are allowed", field, utf8.RuneCountInString(text), limit)
	}
	return nil
}

// requireText refuses a text that is blank or too long.
func requireText(field, text string) error {
	if strings.TrimSpace(text) == "" {
		return Missing(field)
	}
	return CheckText(field, text, MaxText)
}

// FoldName is the form in which names are compared: letter case does not
// count.
func FoldName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// firstError returns the first error of a list of checks.
func firstError(checks ...error) error {
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

// later is the time a record was changed at: now, but always after the time it
// was changed at before, whatever the clock says.
func later(before, now time.Time) time.Time {
	if next := before.Add(time.Millisecond); !before.IsZero() && now.Before(next) {
		return next
	}
	return now
}

// Truncate shortens a text.
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

// PrintableASCII reports whether a text is ASCII that can be seen.
func PrintableASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// What a name may bring into a text message.
const (
	maxPlain       = 60 // characters
	maxPlainMarks  = 3  // accents on one letter
	maxPlainDigits = 6  // more would be a telephone number
)

// PlainName keeps names from smuggling anything into a text message. Control,
// formatting and invisible characters go; what a phone would make a link of, an
// address or a telephone number, is taken apart; the rest is cut short.
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

// visible are the characters of a name that can be seen, with single spaces.
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

// isDot tells whether a browser takes a character for the dot of a host name.
func isDot(r rune) bool {
	switch r {
	case '.', '\u2024', '\u3002', '\ufe52', '\uff0e', '\uff61':
		return true
	}
	return false
}

// withoutNumbers drops runs of digits, with what people put between them, that
// are long enough to be dialled.
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
