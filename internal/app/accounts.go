package app

import (
	"dray/internal/access"
	"dray/internal/account"
	"dray/internal/accountapi"
	"dray/internal/edge"
	"dray/internal/sms"
	"dray/internal/store/sqlaccount"
	"dray/internal/store/sqlstore"
)

// accountTx is a transaction with the records of how administrators sign in.
type accountTx struct {
	*sqlstore.Tx
	sqlaccount.Part
}

func withAccounts(t *sqlstore.Tx) accountTx { return accountTx{t, sqlaccount.New(t.Conn())} }

// addAccounts sets up the use cases of administrators.
func (a *App) addAccounts(newID func() string, passwords *access.Passwords) {
	a.Accounts = &account.Accounts{
		Store: sqlstore.With[account.Reader, account.Writer](a.Store, withAccounts), Passwords: passwords, Vault: a.Organizations.Vault,
		Organizations: a.Organizations, URL: a.Config.URL(), Now: a.Now, NewID: newID, Random: access.RandomSecret,
		ParsePhone: sms.ParseNumber, KnownCountry: sms.KnownCountry, Log: a.Log,
	}
	a.Links = account.Links{Accounts: a.Accounts}
	a.Admins = &access.Admins{
		Store: sqlstore.For[access.Reader, access.Writer](a.Store), Now: a.Now, NewID: newID, ParsePhone: sms.ParseNumber, Invite: a.Accounts.Created,
	}
}

// accountServer returns the API of administrators' own accounts.
func accountServer(a *App, settings edge.Settings) *accountapi.Server {
	return &accountapi.Server{
		Settings: settings, Accounts: a.Accounts, Links: a.Links, Vault: a.Organizations.Vault, PublicURL: a.Config.URL(), Version: Version, Demo: a.Config.Demo,
		Revoked: a.Keys.Revoked,
	}
}
