package app

import (
	"slices"

	"dray/internal/adminapi"
	"dray/internal/api"
	"dray/internal/board"
	"dray/internal/boardapi"
	"dray/internal/orderapi"
	"dray/internal/settings"
	"dray/internal/sms"
	"dray/internal/store/sqlboard"
	"dray/internal/store/sqlreport"
	"dray/internal/store/sqlstore"
)

// reportTx is a transaction with the statements of reports.
type reportTx struct {
	*sqlstore.Tx
	sqlreport.Part
}

func withReports(t *sqlstore.Tx) reportTx { return reportTx{t, sqlreport.New(t.Conn())} }

// boardTx is a transaction with the statements of boards.
type boardTx struct {
	*sqlstore.Tx
	sqlboard.Part
}

func withBoards(t *sqlstore.Tx) boardTx { return boardTx{t, sqlboard.New(t.Conn())} }

// resources returns the resources of the API that other packages than api serve.
func (a *App) resources() api.Resources {
	orders := &orderapi.Server{Clients: a.Clients, Services: a.Services, Quotes: a.Quotes, Orders: a.Orders, Vault: a.Organizations.Vault}
	admin := &adminapi.Server{
		Keys: a.Keys, APIKeys: a.APIKeys, Vault: a.Organizations.Vault, Messages: a.Messages, Reports: a.Reports,
		Settings: &settings.Settings{
			Store: sqlstore.For[settings.Reader, settings.Writer](a.Store), ParsePhone: sms.ParseNumber, KnownCountry: sms.KnownCountry, Speed: a.Config.Speed, Now: a.Now,
		},
	}
	boards := &boardapi.Server{Boards: &board.Boards{Store: sqlstore.With[board.Reader, board.Reader](a.Store, withBoards), Now: a.Now}}
	return api.Resources{
		Tags: slices.Concat(orders.Tags(), admin.Tags(), boards.Tags()), Routes: slices.Concat(orders.Routes(), admin.Routes(), boards.Routes()),
	}
}
