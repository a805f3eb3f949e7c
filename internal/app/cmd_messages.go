package app

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// templateResult is the text of an occasion in the output of commands.
type templateResult struct {
	Kind     textmessage.Kind `json:"kind"`
	Pickup   bool             `json:"pickup"`
	On       bool             `json:"on"`
	Language string           `json:"language"`
	Own      bool             `json:"own"` // set by the organization
	Text     string           `json:"text"`
	Sample   string           `json:"sample"`
	Segments int              `json:"segments"` // of the sample
}

// messageSettingsResult is what an organization has set for its text messages.
type messageSettingsResult struct {
	Language  string           `json:"language"`
	From      string           `json:"from"`
	ETA       int64            `json:"etaSeconds"`
	Delay     int64            `json:"delaySeconds"`
	Templates []templateResult `json:"templates"`
}

func messagesTemplatesCommand() command {
	return command{
		name: "messages templates", summary: "Show what recipients are told, when, and how",
		examples: []string{"dray messages templates --org ID", "dray messages templates --org ID --language fr --json"},
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			f.StringVar(&c.PublicURL, "public-url", c.PublicURL, "`URL` of the server, for samples")
			language := f.String("language", "", "in this language, by `code`, instead of the organization's")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *App, org lastmile.OrganizationID) error {
				return printTemplates(ctx, inv, a, org, *language)
			})
		},
	}
}

func printTemplates(ctx context.Context, inv *invocation, a *App, org lastmile.OrganizationID, language string) error {
	of, s, err := a.Messages.Settings(ctx, org)
	if err != nil {
		return err
	}
	if language == "" {
		language = s.DefaultLanguage(of.Country)
	}
	result := messageSettingsResult{
		Language: s.DefaultLanguage(of.Country), From: s.From, ETA: int64(s.Thresholds.ETA.Seconds()), Delay: int64(s.Thresholds.Delay.Seconds()),
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Language  %s\nFrom      %s\nETA       %v\nDelay     %v\n", result.Language, result.From, s.Thresholds.ETA, s.Thresholds.Delay)
	for _, o := range textmessage.Occasions() {
		t, own := s.Template(o, language)
		sample := s.Preview(t, of, a.Config.url())
		one := templateResult{
			Kind: o.Kind, Pickup: o.Pickup, On: s.Enabled(o), Language: t.Language, Own: own, Text: t.Text, Sample: sample, Segments: textmessage.Segments(sample),
		}
		result.Templates = append(result.Templates, one)
		fmt.Fprintf(&text, "\n%s: %s, %s, %d segments\n  %s\n  %s\n", o, onOff(one.On), t.Language, one.Segments, t.Text, sample)
	}
	return inv.print(result, "%s", text.String())
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// messageChange is what `dray messages set` was asked to change; nil leaves as
// it is.
type messageChange struct {
	language, from *string
	eta, delay     *time.Duration
	kind, tasks    string
	on             *bool
	text           *string // empty: the program's own again
	textLanguage   string
}

func messagesSetCommand() command {
	return command{
		name: "messages set", summary: "Change what recipients are told",
		examples: []string{
			"dray messages set --org ID --language es --eta 15m",
			"dray messages set --org ID --kind taskCompleted --tasks pickup --off",
			`dray messages set --org ID --kind taskStarted --text "{organization}: {worker} is coming. {tracking}"`,
			"dray messages set --org ID --kind taskStarted --reset",
		},
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			c.bindStorage(f)
			org := orgFlag(f)
			f.StringVar(&c.PublicURL, "public-url", c.PublicURL, "`URL` of the server, for samples")
			var change messageChange
			optional(f, "language", "`code` of the language of recipients who have none of their own; empty for the country's", &change.language)
			optional(f, "from", "`number` or name that messages come from; empty for the installation's", &change.from)
			f.Func("eta", "tell recipients that the worker is near, this `time` before, such as 10m; 0 for never", duration(&change.eta))
			f.Func("delay", "tell recipients that the worker is late, by at least this `time`; 0 for never", duration(&change.delay))
			f.StringVar(&change.kind, "kind", "", "`kind` of message: "+kindNames())
			f.StringVar(&change.tasks, "tasks", "all", "for these `tasks`: pickup, dropoff or all")
			f.BoolFunc("on", "send messages of the kind", func(string) error { change.on = new(true); return nil })
			f.BoolFunc("off", "do not send messages of the kind", func(string) error { change.on = new(false); return nil })
			optional(f, "text", "`text` of the kind", &change.text)
			f.Func("text-file", "`file` with the text of the kind", func(name string) error {
				data, err := os.ReadFile(name)
				change.text = new(strings.TrimRight(string(data), "\r\n"))
				return err
			})
			f.BoolFunc("reset", "use the program's own text of the kind", func(string) error { change.text = new(""); return nil })
			f.StringVar(&change.textLanguage, "text-language", "", "`code` of the language of the text; the organization's unless given")
			return func(ctx context.Context, inv *invocation) error {
				id, err := org()
				if err != nil {
					return err
				}
				occasions, err := change.occasions()
				if err != nil {
					return err
				}
				return inv.with(ctx, func(a *App) error {
					if err := change.apply(ctx, a, id, occasions); err != nil {
						return err
					}
					return printTemplates(ctx, inv, a, id, change.textLanguage)
				})
			}
		},
	}
}

// optional adds a text flag of which it matters whether it was given.
func optional(f *flag.FlagSet, name, usage string, to **string) {
	f.Func(name, usage, func(text string) error {
		*to = &text
		return nil
	})
}

func duration(to **time.Duration) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		*to = &d
		return err
	}
}

