package lastmile

import (
	"strings"
	"time"
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
