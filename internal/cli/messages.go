package cli

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// templateResult is a message template in the output of commands.
type templateResult struct {
	Kind     textmessage.Kind `json:"kind"`
	Pickup   bool             `json:"pickup"`
	On       bool             `json:"on"`
	Language string           `json:"language"`
	Own      bool             `json:"own"` // set by the organization
	Text     string           `json:"text"`
	Sample   string           `json:"sample"`
	Segments int              `json:"segments"` // segments of the sample
}

// messageSettingsResult is the message settings of an organization in the output
// of commands.
type messageSettingsResult struct {
	Language  string           `json:"language"`
	From      string           `json:"from"`
	ETA       int64            `json:"etaSeconds"`
	Delay     int64            `json:"delaySeconds"`
	Templates []templateResult `json:"templates"`
}

func messagesTemplatesCommand() command {
	return command{
		name: "messages templates", summary: "Show the text messages recipients get, and when",
		examples: []string{"dray messages templates --org ID", "dray messages templates --org ID --language fr --json"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			f.StringVar(&c.PublicURL, "public-url", c.PublicURL, "`URL` of the server, for sample messages")
			language := f.String("language", "", "language `code` of the texts (default: the organization's)")
			return ofOrganization(f, c, func(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID) error {
				return printTemplates(ctx, inv, a, org, *language)
			})
		},
	}
}

func printTemplates(ctx context.Context, inv *invocation, a *app.App, org lastmile.OrganizationID, language string) error {
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
		sample := s.Preview(t, of, a.Config.URL())
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

// messageChange is the change that `dray messages set` makes; nil fields change
// nothing.
type messageChange struct {
	language, from *string
	eta, delay     *time.Duration
	kind, tasks    string
	on             *bool
	text           *string // empty restores the built-in text
	textLanguage   string
}

func messagesSetCommand() command {
	return command{
		name: "messages set", summary: "Change the text messages recipients get",
		examples: []string{
			"dray messages set --org ID --language es --eta 15m",
			"dray messages set --org ID --kind taskCompleted --tasks pickup --off",
			`dray messages set --org ID --kind taskStarted --text "{organization}: {worker} is coming. {tracking}"`,
			"dray messages set --org ID --kind taskStarted --reset",
		},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			org := orgFlag(f)
			f.StringVar(&c.PublicURL, "public-url", c.PublicURL, "`URL` of the server, for sample messages")
			var change messageChange
			optional(f, "language", "language `code` for recipients without a language; empty for the country's", &change.language)
			optional(f, "from", "sender `number` or name; empty for the installation's", &change.from)
			f.Func("eta", "notify recipients this `duration` before arrival, such as 10m; 0 for never", duration(&change.eta))
			f.Func("delay", "notify recipients of a delay of at least this `duration`; 0 for never", duration(&change.delay))
			f.StringVar(&change.kind, "kind", "", "`kind` of message: "+kindNames())
			f.StringVar(&change.tasks, "tasks", "all", "`type` of tasks: pickup, dropoff or all")
			f.BoolFunc("on", "send messages of this kind", func(string) error { change.on = new(true); return nil })
			f.BoolFunc("off", "do not send messages of this kind", func(string) error { change.on = new(false); return nil })
			optional(f, "text", "`text` of messages of this kind", &change.text)
			f.Func("text-file", "`file` with the text of messages of this kind", func(name string) error {
				data, err := os.ReadFile(name)
				change.text = new(strings.TrimRight(string(data), "\r\n"))
				return err
			})
			f.BoolFunc("reset", "restore the built-in text of this kind", func(string) error { change.text = new(""); return nil })
			f.StringVar(&change.textLanguage, "text-language", "", "language `code` of the text (default: the organization's)")
			return func(ctx context.Context, inv *invocation) error {
				occasions, err := change.occasions()
				if err != nil {
					return err
				}
				return inv.with(ctx, func(a *app.App) error {
					id, err := org(ctx, a)
					if err != nil {
						return err
					}
					if err := change.apply(ctx, a, id, occasions); err != nil {
						return err
					}
					return printTemplates(ctx, inv, a, id, change.textLanguage)
				})
			}
		},
	}
}

// optional adds a string flag that distinguishes unset from empty.
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

// occasions returns the occasions that the flags select.
func (c messageChange) occasions() ([]textmessage.Occasion, error) {
	named := c.on != nil || c.text != nil
	switch {
	case c.kind == "" && named:
		return nil, usageErrorf("--kind is required with --on, --off, --text, --text-file and --reset")
	case c.kind == "":
		return nil, nil
	case !slices.Contains(textmessage.RecipientKinds, textmessage.Kind(c.kind)):
		return nil, usageErrorf("--kind must be one of %s, not %q", kindNames(), c.kind)
	case !named:
		return nil, usageErrorf("--kind needs one of --on, --off, --text, --text-file and --reset")
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
	return nil, usageErrorf("--tasks must be pickup, dropoff or all, not %q", c.tasks)
}

// apply changes the settings of an organization.
func (c messageChange) apply(ctx context.Context, a *app.App, org lastmile.OrganizationID, occasions []textmessage.Occasion) error {
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
		name: "messages receive", summary: "Receive a reply, as if from a gateway",
		examples: []string{"dray messages receive --from +12125550123 --body STOP"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			reply := lastmile.Reply{Gateway: "command"}
			f.StringVar((*string)(&reply.From), "from", "", "sender's `number`, with a leading plus")
			f.StringVar(&reply.To, "to", "", "`number` the reply was sent to")
			f.StringVar(&reply.Body, "body", "", "`text` of the reply")
			return func(ctx context.Context, inv *invocation) error {
				if reply.From == "" || reply.Body == "" {
					return usageErrorf("--from and --body are required")
				}
				return inv.with(ctx, func(a *app.App) error {
					reply.ID = a.Tasks.NewID()
					if err := a.Messages.Receive(ctx, reply); err != nil {
						return err
					}
					return inv.print(map[string]string{"id": reply.ID}, "Received.\n")
				})
			}
		},
	}
}
