package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/ordering"
	"dray/internal/rate"
	"dray/internal/store"
	"dray/internal/travel"
)

// market is a store and a map in which a client has many couriers.
type market struct {
	ordering.QuoteWriter

	couriers int
	services func(courier int) int
	reads    int // number of reads of the services of a courier
	valid    int // number of valid quotes

	mu      sync.Mutex
	located []lastmile.OrganizationID // organizations for which addresses were located
}

func (m *market) Read(_ context.Context, fn func(ordering.QuoteReader) error) error { return fn(m) }

func (m *market) Write(_ context.Context, fn func(ordering.QuoteWriter) error) error { return fn(m) }

func (m *market) CountQuotes(context.Context, lastmile.OrganizationID, time.Time, int) (int, error) {
	return m.valid, nil
}

func (m *market) SaveQuote(context.Context, order.Quote) error { return nil }

func (m *market) Couriers(_ context.Context, client lastmile.OrganizationID) (all []store.Client, _ error) {
	for i := range m.couriers {
		all = append(all, store.Client{Courier: lastmile.OrganizationID(fmt.Sprint(i)), Organization: client, Status: store.ClientActive})
	}
	return all, nil
}

func (m *market) DeliveryServices(_ context.Context, courier lastmile.OrganizationID) (all []order.Service, _ error) {
	at := 0
	_, err := fmt.Sscan(string(courier), &at)
	m.reads++
	for range m.services(at) {
		all = append(all, order.Service{Organization: courier, Currency: "USD", Timezone: "UTC", Rates: []order.Rate{{Type: order.RateFlat, IsBase: true}}})
	}
	return all, err
}

func (m *market) Client(_ context.Context, courier lastmile.OrganizationID, id string) (store.Client, error) {
	if id == "unknown" {
		return store.Client{}, lastmile.NotFound("client", id)
	}
	return store.Client{Courier: courier, Organization: "client", Status: store.ClientActive}, nil
}

func (m *market) Courier(_ context.Context, _ lastmile.OrganizationID, id string) (store.Client, error) {
	return store.Client{}, lastmile.NotFound("client", id)
}

func (m *market) Locate(_ context.Context, who lastmile.Principal, _ string, _ lastmile.DestinationDraft) (lastmile.Destination, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.located = append(m.located, who.Organization)
	return lastmile.Destination{}, nil
}

// Legs implements ordering.Travel.
func (m *market) Legs(_ context.Context, _ lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error) {
	return make([]travel.Leg, len(way)-1), nil
}

func (m *market) quotes() *ordering.Quotes {
	return &ordering.Quotes{Store: m, Places: m, Travel: m, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }, NewID: func() string { return "id" }}
}

var aDelivery = ordering.QuoteRequest{Job: order.Job{ReadyBy: time.Unix(1_800_000_000, 0), Quantity: 1, Weight: order.Weight{Unit: order.Kilograms}}}

func TestQuotesReadFewCouriers(t *testing.T) {
	for name, tt := range map[string]struct {
		services      func(int) int
		reads, quotes int
	}{
		"no services":    {func(int) int { return 0 }, order.MaxQuoted, 0},
		"one service":    {func(int) int { return 1 }, order.MaxQuoted, order.MaxQuoted},
		"all services":   {func(int) int { return order.MaxServices }, order.MaxQuoted / order.MaxServices, order.MaxQuoted},
		"mostly nothing": {func(courier int) int { return courier % 2 * 99 }, 4, 2 * 99},
		"not divisible":  {func(int) int { return 90 }, 3, order.MaxQuoted},
	} {
		m := &market{couriers: 10_000, services: tt.services}
		got, err := m.quotes().Request(t.Context(), lastmile.Principal{Organization: "client"}, aDelivery)
		if err != nil || m.reads != tt.reads || len(got) != tt.quotes {
			t.Errorf("%s: %d quotes after reading %d couriers, want %d after %d: %v", name, len(got), m.reads, tt.quotes, tt.reads, err)
		}
	}
}

func TestQuotesAreLimited(t *testing.T) {
	for valid, want := range map[int]bool{0: true, order.MaxQuotes - 1: true, order.MaxQuotes: false} {
		m := &market{couriers: 1, services: func(int) int { return 1 }, valid: valid}
		_, err := m.quotes().Request(t.Context(), lastmile.Principal{Organization: "client"}, aDelivery)
		rejected, _ := errors.AsType[*lastmile.Error](err)
		if got := err == nil; got != want || !want && (rejected == nil || rejected.Code != lastmile.CodeTooMany || m.reads > 0) {
			t.Errorf("with %d valid quotes: %v, after %d reads", valid, err, m.reads)
		}
	}
}

func TestQuotesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &market{couriers: 1, services: func(int) int { return 1 }}
		qs := m.quotes()
		qs.Shares = rate.NewShares(2)
		end, err := qs.Shares.Take(t.Context(), "greedy")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan string, 4)
		for _, caller := range []string{"greedy", "greedy", "greedy", "modest"} {
			go func() {
				if _, err := qs.Request(lastmile.WithCaller(t.Context(), caller), lastmile.Principal{Organization: "client"}, aDelivery); err != nil {
					t.Error(err)
				}
				done <- caller
			}()
		}
		synctest.Wait()
		if len(done) != 1 || <-done != "modest" || m.reads != 1 {
			t.Errorf("a caller that has a turn takes another, or others wait for it; services were read %d times", m.reads)
		}
		end()
		synctest.Wait()
		if len(done) != 3 {
			t.Errorf("%d of 3 requests have ended", len(done))
		}
	})
}

// The order for a quote is located in the same way, or it would be another delivery.
func TestQuotesAreLocatedForTheClient(t *testing.T) {
	for name, tt := range map[string]struct {
		caller  lastmile.OrganizationID
		client  string
		located []lastmile.OrganizationID
	}{
		"a courier for its client":   {"1", "id", []lastmile.OrganizationID{"client", "client"}},
		"a courier for an unknown":   {"1", "unknown", nil},
		"a client for itself":        {"client", "", []lastmile.OrganizationID{"client", "client"}},
		"a client that names itself": {"client", "client", []lastmile.OrganizationID{"client", "client"}},
	} {
		m := &market{couriers: 1, services: func(int) int { return 1 }}
		q := aDelivery
		q.Client = tt.client
		_, err := m.quotes().Request(t.Context(), lastmile.Principal{Organization: tt.caller}, q)
		if !slices.Equal(m.located, tt.located) || (err == nil) != (tt.located != nil) {
			t.Errorf("%s: located for %v, want %v: %v", name, m.located, tt.located, err)
		}
	}
}
