package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// messageSettings is how an organization's settings of text messages are
// stored.
type messageSettings struct {
	Language string         `json:"language,omitzero"`
	From     string         `json:"from,omitzero"`
	ETA      int64          `json:"eta"`   // milliseconds
	Delay    int64          `json:"delay"` // milliseconds
	Off      []occasion     `json:"off,omitzero"`
	Texts    []occasionText `json:"texts,omitzero"`
}

type occasion struct {
	Kind   textmessage.Kind `json:"kind"`
	Pickup bool             `json:"pickup,omitzero"`
}

type occasionText struct {
	occasion
	Language string `json:"language"`
	Text     string `json:"text"`
}

// MessageSettings returns the settings of an organization for its text
// messages.
func (t messageTx) MessageSettings(ctx context.Context, org lastmile.OrganizationID) (textmessage.Settings, error) {
	var doc []byte
	err := t.row(ctx, `SELECT doc FROM message_setting WHERE org = $1`, org).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return textmessage.DefaultSettings(org), nil
	}
	var stored messageSettings
	if err == nil {
		err = json.Unmarshal(doc, &stored)
	}
	if err != nil {
		return textmessage.Settings{}, fmt.Errorf("read settings of messages of %s: %w", org, err)
	}
	s := textmessage.Settings{
		Organization: org, Language: stored.Language, From: stored.From,
		Thresholds: textmessage.Thresholds{ETA: span(&stored.ETA), Delay: span(&stored.Delay)},
	}
	for _, o := range stored.Off {
		s.Disabled = append(s.Disabled, textmessage.Occasion(o))
	}
	for _, text := range stored.Texts {
		s.Texts = append(s.Texts, textmessage.Template{Occasion: textmessage.Occasion(text.occasion), Language: text.Language, Text: text.Text})
	}
	return s, nil
}

// SaveMessageSettings saves the settings of an organization for its text
// messages.
func (t messageTx) SaveMessageSettings(ctx context.Context, s textmessage.Settings) error {
	stored := messageSettings{
		Language: s.Language, From: s.From, ETA: s.Thresholds.ETA.Milliseconds(), Delay: s.Thresholds.Delay.Milliseconds(),
	}
	for _, o := range s.Disabled {
		stored.Off = append(stored.Off, occasion(o))
	}
	for _, text := range s.Texts {
		stored.Texts = append(stored.Texts, occasionText{occasion(text.Occasion), text.Language, text.Text})
	}
	doc, err := json.Marshal(stored)
	if err != nil {
		return fmt.Errorf("encode settings of messages of %s: %w", s.Organization, err)
	}
	const query = `
		INSERT INTO message_setting (org, doc, v, eta, delay) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org) DO UPDATE SET doc = excluded.doc, v = excluded.v, eta = excluded.eta, delay = excluded.delay`
	thresholds := s.EffectiveThresholds()
	_, err = t.exec(ctx, query, s.Organization, doc, int64(documentVersion), spanMillis(thresholds.ETA), spanMillis(thresholds.Delay))
	if err != nil {
		return fmt.Errorf("save settings of messages of %s: %w", s.Organization, err)
	}
	return nil
}

// NotificationThresholds returns how near or late a worker is when the
// recipients of an organization are notified.
func (t messageTx) NotificationThresholds(ctx context.Context, org lastmile.OrganizationID) (textmessage.Thresholds, error) {
	var eta, delay *int64
	err := t.row(ctx, `SELECT eta, delay FROM message_setting WHERE org = $1`, org).Scan(&eta, &delay)
	if errors.Is(err, sql.ErrNoRows) {
		return textmessage.DefaultThresholds, nil
	}
	if err != nil {
		return textmessage.Thresholds{}, fmt.Errorf("read notification thresholds of %s: %w", org, err)
	}
	return textmessage.Thresholds{ETA: span(eta), Delay: span(delay)}, nil
}

// span is a stored time span; null is none.
func span(ms *int64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms) * time.Millisecond
}

// spanMillis is a time span as span reads it.
func spanMillis(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}
