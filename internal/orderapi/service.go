package orderapi

import (
	"context"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dray/internal/codec"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/ordering"
	"dray/internal/wire"
)

// services serves the endpoints of delivery services and quotes.
type services struct{ *Server }

// clientParameter is the query parameter of requests for quotes.
var clientParameter = edge.Parameter{
	Name: "clientId", Description: "ID of the client, or of its organization, that a courier requests quotes for. By default, the caller's organization.",
}

func (s services) routes() []edge.Route {
	return edge.Tagged("Delivery services",
		edge.Create("/deliveryServices", "Create a delivery service", s.create, NewDeliveryService).Finds().
			Describe("A price is the sum of all rates that apply, each rounded half up to the smallest unit of the currency. Surcharges come after other rates, and minimums last. Rates apply by the time at which the delivery is ready, in the time zone of the service.").
			Example(`{
				"displayName": "Express",
				"currency": "USD",
				"hours": [{"days": ["mon", "tue", "wed", "thu", "fri"], "from": "08:00", "to": "20:00"}],
				"leadTime": 30,
				"dueIn": 120,
				"limits": {"weight": {"value": 20, "units": "kg"}, "distance": {"value": 25, "units": "km"}},
				"rates": [
					{"name": "Base", "ratingType": "flat", "isBaseRate": true, "amount": 4},
					{"name": "Distance", "ratingType": "distance", "amount": 1.2, "unit": "km", "free": 2, "tiers": [{"upTo": 5, "amount": 1.5}]},
					{"name": "Evening", "ratingType": "surcharge", "amount": 25, "unit": "percent", "when": {"from": "18:00", "to": "20:00"}},
					{"name": "Small delivery", "ratingType": "minimum", "amount": 8}
				]
			}`),
		edge.Get("/deliveryServices", "List delivery services", s.list),
		edge.Get("/deliveryServices/{id}", "Read a delivery service", s.read),
		edge.Put("/deliveryServices/{id}", "Update a delivery service", s.update).
			Describe("Only the fields that are sent change; hours, limits and rates are replaced as a whole. Quotes and orders keep their prices.").
			Example(`{"leadTime": 45}`),
		edge.Delete("/deliveryServices/{id}", "Delete a delivery service", s.remove).
			Describe("Quotes and orders keep their prices."),
		edge.Create("/deliveryServices/quote", "Request quotes", s.quote, NewQuotes).WithQuery(clientParameter).Finds().Lists().
			Describe("Returns a quote of each service that is compatible with the delivery: offered to the client, available at readyBy, and within its limits. The ID of a quote is accepted as deliveryServiceId of an order until validUntil.").
			Example(`{
				"readyBy": 1894021200000,
				"quantity": 2,
				"weight": {"value": 3.5, "units": "kg"},
				"pickup": {"address": {"number": "350", "street": "5th Avenue", "city": "New York", "country": "US"}, "location": [-73.9857, 40.7484]},
				"dropoff": {"address": {"number": "1", "street": "Centre Street", "city": "New York", "country": "US"}, "location": [-74.0036, 40.7129]}
			}`),
		edge.Get("/deliveryServices/quote", "Request quotes by query", s.quoteByQuery, quoteParameters()...).
			Describe("The same as a POST request, with the fields of its body as query parameters: nested fields as `weight[value]` or `weight.value`, and a location as `pickup[location]=-73.9857,40.7484`."),
	)
}

func (s services) create(ctx context.Context, c *edge.Call, body NewDeliveryServiceBody) (order.Service, error) {
	return s.Services.Create(ctx, c.Who, body.Change())
}

func (s services) list(ctx context.Context, c *edge.Call) ([]DeliveryService, error) {
	all, err := s.Services.List(ctx, c.Who)
	return wire.Each(all, NewDeliveryService), err
}

func (s services) read(ctx context.Context, c *edge.Call) (DeliveryService, error) {
	service, err := s.Services.Read(ctx, c.Who, c.ID())
	return NewDeliveryService(service), err
}

func (s services) update(ctx context.Context, c *edge.Call, body DeliveryServiceBody) (DeliveryService, error) {
	service, err := s.Services.Update(ctx, c.Who, c.ID(), body.Change())
	return NewDeliveryService(service), err
}

