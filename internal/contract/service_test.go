package contract_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	orders "dray/internal/order"
	"dray/internal/ordering"
)

const flatRate = `{"name":"Base","ratingType":"flat","isBaseRate":true,"amount":4}`

func init() {
	const body = `{"displayName":"S","currency":"USD","rates":[` + flatRate + `],"clients":["ID"]}`
	register("POST /deliveryServices", [2]string{`{"displayName":"A","currency":"USD","rates":[` + flatRate + `]}`, `{"displayName":"B","currency":"EUR","rates":[` + flatRate + `]}`},
		idPlace{field: "clients[]", kind: "client", body: body, missing: notFound})
	register("GET /deliveryServices/{id}", [2]string{}, idPlace{field: "{id}", kind: "deliveryService", missing: notFound})
	register("PUT /deliveryServices/{id}", [2]string{},
		idPlace{field: "{id}", kind: "deliveryService", body: `{"displayName":"Changed"}`, missing: notFound},
		idPlace{field: "clients[]", kind: "client", body: `{"clients":["ID"]}`, missing: notFound})
	register("DELETE /deliveryServices/{id}", [2]string{}, idPlace{field: "{id}", kind: "deliveryService", missing: notFound})
	const job = `"quantity":1,"weight":{"value":1,"units":"kg"},"pickup":{"city":"X","country":"Y","location":[1,2]},"dropoff":{"city":"X","country":"Y","location":[1,2.1]}}`
	register("POST /deliveryServices/quote", [2]string{`{"readyBy":4000000000000,` + job, `{"readyBy":4000000060000,` + job})
}

func TestDeliveryServiceContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Courier")
		client := c.Must(t, "POST", "/clients", `{"name":"Shop"}`)
		const defaults = `"clients":[],"timezone":"America/New_York","hours":[],"leadTime":0,"sameDayUntil":null,"dueIn":240,"limits":{"weight":null,"quantity":null,"distance":null,"area":null}`

		t.Run("a service with only a name, a currency and rates is offered to all clients at all times", func(t *testing.T) {
			made := c.Must(t, "POST", "/deliveryServices", `{"displayName":"Plain","currency":"usd","rates":[`+flatRate+`]}`)
			matches(t, made, `{"id":"<id>","organization":"`+string(c.Organization.ID)+`","timeCreated":"<now>","timeLastModified":"<now>","displayName":"Plain","currency":"USD",`+defaults+`,
				"rates":[{"id":"<id>","name":"Base","ratingType":"flat","isBaseRate":true,"amount":4,"unit":null,"free":0,"tiers":[],"when":null}]}`)
			matches(t, list(t, c, "/deliveryServices"), `[`+string(encode(t, made))+`]`)
		})
		t.Run("every field is accepted", func(t *testing.T) {
			const area = `{"type":"MultiPolygon","coordinates":[[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,1],[2,1.5],[1,1]]],[[[10,10],[11,10],[11,11],[10,10]]]]}`
			made := c.Must(t, "POST", "/deliveryServices", `{"displayName":"Full","currency":"KWD","clients":["`+fmt.Sprint(client["organization"])+`"],"timezone":"Asia/Kuwait",
				"hours":[{"days":["sun","Monday"],"from":"08:00","to":"02:00"},{"days":["fri"]}],"leadTime":30,"sameDayUntil":"14:30","dueIn":90,
				"limits":{"weight":{"value":12.5,"units":"lbs"},"quantity":7,"distance":{"value":20,"units":"mi"},"area":`+area+`},
				"rates":[`+flatRate+`,
					{"name":"Distance","ratingType":"distance","amount":0.125,"unit":"mi","free":1.5,"tiers":[{"upTo":5,"amount":0.25},{"upTo":10.5,"amount":0.2}]},
					{"name":"Time","ratingType":"duration","amount":3,"unit":"hour"},
					{"name":"Weight","ratingType":"weight","amount":1},
					{"name":"Pieces","ratingType":"quantity","amount":0.5,"free":1},
					{"name":"Night","ratingType":"surcharge","amount":12.5,"unit":"percent","when":{"from":"22:00","to":"06:00"}},
					{"name":"Weekend","ratingType":"surcharge","amount":1,"when":{"days":["sat","fri"]}},
					{"name":"Least","ratingType":"minimum","amount":5}]}`)
			const rest = `"free":0,"tiers":[],"when":null}`
			matches(t, made, `{"id":"<id>","organization":"`+string(c.Organization.ID)+`","timeCreated":"<now>","timeLastModified":"<now>","displayName":"Full","currency":"KWD",
				"clients":["`+fmt.Sprint(client["id"])+`"],"timezone":"Asia/Kuwait","hours":[{"days":["monday","sunday"],"from":"08:00","to":"02:00"},{"days":["friday"],"from":"00:00","to":"24:00"}],
				"leadTime":30,"sameDayUntil":"14:30","dueIn":90,"limits":{"weight":{"value":12.5,"units":"lbs"},"quantity":7,"distance":{"value":20,"units":"mi"},"area":`+area+`},
				"rates":[{"id":"<id>","name":"Base","ratingType":"flat","isBaseRate":true,"amount":4,"unit":null,`+rest+`,
					{"id":"<id>","name":"Distance","ratingType":"distance","isBaseRate":false,"amount":0.125,"unit":"mi","free":1.5,"tiers":[{"upTo":5,"amount":0.25},{"upTo":10.5,"amount":0.2}],"when":null},
					{"id":"<id>","name":"Time","ratingType":"duration","isBaseRate":false,"amount":3,"unit":"hour",`+rest+`,
					{"id":"<id>","name":"Weight","ratingType":"weight","isBaseRate":false,"amount":1,"unit":"kg",`+rest+`,
					{"id":"<id>","name":"Pieces","ratingType":"quantity","isBaseRate":false,"amount":0.5,"unit":"piece","free":1,"tiers":[],"when":null},
					{"id":"<id>","name":"Night","ratingType":"surcharge","isBaseRate":false,"amount":12.5,"unit":"percent","free":0,"tiers":[],"when":{"days":["monday","tuesday","wednesday","thursday","friday","saturday","sunday"],"from":"22:00","to":"06:00"}},
					{"id":"<id>","name":"Weekend","ratingType":"surcharge","isBaseRate":false,"amount":1,"unit":null,"free":0,"tiers":[],"when":{"days":["friday","saturday"],"from":"00:00","to":"24:00"}},
					{"id":"<id>","name":"Least","ratingType":"minimum","isBaseRate":false,"amount":5,"unit":null,`+rest+`]}`)
			path := "/deliveryServices/" + fmt.Sprint(made["id"])
			matches(t, c.Must(t, "GET", path, nil), string(encode(t, made)))
			changed(t, "nothing", made, c.Must(t, "PUT", path, `{}`))
			changed(t, "its own fields", made, c.Must(t, "PUT", path, string(encode(t, made))))
			renamed := c.Must(t, "PUT", path, `{"displayName":"Renamed"}`)
			changed(t, "the name", made, renamed, "displayName")
			cleared := c.Must(t, "PUT", path, `{"clients":null,"timezone":null,"hours":null,"leadTime":null,"sameDayUntil":null,"dueIn":null,"limits":null}`)
			changed(t, "nulls", renamed, cleared, "clients", "timezone", "hours", "leadTime", "sameDayUntil", "dueIn", "limits")
			for _, fault := range compare("", map[string]any{"x": cleared["hours"]}, map[string]any{"x": []any{}}) {
				t.Error(fault)
			}
			invalid.check(t, c.Call(t, "PUT", path, `{"currency":"USD"}`), "currency", "rates")
			c.Call(t, "DELETE", path, nil).OK(t)
			notFound.check(t, c.Call(t, "GET", path, nil))
		})
		t.Run("an invalid service is rejected", func(t *testing.T) {
			before := string(encode(t, list(t, c, "/deliveryServices")))
			of := func(more string) string {
				return `{"displayName":"S","currency":"USD","rates":[` + flatRate + `]` + more + `}`
			}
			rates := func(rates string) string { return `{"displayName":"S","currency":"USD","rates":[` + rates + `]}` }
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                   {``, malformed, []string{"displayName"}},
				"no currency":               {`{"displayName":"S","rates":[` + flatRate + `]}`, malformed, []string{"currency"}},
				"an unknown currency":       {`{"displayName":"S","currency":"XXX","rates":[` + flatRate + `]}`, invalid, []string{"currency", "ISO 4217", "XXX"}},
				"no rates":                  {`{"displayName":"S","currency":"USD"}`, malformed, []string{"rates"}},
				"two base rates":            {rates(flatRate + "," + flatRate), invalid, []string{"exactly one", "isBaseRate", "2"}},
				"a fraction of a cent":      {rates(strings.Replace(flatRate, "4", "4.001", 1)), invalid, []string{"rates[0].amount", "2 decimals", "USD"}},
				"a fraction of a yen":       {`{"displayName":"S","currency":"JPY","rates":[` + strings.Replace(flatRate, "4", "4.5", 1) + `]}`, invalid, []string{"rates[0].amount", "0 decimals", "JPY"}},
				"a text as an amount":       {rates(strings.Replace(flatRate, "4", `"four"`, 1)), malformed, []string{"rates[0].amount", "number"}},
				"a negative amount":         {rates(strings.Replace(flatRate, "4", "-4", 1)), invalid, []string{"rates[0].amount", "0"}},
				"an unknown rating type":    {rates(strings.Replace(flatRate, "flat", "fixed", 1)), invalid, []string{"rates[0].ratingType", "flat", "minimum", "fixed"}},
				"a rate as a text":          {rates(`"flat"`), malformed, []string{"rates[0]", "object"}},
				"null as a rate":            {rates(`null`), malformed, []string{"rates[0]", "null"}},
				"hours without a day":       {of(`,"hours":[{}]`), invalid, []string{"hours[0]"}},
				"a time without minutes":    {of(`,"hours":[{"from":"8","to":"18:00"}]`), invalid, []string{"hours[0].from", "HH:MM"}},
				"lead time as a text":       {of(`,"leadTime":"soon"`), malformed, []string{"leadTime", "minutes"}},
				"a negative lead time":      {of(`,"leadTime":-1`), invalid, []string{"leadTime"}},
				"an unknown client":         {of(`,"clients":["` + unknownID + `"]`), notFound, []string{"client", unknownID}},
				"weight without units":      {of(`,"limits":{"weight":{"value":1}}`), malformed, []string{"limits.weight.units"}},
				"weight without value":      {of(`,"limits":{"weight":{"units":"kg"}}`), malformed, []string{"limits.weight.value"}},
				"distance of null":          {of(`,"limits":{"distance":{"value":null,"units":"km"}}`), malformed, []string{"limits.distance.value"}},
				"an area as a text":         {of(`,"limits":{"area":"Bronx"}`), malformed, []string{"limits.area", "GeoJSON"}},
				"an area that is a point":   {of(`,"limits":{"area":{"type":"Point","coordinates":[1,2]}}`), invalid, []string{"limits.area", "Polygon", "Point"}},
				"an area without positions": {of(`,"limits":{"area":{"type":"Polygon"}}`), invalid, []string{"limits.area", "polygon"}},
				"an area of many numbers":   {of(`,"limits":{"area":{"type":"Polygon","coordinates":[[` + strings.Repeat(`[5e-324,5e-324],`, 2*orders.MaxAreaPoints) + `[0,0]]]}}`), invalid, []string{"limits.area", "10000"}},
				"an open ring":              {of(`,"limits":{"area":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}}`), invalid, []string{"limits.area", "ring 0", "begins"}},
				"positions too deep":        {of(`,"limits":{"area":{"type":"Polygon","coordinates":[[[[0,0]]]]}}`), malformed, []string{"limits.area.coordinates"}},
				"a latitude of 91":          {of(`,"limits":{"area":{"type":"Polygon","coordinates":[[[0,0],[1,91],[1,1],[0,0]]]}}`), invalid, []string{"limits.area", "latitude"}},
				"a position of one number":  {of(`,"limits":{"area":{"type":"Polygon","coordinates":[[[0],[1,0],[1,1],[0,1]]]}}`), malformed, []string{"limits.area", "longitude"}},
			} {
				t.Run(name, func(t *testing.T) { tt.want.check(t, c.Call(t, "POST", "/deliveryServices", tt.body), tt.words...) })
			}
			matches(t, list(t, c, "/deliveryServices"), before)
		})
		t.Run("the rates and tiers of all services are limited", func(t *testing.T) {
			full := p.Organization(t, "Tiers")
			var tiers, rates []string
			for i := range orders.MaxTiers {
				tiers = append(tiers, fmt.Sprintf(`{"upTo":%d,"amount":1}`, i+1))
			}
			for range orders.MaxRates - 1 {
				rates = append(rates, `{"name":"W","ratingType":"weight","amount":1,"tiers":[`+strings.Join(tiers, ",")+`]}`)
			}
			large := `"rates":[` + flatRate + `,` + strings.Join(rates, ",") + `]`
			for range ordering.MaxRatesAndTiers / (1 + (orders.MaxRates-1)*(1+orders.MaxTiers)) {
				full.Must(t, "POST", "/deliveryServices", `{"displayName":"S","currency":"USD",`+large+`}`)
			}
			invalid.check(t, full.Call(t, "POST", "/deliveryServices", `{"displayName":"S","currency":"USD",`+large+`}`), "rates", fmt.Sprint(ordering.MaxRatesAndTiers))
			small := id(t, full, "/deliveryServices", `{"displayName":"S","currency":"USD","rates":[`+flatRate+`]}`)
			invalid.check(t, full.Call(t, "PUT", "/deliveryServices/"+small, `{`+large+`}`), "rates")
		})
		t.Run("the number of services is limited", func(t *testing.T) {
			full := p.Organization(t, "Full")
			for i := range orders.MaxServices {
				full.Must(t, "POST", "/deliveryServices", fmt.Sprintf(`{"displayName":"%d","currency":"USD","rates":[`+flatRate+`]}`, i))
			}
			invalid.check(t, full.Call(t, "POST", "/deliveryServices", `{"displayName":"S","currency":"USD","rates":[`+flatRate+`]}`), fmt.Sprint(orders.MaxServices))
			full.Call(t, "DELETE", "/deliveryServices/"+ids(list(t, full, "/deliveryServices"))[0], nil).OK(t)
			full.Must(t, "POST", "/deliveryServices", `{"displayName":"S","currency":"USD","rates":[`+flatRate+`]}`)
		})
	})
}

func TestQuoteContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		courier, second, stranger := p.Organization(t, "Courier"), p.Organization(t, "Second"), p.Organization(t, "Stranger")
		made := courier.Must(t, "POST", "/clients", `{"name":"Shop"}`)
		shop, shopID, shopOrg := keyed(p, made), fmt.Sprint(made["id"]), fmt.Sprint(made["organization"])
		other := courier.Must(t, "POST", "/clients", `{"name":"Other"}`)
		p.StopClock()
		ready := p.Now().Add(time.Hour).UnixMilli()
		body := func(change ...string) string {
			return strings.NewReplacer(change...).Replace(fmt.Sprintf(`{"readyBy":%d,"quantity":3,"weight":{"value":2.5,"units":"kg"},
				"pickup":{"address":{"city":"New York","country":"US"},"location":[-73.98,40.75]},"dropoff":{"city":"New York","country":"US","location":[-73.98,40.70]}}`, ready))
		}
		express := id(t, courier, "/deliveryServices", `{"displayName":"Express","currency":"USD","clients":["`+shopID+`"],"dueIn":90,
			"rates":[`+flatRate+`,{"name":"Pieces","ratingType":"quantity","amount":1.5,"free":1},{"name":"Weight","ratingType":"weight","amount":0.1}]}`)
		id(t, courier, "/deliveryServices", `{"displayName":"Others only","currency":"USD","clients":["`+fmt.Sprint(other["id"])+`"],"rates":[`+flatRate+`]}`)
		id(t, courier, "/deliveryServices", `{"displayName":"Light","currency":"USD","limits":{"weight":{"value":2,"units":"kg"}},"rates":[`+flatRate+`]}`)
		id(t, courier, "/deliveryServices", `{"displayName":"Near","currency":"USD","limits":{"distance":{"value":5,"units":"km"}},"rates":[`+flatRate+`]}`)
		byDistance := id(t, courier, "/deliveryServices", `{"displayName":"Distance","currency":"JPY","rates":[{"name":"Base","ratingType":"distance","isBaseRate":true,"amount":100},{"name":"Time","ratingType":"duration","amount":60}]}`)
		quotesOf := func(t *testing.T, c *apptest.Client, query, body string) []map[string]any {
			t.Helper()
			return c.Call(t, "POST", "/deliveryServices/quote"+query, body).OK(t).List(t)
		}

		t.Run("a client gets a quote of each compatible service", func(t *testing.T) {
			quotes := quotesOf(t, shop, "", body())
			if len(quotes) != 2 {
				t.Fatalf("got %v", quotes)
			}
			distance, duration := quotes[0]["distance"].(float64), quotes[0]["duration"].(float64)
			matches(t, quotes[0], fmt.Sprintf(`{"id":"<id>","rateId":"<id>","organization":%q,"deliveryService":%q,"displayName":"Express","dueBy":%d,
				"estimatedCost":7.25,"estimatedCostBreakdown":[{"name":"Base","ratingType":"flat","isBaseRate":true,"cost":4},{"name":"Pieces","ratingType":"quantity","isBaseRate":false,"cost":3},
				{"name":"Weight","ratingType":"weight","isBaseRate":false,"cost":0.25}],"currency":"USD","distance":%.0f,"duration":%.0f,"validUntil":%d}`,
				courier.Organization.ID, express, ready+90*60_000, distance, duration, p.Now().Add(orders.QuoteLifetime).UnixMilli()))
			// 5.55 km as the crow flies are 7.8 km by road, by formula.
			if quotes[1]["deliveryService"] != byDistance || distance < 7_700 || distance > 7_900 {
				t.Errorf("the second quote is %v", quotes[1])
			}
			yen := int64(distance+5)/10 + int64(duration) // 100 a kilometer, 60 a minute
			if got := quotes[1]["estimatedCost"].(float64); int64(got) != yen || got != float64(yen) {
				t.Errorf("%v m and %v s cost %v, want %d", distance, duration, got, yen)
			}
		})
		t.Run("a courier quotes for its clients, by either id, and a client for itself", func(t *testing.T) {
			for name, tt := range map[string]struct {
				c     *apptest.Client
				query string
				want  int
			}{
				"by the client's id":           {courier, "?clientId=" + shopID, 2},
				"by the organization's id":     {courier, "?clientId=" + shopOrg, 2},
				"another client":               {courier, "?clientId=" + fmt.Sprint(other["id"]), 2},
				"the client by its own id":     {shop, "?clientId=" + shopID, 2},
				"the client by its own org id": {shop, "?clientId=" + shopOrg, 2},
			} {
				t.Run(name, func(t *testing.T) {
					if quotes := quotesOf(t, tt.c, tt.query, body()); len(quotes) != tt.want {
						t.Errorf("got %v", quotes)
					}
				})
			}
			malformed.check(t, courier.Call(t, "POST", "/deliveryServices/quote", body()), "clientId")
			outsideScope.check(t, stranger.Call(t, "POST", "/deliveryServices/quote?clientId="+shopID, body()))
			notFound.check(t, stranger.Call(t, "POST", "/deliveryServices/quote?clientId="+shopOrg, body()))
			outsideScope.check(t, shop.Call(t, "POST", "/deliveryServices/quote?clientId="+fmt.Sprint(other["id"]), body()))
			notFound.check(t, courier.Call(t, "POST", "/deliveryServices/quote?clientId="+unknownID, body()))
		})
		t.Run("a client of two couriers gets the quotes of both", func(t *testing.T) {
			both := p.Organization(t, "Both")
			id(t, second, "/deliveryServices", `{"displayName":"Second","currency":"EUR","rates":[`+flatRate+`]}`)
			for _, c := range []*apptest.Client{courier, second} {
				invited := id(t, c, "/clients", `{"organization":"`+string(both.Organization.ID)+`"}`)
				preconditionFailed.check(t, c.Call(t, "POST", "/deliveryServices/quote?clientId="+invited, body()), invited)
				both.Must(t, "POST", "/clients/invitations/"+invited+"/accept", nil)
			}
			quotes := quotesOf(t, both, "", body())
			if len(quotes) != 2 || quotes[0]["organization"] != string(courier.Organization.ID) || quotes[1]["organization"] != string(second.Organization.ID) {
				t.Errorf("got %v", quotes)
			}
		})
		t.Run("the client's dueBy is kept", func(t *testing.T) {
			for _, quote := range quotesOf(t, shop, "", body(`"quantity"`, fmt.Sprintf(`"dueBy":%d,"quantity"`, ready+1_000))) {
				if quote["dueBy"] != float64(ready+1_000) {
					t.Errorf("got %v", quote)
				}
			}
		})
		t.Run("a delivery that is already ready is not due in the past", func(t *testing.T) {
			quote := quotesOf(t, shop, "", body(fmt.Sprint(ready), fmt.Sprint(ready-12*3_600_000)))[0]
			if want := float64(p.Now().Add(90 * time.Minute).UnixMilli()); quote["dueBy"] != want {
				t.Errorf("due at %v, want %v", quote["dueBy"], want)
			}
		})
		t.Run("GET accepts the same as query parameters", func(t *testing.T) {
			for name, query := range map[string]string{
				"brackets": "&weight[value]=2.5&weight[units]=kg&pickup[address][city]=NY&pickup[address][country]=US&pickup[location][0]=-73.98&pickup[location][1]=40.75&dropoff[city]=NY&dropoff[country]=US&dropoff[location]=-73.98,40.70",
				"dots":     "&weight.value=2.5&weight.units=kg&pickup.address.city=NY&pickup.address.country=US&pickup.location=-73.98,40.75&dropoff.city=NY&dropoff.country=US&dropoff.location.0=-73.98&dropoff.location.1=40.70",
				"lists":    "&weight[value]=2.5&weight[units]=kg&pickup[city]=NY&pickup[country]=US&pickup[location][]=-73.98&pickup[location][]=40.75&dropoff[city]=NY&dropoff[country]=US&dropoff[location]=[-73.98,40.70]",
			} {
				t.Run(name, func(t *testing.T) {
					values, err := url.ParseQuery(query[1:])
					if err != nil {
						t.Fatal(err)
					}
					quotes := list(t, shop, fmt.Sprintf("/deliveryServices/quote?readyBy=%d&quantity=3&", ready)+values.Encode())
					if len(quotes) != 2 || quotes[0]["estimatedCost"] != 7.25 {
						t.Errorf("got %v", quotes)
					}
				})
			}
			malformed.check(t, shop.Call(t, "GET", "/deliveryServices/quote", nil), "readyBy")
			malformed.check(t, shop.Call(t, "GET", fmt.Sprintf("/deliveryServices/quote?readyBy=%d&quantity=x", ready), nil), "quantity")
			for _, location := range []string{"1", "NaN,40", "40,Infinity", "1,2,3", "a,b"} {
				malformed.check(t, shop.Call(t, "GET", fmt.Sprintf("/deliveryServices/quote?readyBy=%d&pickup%%5Blocation%%5D=%s", ready, location), nil), "pickup[location]")
			}
		})
		t.Run("an invalid request is rejected", func(t *testing.T) {
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                {``, malformed, []string{"readyBy"}},
				"a time in seconds":      {body(fmt.Sprint(ready), "1790000000"), invalid, []string{"readyBy", "milliseconds"}},
				"a time that is past":    {body(fmt.Sprint(ready), fmt.Sprint(ready-30*3_600_000)), invalid, []string{"readyBy", "past"}},
				"due before it's ready":  {body(`"quantity"`, fmt.Sprintf(`"dueBy":%d,"quantity"`, ready)), invalid, []string{"dueBy", "readyBy"}},
				"no pieces":              {body(`"quantity":3`, `"quantity":0`), invalid, []string{"quantity"}},
				"half a piece":           {body(`"quantity":3`, `"quantity":0.5`), malformed, []string{"quantity"}},
				"no quantity":            {body(`"quantity":3,`, ``), malformed, []string{"quantity"}},
				"no weight":              {body(`"weight":{"value":2.5,"units":"kg"},`, ``), malformed, []string{"weight"}},
				"a weight without value": {body(`"value":2.5,`, ``), malformed, []string{"weight.value"}},
				"grams":                  {body(`"kg"`, `"g"`), invalid, []string{"weight.units", "kg or lbs"}},
				"no pickup":              {body(`"pickup"`, `"from"`), malformed, []string{"pickup"}},
				"a pickup as a text":     {body(`"pickup":{`, `"pickup":"here","x":{`), malformed, []string{"pickup", "address"}},
				"no city to pick up":     {body(`"address":{"city":"New York",`, `"address":{`), malformed, []string{"pickup.address.city"}},
				"no number to look up":   {body(`,"location":[-73.98,40.70]`, ``), malformed, []string{"dropoff.address.number"}},
				"a latitude of 91":       {body(`40.70`, `91`), invalid, []string{"dropoff.location", "latitude"}},
			} {
				t.Run(name, func(t *testing.T) {
					tt.want.check(t, shop.Call(t, "POST", "/deliveryServices/quote", tt.body), tt.words...)
				})
			}
		})
	})
}
