package app

import (
	"dray/internal/api"
	"dray/internal/orderapi"
	"dray/internal/ordering"
	"dray/internal/sms"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// What commands need to manage clients.
type (
	Client       = store.Client
	ClientDraft  = ordering.ClientDraft
	ClientStatus = store.ClientStatus
)

// addOrders sets up the use cases of couriers and their clients.
func (a *App) addOrders(newID func() string) {
	a.Clients = &ordering.Clients{
		Store: sqlstore.For[ordering.ClientReader, ordering.ClientWriter](a.Store), Organizations: a.Organizations,
		Now: a.Now, NewID: newID, KnownCountry: sms.KnownCountry,
	}
	a.Services = &ordering.Services{Store: sqlstore.For[ordering.ServiceReader, ordering.ServiceWriter](a.Store), Now: a.Now, NewID: newID}
	a.Quotes = &ordering.Quotes{
		Store: sqlstore.For[ordering.QuoteReader, ordering.QuoteWriter](a.Store), Places: a.Book, Travel: a.Travel, Now: a.Now, NewID: newID,
	}
}

// orderResources returns the resources of the API that package orderapi serves.
func (a *App) orderResources() api.Resources {
	server := &orderapi.Server{Clients: a.Clients, Services: a.Services, Quotes: a.Quotes, Vault: a.Organizations.Vault}
	return api.Resources{Tags: server.Tags(), Routes: server.Routes()}
}
