package textmessage

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"dray/internal/calendar"
	"dray/internal/lastmile"
)

// Limits of templates.
const (
	MaxTemplate = 480 // characters
	MaxTexts    = 300 // texts of an organization, in all kinds and languages
)

// Template is the text of a message in one language, with placeholders in
// braces.
type Template struct {
	Occasion Occasion
	Language string
	Text     string
}

// placeholders maps each placeholder to the kinds of message that have it; nil
// for every kind.
var placeholders = map[string][]Kind{
	"organization": nil, "recipient": nil, "worker": nil, "tracking": nil, "task": nil,
	"eta": {KindStarted, KindETA}, "time": {KindStarted, KindETA}, "delay": {KindDelayed},
}

// hasPlaceholder reports whether a kind of message has a placeholder.
func hasPlaceholder(kind Kind, name string) bool {
	kinds, known := placeholders[name]
	return known && (kinds == nil || slices.Contains(kinds, kind))
}

// Placeholders lists the placeholders of a kind of message, without braces.
func Placeholders(kind Kind) []string {
	known := []string{}
	for name := range placeholders {
		if hasPlaceholder(kind, name) {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	return known
}

// knownPlaceholders lists the placeholders of a kind of message.
func knownPlaceholders(kind Kind) []string {
	known := Placeholders(kind)
	for i, name := range known {
		known[i] = "{" + name + "}"
	}
	return known
}

// Check rejects an invalid template.
func (t Template) Check() error {
	if err := t.Occasion.Check(); err != nil {
		return err
	}
	if err := CheckLanguage("language", t.Language); err != nil {
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
		if !hasPlaceholder(t.Occasion.Kind, name) {
			return "", lastmile.Invalid("text: {%s} cannot be filled in; a %s message knows %s",
				name, t.Occasion.Kind, strings.Join(knownPlaceholders(t.Occasion.Kind), ", "))
		}
		return "", nil
	})
	return err
}

// fill replaces the placeholders of the text.
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

// SetText sets the organization's text of a message. An empty text restores the
// default.
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
		if len(s.Texts) >= MaxTexts {
			return lastmile.Invalid("there are %d texts already, and no more are allowed: restore some first", len(s.Texts))
		}
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

// Template returns the text for an occasion in the first language that has one,
// preferring the organization's text to the default. own reports which of them
// it is.
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

// Notice is the content of a message to a recipient.
type Notice struct {
	Kind     Kind
	Task     lastmile.Task
	Merchant lastmile.Organization // organization whose name is shown
	Country  string                // country of the sending organization
	Worker   string                // name of the worker that recipients are shown; empty if unknown
	Now      time.Time
}

// expected returns when service is expected to begin, by the merchant's clock, and
// reports whether it is known and later today.
func (notice Notice) expected() (at time.Time, known bool) {
	at = notice.Task.Estimates.ServiceStart(notice.Task.Window())
	zone := calendar.Zone(notice.Merchant.Timezone)
	at, now := at.In(zone), notice.Now.In(zone)
	return at, at.After(now) && at.Year() == now.Year() && at.YearDay() == now.YearDay()
}

// Compose returns the text of a message to a recipient.
func (s Settings) Compose(notice Notice) string {
	language := s.DefaultLanguage(notice.Country)
	languages := []string{language}
	if notice.Task.Recipient != nil && languageOf(notice.Task.Recipient) != "" {
		languages = []string{languageOf(notice.Task.Recipient), language}
	}
	o := Occasion{notice.Kind, notice.Task.Pickup}
	t, _ := s.Template(o, languages...)
	if _, known := notice.expected(); !known && o.Kind == KindStarted && t.timed() {
		t.Text = untimedText(o, t.Language)
	}
	text, err := t.fill(func(name string) (string, error) { return notice.value(name, t.Language, s.Thresholds), nil })
	if err != nil { // cannot happen: validated by Check
		return ""
	}
	return text
}

// timed reports whether the text says when the worker will be there.
func (t Template) timed() bool {
	return strings.Contains(t.Text, "{eta}") || strings.Contains(t.Text, "{time}")
}

// quietTimes are the times after the message that the worker is on the way during which no
// other message about the arrival is sent. A delay is part of the announced time only at
// first; later, it is news.
var quietTimes = map[Kind]time.Duration{KindETA: 5 * time.Minute, KindDelayed: time.Minute}

// FollowsStart reports whether a message of a kind may repeat the one that the worker is on
// the way.
func (k Kind) FollowsStart() bool { return quietTimes[k] > 0 }

// Repeats reports whether a notice repeats what the recipient has read. started is the
// message that the worker is on the way; it may have come without a time, if that was
// unknown or the organization's text has none. promised is the arrival that was estimated
// then.
func (s Settings) Repeats(notice Notice, started Message, promised time.Time) bool {
	soon := notice.Now.Sub(started.Created).Abs() < quietTimes[notice.Kind] // the clock may have been set back
	if !soon && !s.announced(notice, promised) {
		return false
	}
	untimed := notice
	untimed.Kind, untimed.Task.Estimates = KindStarted, lastmile.Estimates{}
	return started.Body != s.Compose(untimed)
}

// announced reports whether a notice is about a delay that was expected at the start already.
// Once the delay has grown by the organization's threshold, it is news.
func (s Settings) announced(notice Notice, promised time.Time) bool {
	window := notice.Task.Window()
	before, now := window.Lateness(window.ServiceStart(promised)), notice.Task.Estimates.Delay
	return notice.Kind == KindDelayed && now != nil && before >= s.Thresholds.Delay && *now < before+s.Thresholds.Delay
}

// value returns the value of a placeholder.
func (notice Notice) value(name, language string, usual Thresholds) string {
	switch name {
	case "organization":
		return lastmile.PlainName(notice.Merchant.Name)
	case "recipient":
		if own := notice.Task.Overrides.RecipientName; own != nil && *own != "" {
			return lastmile.PlainName(*own)
		}
		if notice.Task.Recipient != nil {
			return lastmile.PlainName(notice.Task.Recipient.Name)
		}
	case "worker":
		if worker := lastmile.PlainName(notice.Worker); worker != "" {
			return worker
		}
		return cmp.Or(someWorker[language], someWorker["en"])
	case "tracking":
		return notice.Task.TrackingURL
	case "task":
		return notice.Task.ShortID
	case "eta":
		if at, known := notice.expected(); known {
			return minutesOf(new(at.Sub(notice.Now)), usual.ETA)
		}
		return minutesOf(notice.Task.Estimates.ETA, usual.ETA)
	case "time":
		at, known := notice.expected()
		if !known {
			eta := usual.ETA
			lastmile.Set(&eta, notice.Task.Estimates.ETA)
			at = notice.Now.Add(eta).In(at.Location())
		}
		return at.Format(cmp.Or(clocks[language], clock))
	case "delay":
		return minutesOf(notice.Task.Estimates.Delay, usual.Delay)
	}
	return ""
}

// minutesOf formats a duration in minutes, rounded up; usual if d is unknown.
func minutesOf(d *time.Duration, usual time.Duration) string {
	span := usual
	if d != nil {
		span = *d
	}
	return strconv.Itoa(max(1, int((span+time.Minute-1)/time.Minute)))
}

// Preview returns the text of a template for a fictitious task, to show its
// length.
func (s Settings) Preview(t Template, org lastmile.Organization, publicURL string) string {
	eta, delay := s.Thresholds.ETA, s.Thresholds.Delay
	noon := time.Date(2000, time.January, 3, 12, 0, 0, 0, time.UTC)
	org.Timezone = "UTC"
	notice := Notice{
		Kind: t.Occasion.Kind, Merchant: org, Worker: "Alex", Now: noon,
		Task: lastmile.Task{
			ShortID: "1a2b3c4d", TrackingURL: publicURL + "/t/" + strings.Repeat("x", lastmile.IDLength),
			Recipient: &lastmile.Recipient{Name: "Grace Hopper"},
			Estimates: lastmile.Estimates{Arrival: noon.Add(eta), ETA: &eta, Delay: &delay},
		},
	}
	text, err := t.fill(func(name string) (string, error) { return notice.value(name, t.Language, s.Thresholds), nil })
	if err != nil {
		return ""
	}
	return text
}
