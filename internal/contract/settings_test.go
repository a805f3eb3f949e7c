package contract_test

import (
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

// usualSettings are the settings of a new organization.
const usualSettings = `{"name":"Acme","email":"","driverSupportEmail":"","image":null,"timezone":"America/New_York","country":"US","language":"en",
	"geocodingPrecision":"any","geofence":{"level":"off","radius":200},"hideBarcodes":false,
	"failureReasons":["RECIPIENT_UNAVAILABLE","UNABLE_TO_LOCATE","WRONG_ADDRESS","NO_ACCESS","REFUSED_BY_RECIPIENT","AGE_NOT_VERIFIED","DAMAGED","OTHER"],
	"trackingPage":{"phone":null,"color":null,"allowNewTimes":false},
	"replanning":{"enabled":false,"move":"order","assign":false,"interval":10,"lateness":10,"ahead":240},
	"messages":{"from":null,"eta":600,"delay":900},"learned":{"factor":1,"trips":0,"serviceTime":120}}`

func TestSettingsContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Acme")
		read := func() map[string]any { return c.Must(t, "GET", "/organization/settings", nil) }
		matches(t, read(), usualSettings)

		t.Run("every field is accepted", func(t *testing.T) {
			const all = `{"name":"New Acme","email":"a@example.com","driverSupportEmail":"d@example.com","timezone":"Europe/Berlin","country":"de","language":"fr",
				"geocodingPrecision":"street","geofence":{"level":"block","radius":150.5},"hideBarcodes":true,"failureReasons":["OTHER","NO_ACCESS"],
				"trackingPage":{"phone":"030 901820","color":"#0B6B50","allowNewTimes":true},
				"replanning":{"enabled":true,"move":"workers","assign":true,"interval":5,"lateness":15,"ahead":120},
				"messages":{"from":"Acme","eta":300,"delay":0}}`
			want := strings.NewReplacer(`"timezone"`, `"image":null,"timezone"`, `"de"`, `"DE"`, `030 901820`, `+4930901820`, `#0B6B50`, `#0b6b50`).Replace(all)
			want = strings.TrimSuffix(want, `}`) + `,"learned":{"factor":1,"trips":0,"serviceTime":120}}`
			before := c.Must(t, "GET", "/organization", nil)
			matches(t, c.Must(t, "PUT", "/organization/settings", all), want)
			matches(t, read(), want)
			changed(t, "the organization", before, c.Must(t, "GET", "/organization", nil), "name", "email", "driverSupportEmail", "timezone", "country")
			matches(t, c.Must(t, "GET", "/organization/trackingPage", nil), `{"phone":"+4930901820","color":"#0b6b50","allowNewTimes":true}`)
			matches(t, c.Must(t, "GET", "/organization/replanning", nil), `{"enabled":true,"move":"workers","assign":true,"interval":5,"lateness":15,"ahead":120}`)
		})
		t.Run("fields that are not sent stay as they are", func(t *testing.T) {
			for _, body := range []string{`{}`, `{"geofence":{},"trackingPage":{},"replanning":{},"messages":{}}`, `{"name":null}`} {
				before := string(encode(t, read()))
				organization := c.Must(t, "GET", "/organization", nil)
				matches(t, c.Must(t, "PUT", "/organization/settings", body), before)
				changed(t, "the organization", organization, c.Must(t, "GET", "/organization", nil))
			}
			after := c.Must(t, "PUT", "/organization/settings", `{"geofence":{"level":"warn"},"messages":{"delay":60}}`)
			matches(t, after["geofence"], `{"level":"warn","radius":150.5}`)
			matches(t, after["messages"], `{"from":"Acme","eta":300,"delay":60}`)
		})
		t.Run("null removes a value", func(t *testing.T) {
			c.Must(t, "PUT", "/organization/settings", `{"name":"Acme","country":"US","timezone":"America/New_York","email":null,"driverSupportEmail":null,"language":null,
				"geocodingPrecision":"any","geofence":{"level":"off","radius":null},"hideBarcodes":false,"trackingPage":{"phone":null,"color":null,"allowNewTimes":false},
				"failureReasons":["RECIPIENT_UNAVAILABLE","UNABLE_TO_LOCATE","WRONG_ADDRESS","NO_ACCESS","REFUSED_BY_RECIPIENT","AGE_NOT_VERIFIED","DAMAGED","OTHER"],
				"replanning":{"enabled":false,"move":"order","assign":false,"interval":10,"lateness":10,"ahead":240},"messages":{"from":null,"eta":600,"delay":900}}`)
			matches(t, read(), usualSettings)
		})
		t.Run("a request with an invalid field changes nothing", func(t *testing.T) {
			for body, tt := range map[string]struct {
				want rejection
				word string
			}{
				`"name":""`: {malformed, "name"},
				`"name":7`:  {malformed, "name"},
				`"name":"` + strings.Repeat("x", 1001) + `"`:            {invalid, "name"},
				`"email":"nobody"`:                                      {invalid, "email"},
				`"driverSupportEmail":"x y@z"`:                          {invalid, "driverSupportEmail"},
				`"timezone":"Mars/Olympus"`:                             {invalid, "timezone"},
				`"timezone":"Local"`:                                    {invalid, "timezone"},
				`"country":"XX"`:                                        {invalid, "country"},
				`"country":"Germany"`:                                   {invalid, "country"},
				`"language":"english"`:                                  {invalid, "language"},
				`"geocodingPrecision":"exact"`:                          {invalid, "geocodingPrecision"},
				`"geofence":{"level":"loud"}`:                           {invalid, "geofence.level"},
				`"geofence":{"radius":-1}`:                              {invalid, "geofence.radius"},
				`"geofence":{"radius":10001}`:                           {invalid, "geofence.radius"},
				`"geofence":{"radius":0}`:                               {invalid, "geofence.radius"},
				`"geofence":7`:                                          {malformed, "geofence"},
				`"hideBarcodes":"yes"`:                                  {malformed, "hideBarcodes"},
				`"failureReasons":[]`:                                   {invalid, "at least one"},
				`"failureReasons":["OTHER","NONE"]`:                     {invalid, "failureReasons[1] must be one of RECIPIENT_UNAVAILABLE, UNABLE_TO_LOCATE"},
				`"failureReasons":["OTHER","OTHER"]`:                    {invalid, "already"},
				`"failureReasons":"OTHER"`:                              {malformed, "failureReasons"},
				`"trackingPage":{"phone":"12"}`:                         {invalid, "trackingPage.phone"},
				`"trackingPage":{"color":"green"}`:                      {invalid, "trackingPage.color"},
				`"replanning":{"interval":0}`:                           {invalid, "replanning.interval"},
				`"replanning":{"move":"all"}`:                           {invalid, "replanning.move"},
				`"messages":{"eta":-1}`:                                 {invalid, "messages.eta"},
				`"messages":{"eta":1e300}`:                              {invalid, "messages.eta"},
				`"messages":{"delay":0.5}`:                              {invalid, "messages.delay"},
				`"messages":{"from":"` + strings.Repeat("x", 41) + `"}`: {invalid, "messages.from"},
			} {
				valid := `{"hideBarcodes":true,`
				if strings.Contains(body, "hideBarcodes") {
					valid = `{"messages":{"eta":1},`
				}
				tt.want.check(t, send(t, c, "PUT", "/organization/settings", valid+body+`}`), tt.word)
			}
			malformed.check(t, send(t, c, "PUT", "/organization/settings", `[]`))
			matches(t, read(), usualSettings)
		})
		matches(t, other.Must(t, "GET", "/organization/settings", nil), usualSettings)
	})
}
