package app

import (
	"slices"
	"time"

	"dray/docs"
	"dray/internal/adminapi"
	"dray/internal/api"
	"dray/internal/board"
	"dray/internal/boardapi"
	"dray/internal/edge"
	"dray/internal/orderapi"
	"dray/internal/settings"
	"dray/internal/sms"
	"dray/internal/store/sqlstore"
)

// logListsInterval is the interval at which a node logs lists that have changed.
const logListsInterval = 250 * time.Millisecond

// addBoards sets up the boards and the components that keep them up to date.
func addBoards(a *App) {
	a.Histories = &board.Histories{Store: sqlstore.With[board.HistoryReader, board.HistoryReader](a.Store, withParts), Now: a.Now}
	a.Boards = &board.Boards{Store: sqlstore.With[board.Reader, board.Reader](a.Store, withParts), Now: a.Now}
	a.Lists = &board.Lists{
		Store: sqlstore.With[board.ListReader, board.ListWriter](a.Store, withParts), Hub: a.Hub, Now: a.Now,
		Encode: boardapi.EncodeList, EncodeTasks: boardapi.EncodeTasks,
	}
	a.Live = &board.Live{
		Store: sqlstore.With[board.LiveReader, board.LiveReader](a.Store, withParts), Hub: a.Hub, Now: a.Now,
		EncodePositions: boardapi.EncodePositions, EncodeEstimates: boardapi.EncodeEstimates,
	}
}

// resources returns the resources of the API that packages other than api serve.
func (a *App) resources(common edge.Settings) api.Resources {
	orders := &orderapi.Server{Clients: a.Clients, Services: a.Services, Quotes: a.Quotes, Orders: a.Orders, Vault: a.Organizations.Vault}
	admin := &adminapi.Server{
		Keys: a.Keys, APIKeys: a.APIKeys, Secrets: a.Organizations, Vault: a.Organizations.Vault, Messages: a.Messages, Reports: a.Reports,
		Settings: &settings.Settings{
			Store: sqlstore.For[settings.Reader, settings.Writer](a.Store), ParsePhone: sms.ParseNumber, KnownCountry: sms.KnownCountry, Speed: a.Config.Speed, Now: a.Now,
		},
	}
	boards := &boardapi.Server{Settings: common, Boards: a.Boards, Feed: a.Feed, Live: a.Live, Past: a.Histories, Tracking: a.Tracking}
	return api.Resources{
		Tags: slices.Concat(orders.Tags(), admin.Tags(), boards.Tags()), Routes: slices.Concat(orders.Routes(), admin.Routes(), boards.Routes()),
	}
}

// Docs returns the documentation at /docs, of the public API and the worker's API.
func Docs(public, driver edge.API) edge.Site {
	site := edge.Site{API: public, Driver: driver, Guides: docs.Guides, Order: docs.Order, Limits: api.Limits()}
	all, err := adminapi.Triggers()
	if err != nil {
		all = nil // the API responds with the error
	}
	for _, t := range all {
		site.Triggers = append(site.Triggers, edge.Trigger{ID: int(t.ID), Name: t.Name, About: t.Description, HasThreshold: t.HasThreshold, Sample: t.Sample})
	}
	return site
}
