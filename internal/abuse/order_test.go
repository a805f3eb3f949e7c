package abuse

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"
)

// The maximum that docs/limits.md allows. The rates and tiers of all services of a courier are
// limited together, and so are the positions of their areas.
const (
	services         = 100
	ratesOfService   = 5 // with their tiers, 100 rates and tiers
	tiersOfRate      = 19
	positionsOfArea  = 500
	clientsOfCourier = 4
)

// prepareServices gives each organization as many services as possible, and clients with
// their own keys and networks, which have all organizations as couriers.
func prepareServices(t *testing.T, w *world) {
	t.Helper()
	if w.prepared["services"] {
		return // they were created for another attack
	}
	w.prepared["services"] = true
	for _, o := range w.tenants {
		for i := range clientsOfCourier {
			made := o.must(t, "/api/v2/clients", map[string]any{"name": fmt.Sprint("Client ", i)}).object()
			c := o.with(keyOf(fmt.Sprint(made["apiKey"])))
			c.from = fmt.Sprintf("192.0.2.%d", o.number*10+i)
			for _, other := range w.tenants {
				if other != o {
					invited := other.must(t, "/api/v2/clients", map[string]any{"organization": made["organization"]}).id()
					c.must(t, "/api/v2/clients/invitations/"+invited+"/accept", nil)
				}
			}
			o.shops = append(o.shops, c)
		}
		for i := range services {
			o.service = o.must(t, "/api/v2/deliveryServices", expensiveService(i)).id()
		}
	}
}

// expensiveService returns a service that is compatible with every delivery near New
// York. To find that out, the server must check its whole area.
func expensiveService(number int) map[string]any {
	var ring [][]float64
	for i := range positionsOfArea - 1 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / (positionsOfArea - 1))
		reach := 1 + float64(i%2)/3 // a star
		ring = append(ring, []float64{-74 + reach*cos, 40.7 + reach*sin})
	}
	ring = append(ring, ring[0])
	var rates []any
	for i := range ratesOfService {
		var tiers []any
		for j := range tiersOfRate {
			tiers = append(tiers, map[string]any{"upTo": 0.1234567 * float64(j+1), "amount": 1.25 * float64(j)})
		}
		kind := []string{"distance", "duration", "weight", "quantity"}[i%4]
		rates = append(rates, map[string]any{"name": fmt.Sprint("Rate ", i), "ratingType": kind, "isBaseRate": i == 0, "amount": 1.23, "tiers": tiers})
	}
	return map[string]any{
		"displayName": fmt.Sprint("Service ", number), "currency": "USD", "rates": rates,
		"limits": map[string]any{"area": map[string]any{"type": "Polygon", "coordinates": []any{ring}}},
	}
}

// orderAttacks come from clients of couriers.
var orderAttacks = []attack{
	{name: "quotes of expensive services", prepare: prepareServices, run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 2*clientsOfCourier, 50*time.Millisecond, func(ctx context.Context, member, turn int) {
			place := func(lat float64) map[string]any {
				return map[string]any{"city": "New York", "country": "US", "location": []float64{-74, lat}}
			}
			body := map[string]any{
				"readyBy": time.Now().Add(time.Hour).UnixMilli(), "quantity": 900_000 + turn, "weight": map[string]any{"value": 12.3456, "units": "lbs"},
				"pickup": place(40.7), "dropoff": place(40.8),
			}
			if turn%2 == 1 { // compatible with no service, so that quotes never become too many
				body["dropoff"] = place(60)
			}
			by.shops[member%clientsOfCourier].post(ctx, "/api/v2/deliveryServices/quote", body)
		})
	}},
	{name: "orders placed and cancelled", prepare: prepareServices, run: func(ctx context.Context, w *world, by *tenant) {
		body := map[string]any{"pickupTask": taskBody("pickup"), "dropoffTask": taskBody("drop-off"), "deliveryServiceId": by.service}
		mob(ctx, clientsOfCourier, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			shop := by.shops[member]
			var ids []string
			for range 10 {
				made := shop.post(ctx, "/api/v2/taskOrders", body)
				if made.status != http.StatusOK {
					break
				}
				ids = append(ids, made.id())
			}
			if len(ids) == 0 {
				return
			}
			shop.get(ctx, "/api/v2/taskOrders/"+ids[0])
			by.get(ctx, "/api/v2/taskOrders/"+ids[0])
			shop.post(ctx, "/api/v2/taskOrders/cancel", map[string]any{"orderIds": ids})
		})
	}},
}
