package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"dray/internal/api"
	"dray/internal/messaging"
	"dray/internal/sms"
	"dray/internal/store"
	"dray/internal/textmessage"
	"dray/internal/webhook"
)

// smsConfig is what can be set of text messages.
type smsConfig struct {
	Gateway    string // outbox, twilio, or a URL
	Account    string // of Twilio
	From       string
	SecretFile string
	Caps       textmessage.Caps
}

var defaultSMS = smsConfig{Gateway: "outbox", Caps: textmessage.DefaultCaps}

// smsSecret is the environment variable that holds the gateway's secret. It is
// no flag: those of a process can be seen by everybody on its machine.
const smsSecret = "DRAY_SMS_SECRET"

func (c *smsConfig) bind(f *flag.FlagSet) {
	f.StringVar(&c.Gateway, "sms", c.Gateway, "where text `messages` go: outbox, twilio, or the https:// URL of a gateway")
	f.StringVar(&c.Account, "sms-account", c.Account, "`SID` of the Twilio account")
	f.StringVar(&c.From, "sms-from", c.From, "`number` or name that text messages come from; Twilio also takes the SID of a messaging service")
	f.StringVar(&c.SecretFile, "sms-secret-file", c.SecretFile, "`file` of Twilio's auth token or the gateway's secret; or set "+smsSecret)
	f.Var(&perHourAndDay{&c.Caps.NumberHour, &c.Caps.NumberDay}, "sms-per-number", "text messages to one number at most, `hour/day`; 0 for no limit")
	f.Var(&perHourAndDay{&c.Caps.OrganizationHour, &c.Caps.OrganizationDay}, "sms-per-organization",
		"text messages of one organization at most, `hour/day`; 0 for no limit")
}

// perHourAndDay is a flag of two limits, such as 20/100.
type perHourAndDay struct{ hour, day *int }

// String implements flag.Value.
func (p *perHourAndDay) String() string {
	if p.hour == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", *p.hour, *p.day)
}

// Set implements flag.Value.
func (p *perHourAndDay) Set(text string) error {
	var hour, day int
	var rest string
	n, _ := fmt.Sscanf(text+" .", "%d/%d %s", &hour, &day, &rest)
	if n != 3 || rest != "." || hour < 0 || day < 0 {
		return errors.New("must be two numbers such as 20/100: in an hour, and in a day")
	}
	*p.hour, *p.day = hour, day
	return nil
}

// twilio is the address of Twilio's interface, if that is the gateway.
func (c *smsConfig) twilio() (base string, is bool) {
	if c.Gateway == "twilio" {
		return sms.TwilioAPI, true
	}
	return strings.CutPrefix(c.Gateway, "twilio+")
}

// check refuses settings that cannot be right.
func (c *smsConfig) check() error {
	_, isTwilio := c.twilio()
	switch {
	case c.Gateway == "outbox" || c.Gateway == "":
		return nil
	case isTwilio && c.Account == "":
		return errors.New("--sms twilio needs --sms-account")
	case isTwilio && c.From == "":
		return errors.New("--sms twilio needs --sms-from")
	case !isTwilio && !strings.HasPrefix(c.Gateway, "https://") && !strings.HasPrefix(c.Gateway, "http://"):
		return fmt.Errorf("--sms must be outbox, twilio or an http or https URL, not %q", c.Gateway)
	}
	secret, err := c.secret()
	if err == nil && len(secret) == 0 {
		err = fmt.Errorf("--sms needs a secret: set %s or --sms-secret-file", smsSecret)
	}
	return err
}

// secret reads the gateway's secret; nil when none is set. One that is written
// as Standard Webhooks has it is decoded.
func (c *smsConfig) secret() ([]byte, error) {
	text := []byte(os.Getenv(smsSecret))
	if c.SecretFile != "" {
		var err error
		if text, err = os.ReadFile(c.SecretFile); err != nil {
			return nil, fmt.Errorf("--sms-secret-file: %w", err)
		}
	}
	text = bytes.TrimSpace(text)
	encoded, standard := bytes.CutPrefix(text, []byte("whsec_"))
	if !standard {
		return text, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(string(encoded))
	if err != nil {
		return nil, errors.New("the secret begins with whsec_ and is not base64 behind it")
	}
	return decoded, nil
}

// addMessages puts together what tells recipients of their tasks.
func (a *App) addMessages(newID func() string) error {
	a.Messages = &messaging.Desk{Store: a.Store, ParsePhone: sms.ParseNumber, Now: a.Now, NewID: newID, Log: a.Log}
	a.Tasks.Notify, a.Fleet.Notify, a.Tracking.Notify = a.Messages.Notify, a.Messages.Notify, a.Messages.Notify
	a.Texts = &messaging.Sender{
		Store: a.Store, Caps: a.Config.SMS.Caps, Now: a.Now, NewID: newID, Log: a.Log, Woken: a.Store.Texted(),
		Alone: a.Store.Engine() == "sqlite", // a data folder has one server
	}
	a.posts = api.SMS{Desk: a.Messages}
	return a.openGateway()
}

// openGateway opens the gateway that was set, and its way back.
func (a *App) openGateway() error {
	c := a.Config.SMS
	secret, err := c.secret()
	if err != nil {
		return err
	}
	if base, is := c.twilio(); is {
		twilio, err := sms.NewTwilio(sms.Twilio{
			Base: base, Account: c.Account, Token: string(secret), Sender: c.From, PublicURL: a.Config.URL(), Now: a.Now,
		})
		if err != nil {
			return fmt.Errorf("--sms: %w", err)
		}
		a.Texts.Gateway, a.posts.Twilio = twilio, twilio
		return nil
	}
	if len(secret) > 0 {
		a.posts.Verify = func(header http.Header, body []byte) error {
			return sms.Verify(webhook.StandardSignature, secret, header, body, a.Now())
		}
	}
	if c.Gateway != "outbox" && c.Gateway != "" {
		gateway, err := sms.NewHTTP(c.Gateway, c.From, secret, webhook.StandardSignature, a.Now)
		if err != nil {
			return fmt.Errorf("--sms: %w", err)
		}
		a.Texts.Gateway = gateway
	}
	return nil
}

func (a *App) forgetMessages(ctx context.Context) error {
	return a.forget(ctx, a.Now().Add(-a.kept()), func(w store.Writer, before time.Time, most int) (int64, error) {
		return w.DeleteMessages(ctx, before, most)
	})
}
