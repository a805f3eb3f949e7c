package messaging

import (
	"context"
	"fmt"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// MaxTemplateChanges is the maximum number of texts that one request changes.
const MaxTemplateChanges = 100

// Templates are the texts of an organization's messages to recipients.
type Templates struct {
	Language string // language of recipients who have none
	All      []Template
}

// Template is the text for an occasion in one language.
type Template struct {
	textmessage.Template
	Enabled bool
	Own     bool   // set by the organization
	Preview string // the text for a fictitious task
}

// TemplateChange changes the text for an occasion, or whether messages are sent on it.
// Nil fields stay unchanged.
type TemplateChange struct {
	Occasion textmessage.Occasion
	Language *string // nil for the organization's
	Text     *string // empty restores the default
	Enabled  *bool
}

// Templates returns the texts of the caller's organization: those in one language, or in
// every language that has texts if language is empty.
func (m *Messages) Templates(ctx context.Context, who lastmile.Principal, language string) (Templates, error) {
	org, s, err := m.Settings(ctx, who.Organization)
	if err != nil {
		return Templates{}, err
	}
	languages := slices.Clone(textmessage.Languages)
	for _, text := range s.Texts {
		if !slices.Contains(languages, text.Language) {
			languages = append(languages, text.Language)
		}
	}
	if language != "" {
		if err := textmessage.CheckLanguage("language", language); err != nil {
			return Templates{}, err
		}
		languages = []string{language}
	}
	found := Templates{Language: s.DefaultLanguage(org.Country)}
	for _, o := range textmessage.Occasions() {
		for _, code := range languages {
			t, own := s.Template(o, code)
			if t.Language != code && language == "" {
				continue // there is none for this occasion
			}
			found.All = append(found.All, Template{Template: t, Enabled: s.Enabled(o), Own: own, Preview: s.Preview(t, org, m.PublicURL)})
		}
	}
	return found, nil
}

// SetTemplates changes texts of the caller's organization: all of them, or none if one
// is invalid.
func (m *Messages) SetTemplates(ctx context.Context, who lastmile.Principal, changes []TemplateChange) (Templates, error) {
	if len(changes) > MaxTemplateChanges {
		return Templates{}, lastmile.Invalid("templates has %d entries; at most %d are allowed", len(changes), MaxTemplateChanges)
	}
	org, _, err := m.Settings(ctx, who.Organization)
	if err != nil {
		return Templates{}, err
	}
	_, err = m.Configure(ctx, who.Organization, func(s *textmessage.Settings) error {
		for i, c := range changes {
			if err := c.apply(s, org.Country); err != nil {
				return lastmile.Within(fmt.Sprintf("templates[%d].", i), err)
			}
		}
		return nil
	})
	if err != nil {
		return Templates{}, err
	}
	return m.Templates(ctx, who, "")
}

func (c TemplateChange) apply(s *textmessage.Settings, country string) error {
	if err := c.Occasion.Check(); err != nil {
		return err
	}
	if c.Enabled != nil {
		s.SetEnabled(c.Occasion, *c.Enabled)
	}
	t := textmessage.Template{Occasion: c.Occasion, Language: s.DefaultLanguage(country)}
	lastmile.Set(&t.Language, c.Language)
	if err := textmessage.CheckLanguage("language", t.Language); err != nil || c.Text == nil {
		return err
	}
	t.Text = *c.Text
	return s.SetText(t)
}

// Preview returns the text for an occasion, or the one that is given, for a fictitious
// task.
func (m *Messages) Preview(ctx context.Context, who lastmile.Principal, c TemplateChange) (string, error) {
	org, s, err := m.Settings(ctx, who.Organization)
	if err != nil {
		return "", err
	}
	if err := c.Occasion.Check(); err != nil {
		return "", err
	}
	language := s.DefaultLanguage(org.Country)
	lastmile.Set(&language, c.Language)
	if err := textmessage.CheckLanguage("language", language); err != nil {
		return "", err
	}
	t, _ := s.Template(c.Occasion, language)
	if c.Text != nil {
		t = textmessage.Template{Occasion: c.Occasion, Language: language, Text: *c.Text}
		if err := t.Check(); err != nil {
			return "", err
		}
	}
	return s.Preview(t, org, m.PublicURL), nil
}
