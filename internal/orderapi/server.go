package orderapi

import (
	"slices"

	"dray/internal/edge"
	"dray/internal/ordering"
)

// Server serves the resources of couriers and their clients.
type Server struct {
	Clients  *ordering.Clients
	Services *ordering.Services
	Quotes   *ordering.Quotes
	Orders   *ordering.Orders
	Vault    edge.Vault // for replies that contain keys
}

// Tags lists the resources in the order of the OpenAPI document.
func (s *Server) Tags() []edge.Tag {
	return []edge.Tag{
		{Name: "Clients", Description: "Organizations that the organization delivers for, and couriers that deliver for it."},
		{Name: "Delivery services", Description: "What a courier offers to its clients, at which prices; and quotes for deliveries."},
		{Name: "Orders", Description: "Deliveries that clients ordered from couriers: a pickup, and a drop-off that depends on it."},
	}
}

// Routes returns the routes of all resources.
func (s *Server) Routes() []edge.Route {
	return slices.Concat(clients{s}.routes(), services{s}.routes(), orders{s}.routes())
}
