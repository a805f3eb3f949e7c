package textmessage

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"dray/internal/lastmile"
)

// MaxTemplate is the longest text of a message as it is written, in characters.
const MaxTemplate = 480

// Template is the text of a message in one language. What stands in
// braces is filled in.
type Template struct {
	Occasion Occasion
	Language string
	Text     string
}

// placeholders are what a text can have filled in, and the only kind of message
// that knows it; empty: all do.
var placeholders = map[string]Kind{
	"organization": "", "recipient": "", "worker": "", "tracking": "", "task": "",
	"eta": KindETA, "delay": KindDelayed,
}

// knownPlaceholders lists what a kind of message can have filled in.
func knownPlaceholders(kind Kind) []string {
	var known []string
	for name, only := range placeholders {
		if only == "" || only == kind {
			known = append(known, "{"+name+"}")
		}
	}
	slices.Sort(known)
	return known
}

// Check refuses a text that could not be sent.
func (t Template) Check() error {
	if !slices.Contains(RecipientKinds, t.Occasion.Kind) {
		names := make([]string, len(RecipientKinds))
		for i, kind := range RecipientKinds {
			names[i] = string(kind)
		}
		return lastmile.Invalid("kind must be one of %s, not %q", strings.Join(names, ", "), t.Occasion.Kind)
	}
	if err := checkLanguage("language", t.Language); err != nil {
		return err
	}
	if strings.TrimSpace(t.Text) == "" {
		return lastmile.Missing("text")
	}
	if err := lastmile.CheckText("text", t.Text, MaxTemplate); err != nil {
		return err
	}
	for _, r := range t.Text {
		if r != '\n' && unicode.In(r, unicode.C, unicode.Other_Default_Ignorable_Code_Point) {
			return lastmile.Invalid("text has the character U+%04X, which cannot be seen", r)
		}
	}
	_, err := t.fill(func(name string) (string, error) {
		only, known := placeholders[name]
		if !known || only != "" && only != t.Occasion.Kind {
			return "", lastmile.Invalid("text: {%s} cannot be filled in; a %s message knows %s",
				name, t.Occasion.Kind, strings.Join(knownPlaceholders(t.Occasion.Kind), ", "))
		}
		return "", nil
	})
	return err
}

// fill puts values where the text has names in braces.
func (t Template) fill(value func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for rest := t.Text; ; {
		before, after, open := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return "", lastmile.Invalid("text has a } without a { before it")
		}
		b.WriteString(before)
		if !open {
			return b.String(), nil
		}
		name, behind, closed := strings.Cut(after, "}")
		if !closed {
			return "", lastmile.Invalid("text has a { without a } behind it")
		}
		filled, err := value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(filled)
		rest = behind
	}
}

// SetText sets an organization's own text of a message. An empty one brings the
// program's back.
func (s *Settings) SetText(t Template) error {
	if t.Text != "" {
		if err := t.Check(); err != nil {
			return err
		}
	}
	s.Texts = slices.DeleteFunc(slices.Clone(s.Texts), func(old Template) bool {
		return old.Occasion == t.Occasion && old.Language == t.Language
	})
	if t.Text != "" {
		s.Texts = append(s.Texts, t)
	}
	slices.SortFunc(s.Texts, func(a, b Template) int {
		if c := compareOccasions(a.Occasion, b.Occasion); c != 0 {
			return c
		}
		return strings.Compare(a.Language, b.Language)
	})
	return nil
}

// Template is the text of an occasion in the first of the languages that has
// one: the organization's own before the program's. own tells which it is.
func (s Settings) Template(o Occasion, languages ...string) (t Template, own bool) {
	for _, language := range append(languages, "en") {
		for _, t := range s.Texts {
			if t.Occasion == o && t.Language == language {
				return t, true
			}
		}
		if text := builtInText(o, language); text != "" {
			return Template{Occasion: o, Language: language, Text: text}, false
		}
	}
	return t, false
}

// Notice is what a recipient is told, and what is known for it.
type Notice struct {
	Kind     Kind
	Task     lastmile.Task
	Merchant lastmile.Organization // whose name is shown
	Country  string                // of the organization that sends
	Worker   string                // name of the worker; empty: not known
}

// Compose is the text of what a recipient is told.
func (s Settings) Compose(told Notice) string {
	language := s.LanguageIn(told.Country)
	languages := []string{language}
	if told.Task.Recipient != nil && languageOf(told.Task.Recipient) != "" {
		languages = []string{languageOf(told.Task.Recipient), language}
	}
	t, _ := s.Template(Occasion{told.Kind, told.Task.Pickup}, languages...)
	text, err := t.fill(func(name string) (string, error) { return told.value(name, t.Language, s.Thresholds), nil })
	if err != nil { // checked when it was saved
		return ""
	}
	return text
}

// value is what is filled in for a name.
func (told Notice) value(name, language string, usual Thresholds) string {
	switch name {
	case "organization":
		return lastmile.PlainName(told.Merchant.Name)
	case "recipient":
		if own := told.Task.Overrides.RecipientName; own != nil && *own != "" {
			return lastmile.PlainName(*own)
		}
		if told.Task.Recipient != nil {
			return lastmile.PlainName(told.Task.Recipient.Name)
		}
	case "worker":
		if worker := lastmile.PlainName(told.Worker); worker != "" {
			return worker
		}
		return cmp.Or(someWorker[language], someWorker["en"])
	case "tracking":
		return told.Task.TrackingURL
	case "task":
		return told.Task.ShortID
	case "eta":
		return minutesOf(told.Task.Estimates.ETA, usual.ETA)
	case "delay":
		return minutesOf(told.Task.Estimates.Delay, usual.Delay)
	}
	return ""
}

// minutesOf is a time span for people to read; what is usual if it is not known.
func minutesOf(d *time.Duration, usual time.Duration) string {
	span := usual
	if d != nil {
		span = *d
	}
	return strconv.Itoa(max(1, int((span+time.Minute-1)/time.Minute)))
}

// Sample is what a text would be for a made-up task, to see how long it is.
func (s Settings) Sample(t Template, org lastmile.Organization, publicURL string) string {
	eta, delay := s.Thresholds.ETA, s.Thresholds.Delay
	told := Notice{
		Kind: t.Occasion.Kind, Merchant: org, Worker: "Alex Morgan",
		Task: lastmile.Task{
			ShortID: "1a2b3c4d", TrackingURL: publicURL + "/t/" + strings.Repeat("x", lastmile.IDLength),
			Recipient: &lastmile.Recipient{Name: "Grace Hopper"}, Estimates: lastmile.Estimates{ETA: &eta, Delay: &delay},
		},
	}
	text, err := t.fill(func(name string) (string, error) { return told.value(name, t.Language, s.Thresholds), nil })
	if err != nil {
		return ""
	}
	return text
}
