package simulate

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// carriedOut is an order that was carried out, as the API shows it.
const carriedOut = `{"id":"o","shortId":"s","status":"completed","deliveryService":"e","price":6.3,"currency":"USD",
	"priceBreakdown":[{"name":"Base","ratingType":"flat","isBaseRate":true,"cost":4.5},{"name":"Distance","ratingType":"distance","cost":1.8}],
	"pickupTask":{"id":"p","state":3,"completionDetails":{"success":true}},
	"dropoffTask":{"id":"d","state":3,"dependencies":["p"],"completionDetails":{"success":true}},
	"events":[{"name":"created","status":"unassigned"},{"name":"started","taskId":"p","status":"active"},{"name":"completed","taskId":"p","status":"active"},
		{"name":"started","taskId":"d","status":"active"},{"name":"completed","taskId":"d","status":"completed"}]}`

func TestOrdersAreCompared(t *testing.T) {
	const bothCompleted = `"state":3`
	for name, test := range map[string]struct {
		old, new string // replaced in the order, everywhere
		change   func(*ledger, *placement)
		want     string // part of the fault; empty for none
	}{
		"as acknowledged":           {},
		"another id":                {old: `"id":"o"`, new: `"id":"x"`, want: "acknowledged as o"},
		"another task":              {old: `"id":"d"`, new: `"id":"x"`, want: "acknowledged as o"},
		"no dependency":             {old: `"dependencies":["p"]`, new: `"dependencies":[]`, want: "acknowledged as o"},
		"another price":             {old: `"price":6.3`, new: `"price":6.31`, want: "the quote was 6.30"},
		"another currency":          {old: `USD`, new: `EUR`, want: "the quote was 6.30 USD"},
		"another service":           {old: `"deliveryService":"e"`, new: `"deliveryService":"x"`, want: "the quote was"},
		"entries that do not sum":   {old: `"cost":1.8`, new: `"cost":1.79`, want: "add up to 6.29"},
		"another status":            {old: `"status":"completed"`, new: `"status":"active"`, want: "should be completed"},
		"a start that is missing":   {old: `"name":"started","taskId":"p"`, new: `"name":"updated","taskId":"p"`, want: "0 events started of task p"},
		"a start twice":             {old: `{"name":"started","taskId":"p","status":"active"}`, new: `{"name":"started","taskId":"p"},{"name":"started","taskId":"p"}`, want: "2 events started of task p"},
		"no creation":               {old: `{"name":"created","status":"unassigned"},`, new: ``, want: "its events are"},
		"another worker":            {change: func(l *ledger, _ *placement) { l.ended["d"] = outcome{worker: "x", success: true, at: 2} }, want: "worker x dropped it off"},
		"dropped off first":         {change: func(l *ledger, _ *placement) { l.ended["d"] = outcome{worker: "w", success: true} }, want: "before it was picked up"},
		"a failure":                 {change: func(l *ledger, _ *placement) { l.ended["p"] = outcome{worker: "w", at: 1} }, want: "should be failed"},
		"cancelled after its start": {change: func(_ *ledger, p *placement) { p.cancelled = true }, want: "both were acknowledged"},
		"cancelled in vain": {change: func(l *ledger, p *placement) {
			p.cancelled = true
			clear(l.visited)
			clear(l.ended)
		}, want: "should be cancelled"},
		"not cancelled without reason": {old: bothCompleted, new: `"state":1`, change: func(_ *ledger, p *placement) { p.rejected = errors.New("no") }, want: "could not be cancelled: no"},
		"not cancelled for a reason":   {change: func(_ *ledger, p *placement) { p.rejected = errors.New("no") }},
	} {
		t.Run(name, func(t *testing.T) {
			var p placement
			if err := json.Unmarshal([]byte(carriedOut), &p.shownOrder); err != nil {
				t.Fatal(err)
			}
			p.quote = shownQuote{Service: "e", Cost: p.Price, Breakdown: p.Breakdown, Currency: "USD"}
			l := newLedger(false)
			for i, id := range p.tasks() {
				l.visit(id, verbStart)
				l.end(id, outcome{worker: "w", success: true, at: int64(i + 1)})
			}
			if test.change != nil {
				test.change(l, &p)
			}
			var shown shownOrder
			if err := json.Unmarshal([]byte(strings.ReplaceAll(carriedOut, test.old, test.new)), &shown); test.old != "" && err != nil {
				t.Fatal(err)
			}
			if test.old == "" {
				shown = p.shownOrder
			}
			l.compareOrder(p, shown)
			if got := strings.Join(l.broken, "; "); (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("the faults are %q, want %q", got, test.want)
			}
		})
	}
}

func TestStatusOfTasks(t *testing.T) {
	task := func(state int, success bool) (t shownTask) {
		t.State, t.Completion.Success = state, success
		return t
	}
	for _, test := range []struct {
		pickup, dropoff shownTask
		want            string
	}{
		{task(0, false), task(0, false), orderUnassigned},
		{task(stateAssigned, false), task(0, false), orderUnassigned},
		{task(stateAssigned, false), task(stateAssigned, false), orderAssigned},
		{task(stateActive, false), task(stateAssigned, false), orderActive},
		{task(stateCompleted, true), task(stateAssigned, false), orderActive},
		{task(stateCompleted, true), task(stateCompleted, true), orderCompleted},
		{task(stateCompleted, false), task(stateAssigned, false), orderFailed},
		{task(stateCompleted, true), task(stateCompleted, false), orderFailed},
	} {
		if got := statusOf(test.pickup, test.dropoff); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestDeliveries(t *testing.T) {
	p := plan{city: grid{}, seed: 7, staffed: 1, radius: 500}
	cancelled := 0
	shop := p.delivery(0).pickup.door
	for i := range uint64(200) {
		d := p.delivery(i)
		if d.pickup.door != shop || !d.pickup.pickup || d.dropoff.pickup || d.pickup.quantity != d.dropoff.quantity || d.weight <= 0 || d.due < d.ready+30*time.Minute {
			t.Fatalf("delivery %d is %+v", i, d)
		}
		if d.keep > 0 {
			cancelled++
		}
	}
	if cancelled < 10 || cancelled > 60 {
		t.Errorf("%d of 200 are cancelled", cancelled)
	}
}
