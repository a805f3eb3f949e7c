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

	"dray/internal/events"
	"dray/internal/messaging"
	"dray/internal/recipientapi"
	"dray/internal/sms"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
	"dray/internal/webhook"
)

// smsConfig holds the settings of text messages.
type smsConfig struct {
	Gateway    string // outbox, twilio, or a URL
	Account    string // SID of the Twilio account
	From       string
	SecretFile string
	Caps       textmessage.Caps
	Countries  list // ISO 3166-1 codes; empty for all
}

var defaultSMS = smsConfig{Gateway: "outbox", Caps: textmessage.DefaultCaps}

// smsSecret is the environment variable that holds the gateway's secret. There is no flag for
// it, because every user of the machine can list the flags of a process.
const smsSecret = "DRAY_SMS_SECRET"

func (c *smsConfig) bind(f *flag.FlagSet) {
	f.StringVar(&c.Gateway, "sms", c.Gateway, "`gateway` for text messages: outbox, twilio, or an https:// URL")
	f.StringVar(&c.Account, "sms-account", c.Account, "`SID` of the Twilio account")
	f.StringVar(&c.From, "sms-from", c.From, "`number` or name that text messages come from; Twilio also takes the SID of a messaging service")
	f.StringVar(&c.SecretFile, "sms-secret-file", c.SecretFile, "`file` of Twilio's auth token or the gateway's secret; or set "+smsSecret)
	c.BindLimits(f)
}

// BindLimits adds the flags that limit which text messages are sent.
func (c *smsConfig) BindLimits(f *flag.FlagSet) {
	f.Var(&perHourAndDay{&c.Caps.NumberHour, &c.Caps.NumberDay}, "sms-per-number", "maximum text messages of one organization to one number, `hour/day`; 0 for no limit")
	f.Var(&perHourAndDay{&c.Caps.OrganizationHour, &c.Caps.OrganizationDay}, "sms-per-organization",
		"maximum text messages of one organization, `hour/day`; 0 for no limit")
	f.Var(&perHourAndDay{&c.Caps.SharedHour, &c.Caps.SharedDay}, "sms-per-number-shared",
		fmt.Sprintf("maximum text messages of all organizations to one number, `hour/day`; each organization may still send %d a day after that; 0 for no limit", textmessage.FairShare))
	f.Var(&c.Countries, "sms-countries", "`countries` whose numbers get text messages, such as US,CA; repeatable (default all)")
}

// perHourAndDay is a flag with two limits, such as 20/100.
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
	if text == "0" {
		*p.hour, *p.day = 0, 0
		return nil
	}
	var hour, day int
	var rest string
	n, _ := fmt.Sscanf(text+" .", "%d/%d %s", &hour, &day, &rest)
	if n != 3 || rest != "." || hour < 0 || day < 0 {
		return errors.New("must be two numbers such as 20/100, per hour and per day, or 0")
	}
	*p.hour, *p.day = hour, day
	return nil
}

// twilio returns the base URL of Twilio's API if that is the gateway.
func (c *smsConfig) twilio() (base string, is bool) {
	if c.Gateway == "twilio" {
		return sms.TwilioAPI, true
	}
	return strings.CutPrefix(c.Gateway, "twilio+")
}

// policy returns the policy that decides which messages may be sent.
func (c *smsConfig) policy() messaging.Policy {
	p := messaging.Policy{Caps: c.Caps, CountryOf: sms.Country}
	for _, code := range c.Countries {
		p.Countries = append(p.Countries, strings.ToUpper(code))
	}
	return p
}

// check rejects invalid settings.
func (c *smsConfig) check() error {
	for _, code := range c.Countries {
		if !sms.KnownCountry(code) {
			return fmt.Errorf("--sms-countries must be codes such as US,CA, not %q", code)
		}
	}
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

// secret reads the gateway's secret; it is empty when none is set. A secret in
// the format of Standard Webhooks, whsec_ and base64, is decoded.
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
		return nil, errors.New("the part of the secret after whsec_ must be base64")
	}
	return decoded, nil
}

// addMessages builds the components that send text messages and receive replies.
func (a *App) addMessages(newID func() string, texts *events.Wake) error {
	db := sqlstore.For[messaging.Reader, messaging.Writer](a.Store)
	a.Messages = &messaging.Messages{Store: db, ParsePhone: sms.ParseNumber, Now: a.Now, NewID: newID, PublicURL: a.Config.URL(), Events: a.Events, Log: a.Log}
	gateway, callbacks, err := a.openGateway()
	if err != nil {
		return err
	}
	a.sms = callbacks
	a.Texts = &messaging.Sender{
		Store: db, Events: a.Events, Gateway: gateway, Policy: a.Config.SMS.policy(), Now: a.Now, NewID: newID, Log: a.Log,
		Idle:  a.Config.Poll,
		Wake:  texts.Channel(),
		Alone: a.Store.Engine() == "sqlite", // only one server uses a data folder
	}
	return nil
}

// openGateway returns the configured gateway, nil for the outbox, and the receiver of its
// callbacks.
func (a *App) openGateway() (messaging.Gateway, recipientapi.SMS, error) {
	c, callbacks := a.Config.SMS, recipientapi.SMS{Messages: a.Messages}
	secret, err := c.secret()
	if err != nil {
		return nil, callbacks, err
	}
	if base, is := c.twilio(); is {
		twilio, err := sms.NewTwilio(sms.Twilio{
			Base: base, Account: c.Account, Token: string(secret), Sender: c.From, PublicURL: a.Config.URL(), Now: a.Now,
		})
		if err != nil {
			return nil, callbacks, fmt.Errorf("--sms: %w", err)
		}
		callbacks.Twilio = twilio
		return twilio, callbacks, nil
	}
	if len(secret) > 0 {
		callbacks.Verify = func(header http.Header, body []byte) error {
			return sms.Verify(webhook.StandardSignature, secret, header, body, a.Now())
		}
	}
	if c.Gateway == "outbox" || c.Gateway == "" {
		return nil, callbacks, nil
	}
	gateway, err := sms.NewHTTP(c.Gateway, c.From, secret, webhook.StandardSignature, a.Now)
	if err != nil {
		return nil, callbacks, fmt.Errorf("--sms: %w", err)
	}
	return gateway, callbacks, nil
}

func (a *App) purgeMessages(ctx context.Context) error {
	return a.purge(ctx, a.Now().Add(-a.retention()), func(w *sqlstore.Tx, before time.Time, limit int) (int64, error) {
		return w.DeleteMessages(ctx, before, limit)
	})
}
