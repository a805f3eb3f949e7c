package textmessage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Thresholds are when recipients are notified that the worker is near or late;
// zero for never.
type Thresholds struct {
	ETA   time.Duration // the worker will arrive within this time
	Delay time.Duration // the task is late by at least this time
}

// DefaultThresholds are the thresholds of new organizations.
var DefaultThresholds = Thresholds{ETA: 10 * time.Minute, Delay: 15 * time.Minute}

// maxThreshold is the maximum of a threshold.
const maxThreshold = 24 * time.Hour

// Occasion is what a recipient is notified of. Texts and switches are set
// separately for pickups and drop-offs.
type Occasion struct {
	Kind   Kind
	Pickup bool
}

// Occasions lists every occasion.
func Occasions() []Occasion {
	var all []Occasion
	for _, kind := range RecipientKinds {
		all = append(all, Occasion{kind, false}, Occasion{kind, true})
	}
	return all
}

// Check rejects an occasion on which recipients get no messages.
func (o Occasion) Check() error {
	if o.Kind == "" {
		return lastmile.Missing("kind")
	}
	if !slices.Contains(RecipientKinds, o.Kind) {
		names := make([]string, len(RecipientKinds))
		for i, kind := range RecipientKinds {
			names[i] = string(kind)
		}
		return lastmile.Invalid("kind must be one of %s, not %q", strings.Join(names, ", "), lastmile.Truncate(string(o.Kind), 32))
	}
	return nil
}

// String returns a description of the occasion.
func (o Occasion) String() string {
	if o.Pickup {
		return string(o.Kind) + " of a pickup"
	}
	return string(o.Kind) + " of a drop-off"
}

// Settings are an organization's settings for text messages. Every message is
// sent unless it is disabled.
//
// An average task causes two messages: that the worker is on the way and when to
// expect the worker, and the outcome.
type Settings struct {
	Organization lastmile.OrganizationID
	Language     string // default for recipients without one; empty for that of the country
	From         string // number or name of the sender; empty for the installation's default
	Thresholds   Thresholds
	Disabled     []Occasion
	Texts        []Template
}

// DefaultSettings are the settings of a new organization. There is no message
// about an arrival: one about the outcome follows in a few minutes.
func DefaultSettings(org lastmile.OrganizationID) Settings {
	return Settings{Organization: org, Thresholds: DefaultThresholds, Disabled: []Occasion{{KindArrived, false}, {KindArrived, true}}}
}

// Enabled reports whether recipients are notified of an occasion.
func (s Settings) Enabled(o Occasion) bool { return !slices.Contains(s.Disabled, o) }

// SetEnabled enables or disables the messages of an occasion.
func (s *Settings) SetEnabled(o Occasion, on bool) {
	s.Disabled = slices.DeleteFunc(slices.Clone(s.Disabled), func(off Occasion) bool { return off == o })
	if !on {
		s.Disabled = append(s.Disabled, o)
	}
	slices.SortFunc(s.Disabled, compareOccasions)
}

func compareOccasions(a, b Occasion) int {
	if a.Kind == b.Kind && a.Pickup != b.Pickup {
		if b.Pickup {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Kind, b.Kind)
}

// EffectiveThresholds returns the thresholds, with zero where the messages are
// disabled.
func (s Settings) EffectiveThresholds() Thresholds {
	effective := s.Thresholds
	if !s.Enabled(Occasion{KindETA, false}) && !s.Enabled(Occasion{KindETA, true}) {
		effective.ETA = 0
	}
	if !s.Enabled(Occasion{KindDelayed, false}) && !s.Enabled(Occasion{KindDelayed, true}) {
		effective.Delay = 0
	}
	return effective
}

// Check rejects invalid settings.
func (s Settings) Check() error {
	if s.Language != "" {
		if err := CheckLanguage("language", s.Language); err != nil {
			return err
		}
	}
	if len(s.From) > 40 || !lastmile.PrintableASCII(s.From) {
		return lastmile.Invalid("from must be a telephone number, or a name that the gateway knows, of at most 40 characters")
	}
	for name, d := range map[string]time.Duration{"eta": s.Thresholds.ETA, "delay": s.Thresholds.Delay} {
		if d < 0 || d > maxThreshold || d%time.Second != 0 {
			return lastmile.Invalid("%s must be whole seconds between 0 and %.0f, not %v", name, maxThreshold.Seconds(), d.Seconds())
		}
	}
	return nil
}

// CheckLanguage rejects an invalid language code.
func CheckLanguage(field, code string) error {
	if len(code) != 2 || code[0] < 'a' || code[0] > 'z' || code[1] < 'a' || code[1] > 'z' {
		return lastmile.Invalid("%s must be a two-letter language code (ISO 639-1) such as en, not %q", field, lastmile.Truncate(code, lastmile.MaxShown))
	}
	return nil
}

// DefaultLanguage returns the language of recipients of an organization in the
// country.
func (s Settings) DefaultLanguage(country string) string {
	if s.Language != "" {
		return s.Language
	}
	return ChooseLanguage("", country)
}

// languageOf returns the language in the recipient's metadata entry "language";
// empty without a valid one.
func languageOf(r *lastmile.Recipient) string {
	for _, e := range r.Metadata {
		code, ok := e.Value.(string)
		if e.Name == "language" && ok && len(code) >= 2 {
			code = strings.ToLower(code[:2]) // for example, pt of pt-BR
			if CheckLanguage("", code) == nil {
				return code
			}
		}
	}
	return ""
}
