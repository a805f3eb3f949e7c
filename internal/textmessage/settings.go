package textmessage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Thresholds are when recipients are told that the worker is near
// or late; zero: never.
type Thresholds struct {
	ETA   time.Duration // the worker will be there in at most this time
	Delay time.Duration // the task is late by at least this time
}

// DefaultThresholds are those of an organization that has set none.
var DefaultThresholds = Thresholds{ETA: 10 * time.Minute, Delay: 15 * time.Minute}

// maxThreshold is the longest time a threshold can be.
const maxThreshold = 24 * time.Hour

// Occasion is when a recipient is sent a message: texts and switches are set for
// pickups and for drop-offs apart.
type Occasion struct {
	Kind   Kind
	Pickup bool
}

// Occasions lists all of them.
func Occasions() []Occasion {
	var all []Occasion
	for _, kind := range RecipientKinds {
		all = append(all, Occasion{kind, false}, Occasion{kind, true})
	}
	return all
}

// String names the occasion for people.
func (o Occasion) String() string {
	if o.Pickup {
		return string(o.Kind) + " of a pickup"
	}
	return string(o.Kind) + " of a drop-off"
}

// Settings are what an organization has set for its text messages. Every
// message is sent unless it is turned off.
type Settings struct {
	Organization lastmile.OrganizationID
	Language     string // of those who have none of their own; empty: that of the country
	From         string // number or name of the sender; empty: the installation's
	Thresholds   Thresholds
	Off          []Occasion
	Texts        []Template
}

// DefaultSettings are those of an organization that has set nothing.
func DefaultSettings(org lastmile.OrganizationID) Settings {
	return Settings{Organization: org, Thresholds: DefaultThresholds}
}

// On tells whether recipients are told on an occasion.
func (s Settings) On(o Occasion) bool { return !slices.Contains(s.Off, o) }

// Switch turns the messages of an occasion on or off.
func (s *Settings) Switch(o Occasion, on bool) {
	s.Off = slices.DeleteFunc(slices.Clone(s.Off), func(off Occasion) bool { return off == o })
	if !on {
		s.Off = append(s.Off, o)
	}
	slices.SortFunc(s.Off, compareOccasions)
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

// Effective are the thresholds at which anybody is told: zero where the messages
// are off.
func (s Settings) Effective() Thresholds {
	told := s.Thresholds
	if !s.On(Occasion{KindETA, false}) && !s.On(Occasion{KindETA, true}) {
		told.ETA = 0
	}
	if !s.On(Occasion{KindDelayed, false}) && !s.On(Occasion{KindDelayed, true}) {
		told.Delay = 0
	}
	return told
}

// Check refuses settings that cannot be.
func (s Settings) Check() error {
	if s.Language != "" {
		if err := checkLanguage("language", s.Language); err != nil {
			return err
		}
	}
	if len(s.From) > 40 || !lastmile.PrintableASCII(s.From) {
		return lastmile.Invalid("from must be a telephone number, or a name that the gateway knows, of at most 40 characters")
	}
	for name, d := range map[string]time.Duration{"eta": s.Thresholds.ETA, "delay": s.Thresholds.Delay} {
		if d < 0 || d > maxThreshold || d%time.Second != 0 {
			return lastmile.Invalid("%s must be whole seconds between 0 and %v, not %v", name, maxThreshold, d)
		}
	}
	return nil
}

// checkLanguage refuses what is no code of a language.
func checkLanguage(field, code string) error {
	if len(code) != 2 || code[0] < 'a' || code[0] > 'z' || code[1] < 'a' || code[1] > 'z' {
		return lastmile.Invalid("%s must be a two-letter language code (ISO 639-1) such as en, not %q", field, code)
	}
	return nil
}

// countryLanguages are the languages that most people of a country read, where
// the program has texts in it.
var countryLanguages = map[string]string{
	"AT": "de", "CH": "de", "DE": "de", "LI": "de", "LU": "fr",
	"BE": "fr", "CD": "fr", "CI": "fr", "CM": "fr", "FR": "fr", "MC": "fr", "SN": "fr",
	"AO": "pt", "BR": "pt", "MZ": "pt", "PT": "pt",
	"AR": "es", "BO": "es", "CL": "es", "CO": "es", "CR": "es", "CU": "es", "DO": "es", "EC": "es", "ES": "es", "GT": "es", "HN": "es",
	"MX": "es", "NI": "es", "PA": "es", "PE": "es", "PR": "es", "PY": "es", "SV": "es", "UY": "es", "VE": "es",
}

// LanguageIn is the language that most recipients of an organization read, which
// is in a country.
func (s Settings) LanguageIn(country string) string {
	switch {
	case s.Language != "":
		return s.Language
	case countryLanguages[country] != "":
		return countryLanguages[country]
	}
	return "en"
}

// languageOf is the language that the recipient's metadata entry "language"
// asks for; empty without a valid one.
func languageOf(r *lastmile.Recipient) string {
	for _, e := range r.Metadata {
		code, ok := e.Value.(string)
		if e.Name == "language" && ok && len(code) >= 2 {
			code = strings.ToLower(code[:2]) // as in pt-BR
			if checkLanguage("", code) == nil {
				return code
			}
		}
	}
	return ""
}
