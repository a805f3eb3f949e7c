package app

import (
	"fmt"
	"time"

	"dray/internal/access"
	"dray/internal/account"
	"dray/internal/accountapi"
	"dray/internal/api"
	"dray/internal/edge"
	"dray/internal/events"
	"dray/internal/identity"
	"dray/internal/mail"
	"dray/internal/sms"
	"dray/internal/store/sqlstore"
	"dray/internal/work"
)

// LinkKind is the purpose of a one-time link.
type LinkKind = identity.LinkKind

// The kinds of links that operators make.
const (
	ResetLink  = identity.Reset
	SignInLink = identity.SignIn
)

// mailLoop sends mails.
type mailLoop = work.Loop[account.Reader, account.Writer]

// mailer returns the component that sends mails, or nil if none is configured.
func (c *Config) mailer(now func() time.Time, newID func() string) (account.Mailer, error) {
	if c.SMTP == "" {
		return nil, nil
	}
	server, err := mail.Parse(c.SMTP, c.MailFrom, now, newID)
	if err != nil {
		return nil, fmt.Errorf("--smtp and --mail-from: %w", err)
	}
	return server, nil
}

// mailRetry retries a mail that was not accepted for about a day.
var mailRetry = work.Retry{First: 30 * time.Second, Longest: 2 * time.Hour, Failures: 18}

// addAccounts sets up the use cases of administrators.
func (a *App) addAccounts(newID func() string, passwords *access.Passwords) error {
	mailer, err := a.Config.mailer(a.Now, newID)
	if err != nil {
		return err
	}
	wake := &events.Wake{}
	a.Accounts = &account.Accounts{
		Store: sqlstore.With[account.Reader, account.Writer](a.Store, withParts), Passwords: passwords, Vault: a.Organizations.Vault,
		Organizations: a.Organizations, URL: a.Config.URL(), Now: a.Now, NewID: newID, Random: access.RandomSecret,
		ParsePhone: sms.ParseNumber, KnownCountry: sms.KnownCountry, Log: a.Log, Mailer: mailer, Wake: wake.Signal,
	}
	a.Links = account.Links{Accounts: a.Accounts}
	a.Admins = &access.Admins{
		Store: sqlstore.For[access.Reader, access.Writer](a.Store), Now: a.Now, NewID: newID, ParsePhone: sms.ParseNumber, Invite: a.Accounts.Created,
	}
	mails := account.Mails{Accounts: a.Accounts}
	a.Mails = &mailLoop{
		Kind: account.SendMail, Store: a.Accounts.Store, Do: mails.Send, GiveUp: mails.GiveUp,
		Limits: work.Limits{Total: 8, PerOrganization: 4},
		Retry:  mailRetry,
		Poll:   work.Poll{Idle: a.Config.Poll},
		Wake:   wake.Channel(),
		Alone:  a.Store.Engine() == "sqlite",
		Now:    a.Now, NewID: newID, Log: a.Log,
	}
	return nil
}

// moreResources returns the resources of the public API that packages other than api
// serve.
func moreResources(a *App, people *accountapi.Server, settings edge.Settings) api.Resources {
	more := a.resources(settings)
	more.Routes = append(more.Routes, people.AdminRoutes()...)
	return more
}

// accountServer returns the API of administrators' own accounts.
func accountServer(a *App, settings edge.Settings) *accountapi.Server {
	return &accountapi.Server{
		Settings: settings, Accounts: a.Accounts, Links: a.Links, Vault: a.Organizations.Vault, PublicURL: a.Config.URL(), Version: Version, Demo: a.Config.Demo,
		Installation: a.Installation, Revoked: a.Keys.Revoked, Audit: recordIn(a.Audit), Attempt: attemptsIn(a.Audit),
	}
}