func kindNames() string {
	names := make([]string, len(textmessage.RecipientKinds))
	for i, kind := range textmessage.RecipientKinds {
		names[i] = string(kind)
	}
	return strings.Join(names, ", ")
}

// occasions are those that the command names.
func (c messageChange) occasions() ([]textmessage.Occasion, error) {
	named := c.on != nil || c.text != nil
	switch {
	case c.kind == "" && named:
		return nil, misuse("--kind is required with --on, --off, --text, --text-file and --reset")
	case c.kind == "":
		return nil, nil
	case !slices.Contains(textmessage.RecipientKinds, textmessage.Kind(c.kind)):
		return nil, misuse("--kind must be one of %s, not %q", kindNames(), c.kind)
	case !named:
		return nil, misuse("--kind needs one of --on, --off, --text, --text-file and --reset")
	}
	dropoff, pickup := textmessage.Occasion{Kind: textmessage.Kind(c.kind)}, textmessage.Occasion{Kind: textmessage.Kind(c.kind), Pickup: true}
	switch c.tasks {
	case "all":
		return []textmessage.Occasion{dropoff, pickup}, nil
	case "pickup":
		return []textmessage.Occasion{pickup}, nil
	case "dropoff":
		return []textmessage.Occasion{dropoff}, nil
	}
	return nil, misuse("--tasks must be pickup, dropoff or all, not %q", c.tasks)
}

// apply changes the settings of an organization.
func (c messageChange) apply(ctx context.Context, a *App, org lastmile.OrganizationID, occasions []textmessage.Occasion) error {
	of, _, err := a.Messages.Settings(ctx, org)
	if err != nil {
		return err
	}
	_, err = a.Messages.Configure(ctx, org, func(s *textmessage.Settings) error {
		replace(&s.Language, c.language)
		replace(&s.From, c.from)
		replace(&s.Thresholds.ETA, c.eta)
		replace(&s.Thresholds.Delay, c.delay)
		language := c.textLanguage
		if language == "" {
			language = s.DefaultLanguage(of.Country)
		}
		for _, o := range occasions {
			if c.on != nil {
				s.SetEnabled(o, *c.on)
			}
			if c.text == nil {
				continue
			}
			if err := s.SetText(textmessage.Template{Occasion: o, Language: language, Text: *c.text}); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func replace[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

func messagesReceiveCommand() command {
	return command{
		name: "messages receive", summary: "Take in a reply, as if a gateway had brought it",
		examples: []string{"dray messages receive --from +12125550123 --body STOP"},
		setup: func(f *flag.FlagSet, c *Config) func(context.Context, *invocation) error {
			c.bindStorage(f)
			reply := lastmile.Reply{Gateway: "command"}
			f.StringVar((*string)(&reply.From), "from", "", "`number` that sent it, with its leading plus")
			f.StringVar(&reply.To, "to", "", "`number` it was sent to")
			f.StringVar(&reply.Body, "body", "", "its `text`")
			return func(ctx context.Context, inv *invocation) error {
				if reply.From == "" || reply.Body == "" {
					return misuse("--from and --body are required")
				}
				return inv.with(ctx, func(a *App) error {
					reply.ID = a.Messages.NewID()
					if err := a.Messages.Receive(ctx, reply); err != nil {
						return err
					}
					return inv.print(map[string]string{"id": reply.ID}, "Taken in.\n")
				})
			}
		},
	}
}