func (s services) remove(ctx context.Context, c *edge.Call) error {
	return s.Services.Delete(ctx, c.Who, c.ID())
}

func (s services) quote(ctx context.Context, c *edge.Call, body QuoteBody) ([]order.Quote, error) {
	job, pickup, dropoff, err := body.Job()
	if err != nil {
		return nil, err
	}
	return s.Quotes.Request(ctx, c.Who, ordering.QuoteRequest{Client: c.Query.Get("clientId"), Job: job, Pickup: pickup, Dropoff: dropoff})
}

func (s services) quoteByQuery(ctx context.Context, c *edge.Call) ([]Quote, error) {
	data, err := bodyOf(c.Query)
	if err != nil {
		return nil, err
	}
	var body QuoteBody
	if err := codec.Decode(data, &body); err != nil {
		return nil, err
	}
	quotes, err := s.quote(ctx, c, body)
	return NewQuotes(quotes), err
}

// quoteFields are the fields of a request for quotes by query, in brackets.
var quoteFields = func() []string {
	fields := []string{"readyBy", "dueBy", "quantity", "weight[value]", "weight[units]"}
	for _, place := range []string{"pickup", "dropoff"} {
		for _, part := range []string{"name", "number", "street", "apartment", "city", "state", "postalCode", "country", "unparsed"} {
			fields = append(fields, place+"[address]["+part+"]", place+"["+part+"]")
		}
		fields = append(fields, place+"[location]", place+"[notes]")
	}
	return fields
}()

// quoteExamples are values of the query.
var quoteExamples = map[string]string{
	"readyBy": "1894021200000", "quantity": "2", "weight[value]": "3.5", "weight[units]": "kg",
	"pickup[city]": "New York", "pickup[country]": "US", "pickup[location]": "-73.9857,40.7484",
	"dropoff[city]": "New York", "dropoff[country]": "US", "dropoff[location]": "-74.0036,40.7129",
}

// quoteParameters describes the query of a request for quotes.
func quoteParameters() []edge.Parameter {
	parameters := []edge.Parameter{clientParameter}
	for _, field := range quoteFields {
		parameters = append(parameters, edge.Parameter{Name: field, Description: "As in the body of a POST request.", Example: quoteExamples[field]})
	}
	return parameters
}

// bodyOf converts a query to the JSON of a body, in which all values are texts except for
// locations. Unknown parameters are ignored.
func bodyOf(query url.Values) ([]byte, error) {
	root := map[string]any{}
	for name, values := range query {
		path := strings.FieldsFunc(name, func(r rune) bool { return r == '[' || r == ']' || r == '.' })
		if n := len(path); n > 0 && (path[n-1] == "0" || path[n-1] == "1") { // location[0] and location[1]
			path = path[:n-1]
		}
		if len(path) == 0 || !slices.Contains(quoteFields, bracketed(path)) {
			continue
		}
		at := root
		for _, key := range path[:len(path)-1] {
			below, ok := at[key].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[key] = below
			}
			at = below
		}
		last := path[len(path)-1]
		if last != "location" {
			at[last] = values[0]
			continue
		}
		location, err := locationOf(query, elementSuffix.ReplaceAllString(name, ""))
		if err != nil {
			return nil, err
		}
		at[last] = location
	}
	return codec.Marshal(root)
}

// bracketed returns the name of a field.
func bracketed(path []string) string {
	if len(path) == 1 {
		return path[0]
	}
	return path[0] + "[" + strings.Join(path[1:], "][") + "]"
}

// elementSuffix is the end of the name of an element of a list.
var elementSuffix = regexp.MustCompile(`(\[[01]?\]|\.[01])$`)

// locationOf reads a location, which is one text, two values, or two elements.
func locationOf(query url.Values, name string) ([2]float64, error) {
	var parts []string
	for _, form := range []string{name, name + "[]", name + "[0]", name + "[1]", name + ".0", name + ".1"} {
		for _, value := range query[form] {
			parts = append(parts, strings.Split(strings.Trim(value, "[] "), ",")...)
		}
	}
	var location [2]float64
	for i, part := range parts {
		n, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || len(parts) != 2 {
			return location, lastmile.Malformed("%s must be a longitude and a latitude, such as -73.9857,40.7484, not %q", name, edge.Clip(strings.Join(parts, ",")))
		}
		location[i] = n
	}
	return location, nil
}
