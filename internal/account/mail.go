package account

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"time"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
	"dray/internal/work"
)

// SendMail is the kind of jobs that send mails. The id of the job is that of the mail.
const SendMail work.Kind = "mail"

// Limits of password resets that callers who are not signed in request.
const (
	maxResets        = 3 // for an e-mail address, from a network
	resetEvery       = 20 * time.Minute
	maxAccountResets = 20 // for an e-mail address
	accountReset     = 30 * time.Minute
	maxNetworkResets = 60 // from a network
	networkReset     = time.Minute
)

// enqueue saves a mail, which the loop of SendMail sends.
func (a *Accounts) enqueue(ctx context.Context, w Writer, m identity.Mail, now time.Time) error {
	waiting, err := w.CountMails(ctx, m.Organization, identity.MaxMails)
	if err != nil {
		return err
	}
	if waiting >= identity.MaxMails {
		rejected := lastmile.TooMany()
		rejected.RetryAfter = time.Minute
		return rejected.Because("%d mails wait to be sent", waiting)
	}
	m.ID, m.Created = a.NewID(), now
	if err := w.SaveMail(ctx, m); err != nil {
		return err
	}
	w.OnCommit(a.Wake)
	return w.AddJob(ctx, work.Job{Organization: m.Organization, ID: m.ID, Kind: SendMail, Due: now, Created: now})
}

// Created invites a new administrator by mail, in the transaction that creates the
// administrator. If mails cannot be sent, it does nothing.
func (a *Accounts) Created(ctx context.Context, tx store.Transaction, admin lastmile.Admin) error {
	if a.Mailer == nil {
		return nil
	}
	w, err := a.Store.Join(tx)
	if err != nil {
		return err
	}
	return a.enqueue(ctx, w, identity.Mail{Organization: admin.Organization, Kind: identity.Invitation, Admin: admin.ID}, a.Now())
}

var emailForm = regexp.MustCompile(`^[^\s@<>",;]+@[^\s@<>",;]+$`)

// Forgot mails a link for a new password to the administrator with an e-mail address, if
// there is one and links were not requested too often. The result and the response time are
// the same in all cases.
func (a *Accounts) Forgot(ctx context.Context, email, network string) error {
	email = identity.Email(email)
	switch {
	case email == "":
		return lastmile.Missing("email")
	case len(email) > maxEmail || !emailForm.MatchString(email):
		return lastmile.Invalid("email %q is not an e-mail address", lastmile.Truncate(email, 64))
	case a.Mailer == nil:
		return nil
	}
	account := "reset " + email
	all := []rate.Allowance{
		{Account: account, Source: "network " + network, Most: maxResets, Every: resetEvery},
		{Account: account, Most: maxAccountResets, Every: accountReset},
	}
	if network != "" {
		all = append(all, rate.Allowance{Source: "reset network " + network, Most: maxNetworkResets, Every: networkReset})
	}
	now := a.Now()
	if a.denials.Find(all, now) > 0 {
		return nil
	}
	var waits time.Duration
	err := a.Store.Write(ctx, func(w Writer) (err error) {
		if waits, err = rate.Reserve(ctx, w, all, now); err != nil || waits > 0 {
			return err
		}
		return a.enqueue(ctx, w, identity.Mail{Organization: identity.Strangers, Kind: identity.Reset, Email: email}, now)
	})
	if waits > 0 {
		a.denials.Add(all[0], waits, now)
		a.Log.Warn("request for a new password ignored: too many", "address", cmp.Or(network, unknownAddress))
	}
	return err
}

// Mails sends mails. Its methods are those of a loop of SendMail.
type Mails struct{ *Accounts }

// Send sends a mail. Its link is created now, so that no secret is stored.
func (a Mails) Send(ctx context.Context, l *work.Lease) (work.End[Writer], error) {
	done := func(ctx context.Context, w Writer) error { return w.DeleteMail(ctx, l.Organization, l.ID) }
	var letter *identity.Letter
	err := a.Store.Write(ctx, func(w Writer) error {
		letter = nil
		if err := l.Hold(ctx, w, a.Now()); err != nil {
			return err
		}
		composed, err := a.compose(ctx, w, l.Organization, l.ID)
		letter = composed
		return err
	})
	if err != nil || letter == nil {
		return done, err
	}
	if err := a.Mailer.Send(ctx, *letter); err != nil {
		return nil, fmt.Errorf("send a mail: %w", err)
	}
	return done, nil
}

// compose returns the letter of a mail with a new link, or nil if it need not be sent any
// more.
func (a Mails) compose(ctx context.Context, w Writer, org lastmile.OrganizationID, id string) (*identity.Letter, error) {
	mail, err := w.Mail(ctx, org, id)
	if err != nil {
		return nil, orGone(err)
	}
	var admin lastmile.Admin
	if org == identity.Strangers {
		admin, err = w.AdminByEmail(ctx, mail.Email)
	} else {
		admin, err = w.Admin(ctx, org, mail.Admin)
	}
	if err != nil {
		return nil, orGone(err)
	}
	if admin.Active == (mail.Kind == identity.Invitation) {
		if org != identity.Strangers {
			return nil, nil // the invitation was accepted meanwhile
		}
		mail.Kind = identity.Invitation // the administrator has not chosen a password yet
	}
	account, err := w.AdminAccount(ctx, admin.Organization, admin.ID)
	if err != nil {
		return nil, err
	}
	from, err := w.Organization(ctx, admin.Organization)
	if err != nil {
		return nil, err
	}
	url, _, err := a.newLink(ctx, w, mail.Kind, admin, mail.DropFactor, a.Now())
	letter := identity.Compose(mail.Kind, admin, from, account.Language, url)
	return &letter, err
}

func orGone(err error) error {
	if lastmile.IsNotFound(err) {
		return nil
	}
	return err
}

// GiveUp deletes a mail that could not be sent.
func (a Mails) GiveUp(ctx context.Context, w Writer, item work.Item) error {
	a.Log.Error("a mail could not be sent and is given up", "organization", item.Organization, "mail", item.ID)
	return w.DeleteMail(ctx, item.Organization, item.ID)
}
