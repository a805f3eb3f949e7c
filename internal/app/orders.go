package app

import (
	"dray/internal/api"
	"dray/internal/orderapi"
	"dray/internal/ordering"
	"dray/internal/sms"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

type (
	// Client is a client of a courier.
	Client = store.Client
	// ClientDraft is a request for a client.
	ClientDraft = ordering.ClientDraft
	// ClientStatus is the status of a client.
	ClientStatus = store.ClientStatus
)

// addOrders sets up the use cases of couriers and their clients.
func (a *App) addOrders(newID func() string) {
	a.Clients = &ordering.Clients{
		Store: sqlstore.For[ordering.ClientReader, ordering.ClientWriter](a.Store), Organizations: a.Organizations,
		Now: a.Now, NewID: newID, KnownCountry: sms.KnownCountry,
	}
}

// orderResources returns the resources of the API that package orderapi serves.
func (a *App) orderResources() api.Resources {
	server := &orderapi.Server{Clients: a.Clients, Vault: a.Organizations.Vault}
	return api.Resources{Tags: server.Tags(), Routes: server.Routes()}
}
