package contract_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestRecipientContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, stranger := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		org := string(c.Organization.ID)

		t.Run("a recipient with only a name and a phone gets text messages", func(t *testing.T) {
			made := c.Call(t, "POST", "/recipients", `{"name":"Boris Foster","phone":"650-252-9000"}`).OK(t)
			matches(t, made.Object(t), `{"id":"<id>","organization":"`+org+`","timeCreated":"<now>","timeLastModified":"<now>",
				"name":"Boris Foster","phone":"+16502529000","notes":"","skipSMSNotifications":false,"useLongCodeForText":false,"metadata":[]}`)
			read := c.Call(t, "GET", "/recipients/"+fmt.Sprint(made.Object(t)["id"]), nil).OK(t)
			if string(read.Body) != string(made.Body) {
				t.Errorf("responded with\n%s\nand read\n%s", made.Body, read.Body)
			}
		})
		t.Run("every field is accepted", func(t *testing.T) {
			made := c.Must(t, "POST", "/recipients", `{"name":"Zoë","phone":"+44 20 7183 8750","notes":"Rings twice","skipSMSNotifications":true,
				"skipPhoneNumberValidation":false,"useLongCodeForText":true,"metadata":[{"name":"n","type":"number","value":1}]}`)
			matches(t, made, `{"id":"<id>","organization":"`+org+`","timeCreated":"<now>","timeLastModified":"<now>",
				"name":"Zoë","phone":"+442071838750","notes":"Rings twice","skipSMSNotifications":true,"useLongCodeForText":true,
				"metadata":[{"name":"n","type":"number","value":1,"visibility":["api"]}]}`)
		})
		t.Run("flags may be strings, and null stands for absent", func(t *testing.T) {
			made := send(t, c, "POST", "/recipients", `{"name":"X","phone":"6502529001","skipSMSNotifications":"true","useLongCodeForText":"false",
				"notes":null,"metadata":null,"skipPhoneNumberValidation":null}`).OK(t).Object(t)
			matches(t, made["skipSMSNotifications"], `true`)
			matches(t, made["useLongCodeForText"], `false`)
		})
		t.Run("a phone without a plus is one of the organization's country", func(t *testing.T) {
			made, err := p.Organizations.Create(t.Context(), lastmile.OrganizationDraft{Name: "Danish", Country: "DK", Timezone: "Europe/Copenhagen"})
			if err != nil {
				t.Fatal(err)
			}
			danish := &apptest.Client{Platform: p, Organization: made.Organization, Key: made.APIKey}
			matches(t, danish.Must(t, "POST", "/recipients", `{"name":"X","phone":"32 12 34 56"}`)["phone"], `"+4532123456"`)
			matches(t, danish.Must(t, "GET", "/recipients/phone/32123456", nil)["phone"], `"+4532123456"`)
			matches(t, danish.Must(t, "POST", "/recipients", `{"name":"X","phone":"+1 650 252 9000"}`)["phone"], `"+16502529000"`)
			invalid.check(t, c.Call(t, "POST", "/recipients", `{"name":"X","phone":"32 12 34 56"}`), "phone", "32 12 34 56")
		})
		t.Run("the validation of phone numbers can be skipped, except for the plus", func(t *testing.T) {
			for _, skip := range []string{`true`, `"true"`} {
				made := send(t, c, "POST", "/recipients", `{"name":"X","phone":"+15550001111","skipPhoneNumberValidation":`+skip+`}`).OK(t).Object(t)
				matches(t, made["phone"], `"+15550001111"`)
			}
			invalid.check(t, c.Call(t, "POST", "/recipients", `{"name":"X","phone":"+15550001111"}`), "phone")
			invalid.check(t, c.Call(t, "POST", "/recipients", `{"name":"X","phone":"15550001111","skipPhoneNumberValidation":true}`), "phone")
			invalid.check(t, c.Call(t, "POST", "/recipients", `{"name":"X","phone":"+1555x001111","skipPhoneNumberValidation":true}`), "phone")
			invalid.check(t, c.Call(t, "GET", "/recipients/phone/+15550001111", nil), "phone")
			matches(t, c.Must(t, "GET", "/recipients/phone/+15550001111?skipPhoneNumberValidation=true", nil)["phone"], `"+15550001111"`)
			notFound.check(t, c.Call(t, "GET", "/recipients/phone/+15550001112?skipPhoneNumberValidation=true", nil))
		})
		t.Run("an invalid recipient is rejected", func(t *testing.T) {
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                {``, malformed, []string{"name"}},
				"no name":                {`{"phone":"6502529000"}`, malformed, []string{"name"}},
				"a null name":            {`{"name":null,"phone":"6502529000"}`, malformed, []string{"name"}},
				"a blank name":           {`{"name":"\n","phone":"6502529000"}`, malformed, []string{"name"}},
				"a long name":            {`{"name":"` + strings.Repeat("x", 1001) + `","phone":"6502529000"}`, invalid, []string{"name", "1000"}},
				"no phone":               {`{"name":"X"}`, malformed, []string{"phone"}},
				"an empty phone":         {`{"name":"X","phone":""}`, malformed, []string{"phone"}},
				"letters for a phone":    {`{"name":"X","phone":"call me"}`, invalid, []string{"phone", "call me"}},
				"too short a phone":      {`{"name":"X","phone":"555-0142"}`, invalid, []string{"phone"}},
				"too long a phone":       {`{"name":"X","phone":"+1` + strings.Repeat("6", 500) + `"}`, invalid, []string{"phone"}},
				"an unknown area code":   {`{"name":"X","phone":"+11234567890"}`, invalid, []string{"phone"}},
				"a number for a phone":   {`{"name":"X","phone":6502529000}`, malformed, []string{"phone", "string"}},
				"long notes":             {`{"name":"X","phone":"6502529000","notes":"` + strings.Repeat("x", 10_001) + `"}`, invalid, []string{"notes", "10000"}},
				"a number for notes":     {`{"name":"X","phone":"6502529000","notes":1}`, malformed, []string{"notes", "string"}},
				"a number for a boolean": {`{"name":"X","phone":"6502529000","skipSMSNotifications":1}`, malformed, []string{"skipSMSNotifications"}},
				"a word for a boolean":   {`{"name":"X","phone":"6502529000","useLongCodeForText":"yes"}`, malformed, []string{"useLongCodeForText"}},
			} {
				t.Run(name, func(t *testing.T) { tt.want.check(t, c.Call(t, "POST", "/recipients", tt.body), tt.words...) })
			}
		})
		t.Run("a known phone updates the recipient who has it", func(t *testing.T) {
			first := c.Must(t, "POST", "/recipients", `{"name":"First","phone":"+12125550161","notes":"kept","skipSMSNotifications":true,"metadata":[{"name":"n","type":"number","value":1}]}`)
			second := c.Must(t, "POST", "/recipients", `{"name":"Second","phone":"(212) 555-0161"}`)
			matches(t, second["name"], `"Second"`)
			changed(t, "the second request", first, second, "name")
			third := c.Must(t, "POST", "/recipients", `{"name":"Third","phone":"2125550161","notes":"","skipSMSNotifications":false,"metadata":[]}`)
			changed(t, "the third request", second, third, "name", "notes", "skipSMSNotifications", "metadata")
			matches(t, third["metadata"], `[]`)
			matches(t, c.Must(t, "GET", "/recipients/"+fmt.Sprint(first["id"]), nil), string(encode(t, third)))
			notFound.check(t, c.Call(t, "GET", "/recipients/name/First", nil))
			if theirs := stranger.Must(t, "POST", "/recipients", `{"name":"Theirs","phone":"2125550161"}`); theirs["id"] == first["id"] {
				t.Error("two organizations share a recipient")
			}
			matches(t, c.Must(t, "GET", "/recipients/phone/2125550161", nil)["name"], `"Third"`)
		})
		t.Run("concurrent requests with one phone create one recipient", func(t *testing.T) {
			var group sync.WaitGroup
			made := make([]apptest.Response, 16)
			for i := range made {
				group.Go(func() {
					made[i] = send(t, c, "POST", "/recipients", fmt.Sprintf(`{"name":"Racer %d","phone":"+12125550162"}`, i))
				})
			}
			group.Wait()
			for _, a := range made {
				if a.OK(t).Object(t)["id"] != made[0].Object(t)["id"] {
					t.Errorf("two recipients: %s and %s", made[0].Body, a.Body)
				}
			}
		})
		t.Run("a recipient is found by name", func(t *testing.T) { testRecipientByName(t, c, stranger) })
		t.Run("a recipient is found by phone", func(t *testing.T) { testRecipientByPhone(t, c, stranger) })
		t.Run("an update changes only what was sent, and never the phone", func(t *testing.T) { testRecipientUpdate(t, c) })
		t.Run("metadata", func(t *testing.T) {
			testMetadata(t, p, metadataOwner{"/recipients", func(_ *apptest.Client, n int, metadata string) string {
				return fmt.Sprintf(`{"name":"X","phone":"+1212555%04d","metadata":%s}`, 1000+n, metadata)
			}, true})
		})
	})
}

func testRecipientByName(t *testing.T, c, stranger *apptest.Client) {
	phone := 300
	make := func(c *apptest.Client, name string) string {
		phone++
		return id(t, c, "/recipients", fmt.Sprintf(`{"name":%s,"phone":"+12125550%d"}`, text(name), phone))
	}
	for path, name := range map[string]string{
		"Anna%20Nowak":    "Anna Nowak",
		"%C3%89mile":      "Émile",
		"a+b":             "a+b",
		"half%2Fhalf":     "half/half",
		"end%2F":          "end/",
		"100%25":          "100%",
		"what%3F":         "what?",
		"star%2A%7E*~":    "star*~*~",
		"%22quoted%22":    `"quoted"`,
		"%F0%9F%98%80":    "😀",
		"metadata":        "metadata",
		"a;b,c&d=e":       "a;b,c&d=e",
		"' OR 1=1 --":     "' OR 1=1 --",
		"..%2F..%2Fadmin": "../../admin",
	} {
		made := make(c, name)
		path = strings.ReplaceAll(path, " ", "%20")
		if a := send(t, c, "GET", "/recipients/name/"+path, ""); a.Status != 200 || a.Object(t)["id"] != made {
			t.Errorf("/recipients/name/%s found %s, want %s", path, a.Body, made)
		}
	}
	upper := make(c, "MIXED Case Ünder")
	if got := c.Must(t, "GET", "/recipients/name/"+url.PathEscape("mixed cASE üNDER"), nil); got["id"] != upper {
		t.Errorf("found %v, want %s", got, upper)
	}
	newer := make(c, "mixed case ünder")
	if got := c.Must(t, "GET", "/recipients/name/"+url.PathEscape("Mixed Case Ünder"), nil); got["id"] != newer {
		t.Errorf("found %v, want the newest, %s", got, newer)
	}
	make(stranger, "Only Theirs")
	for _, path := range []string{"nobody", "MIXED", "%25", "_", "%20", "Only%20Theirs", "", "Anna%20Nowak%00", "%FF", "%00"} {
		notFound.check(t, send(t, c, "GET", "/recipients/name/"+path, ""))
	}
}

func testRecipientByPhone(t *testing.T, c, stranger *apptest.Client) {
	made := id(t, c, "/recipients", `{"name":"By Phone","phone":"+12125550170"}`)
	for _, path := range []string{"+12125550170", "%2B12125550170", "2125550170", "(212)%20555-0170", "1-212-555-0170", "+1%20212%20555%200170"} {
		if got := c.Must(t, "GET", "/recipients/phone/"+path, nil); got["id"] != made {
			t.Errorf("/recipients/phone/%s found %v", path, got)
		}
	}
	stranger.Must(t, "POST", "/recipients", `{"name":"Theirs","phone":"+12125550171"}`)
	notFound.check(t, c.Call(t, "GET", "/recipients/phone/+12125550171", nil))
	notFound.check(t, c.Call(t, "GET", "/recipients/phone/+12125550179", nil))
	for _, path := range []string{"12", "call%20me", "%20", "+1212555017%00"} {
		a := send(t, c, "GET", "/recipients/phone/"+path, "")
		if a.Status != 400 && a.Status != 404 {
			t.Errorf("/recipients/phone/%s responded with %d: %s", path, a.Status, a.Body)
		}
	}
	invalid.check(t, c.Call(t, "GET", "/recipients/phone/12", nil), "phone", "12")
}

func testRecipientUpdate(t *testing.T, c *apptest.Client) {
	made := c.Must(t, "POST", "/recipients", `{"name":"Ann","phone":"+12125550180","notes":"n","metadata":[{"name":"n","type":"number","value":1}]}`)
	path := "/recipients/" + fmt.Sprint(made["id"])
	for _, step := range []struct{ name, body, field, want string }{
		{"nothing", ``, "name", `"Ann"`},
		{"null", `null`, "name", `"Ann"`},
		{"nulls", `{"name":null,"notes":null,"skipSMSNotifications":null,"useLongCodeForText":null,"metadata":null}`, "notes", `"n"`},
		{"the phone", `{"phone":"+12125550181","skipPhoneNumberValidation":true}`, "phone", `"+12125550180"`},
		{"an invalid phone", `{"phone":{"not":"read"}}`, "phone", `"+12125550180"`},
		{"the name", `{"name":"Zoë"}`, "name", `"Zoë"`},
		{"the notes", `{"notes":"other"}`, "notes", `"other"`},
		{"no notes", `{"notes":""}`, "notes", `""`},
		{"a flag", `{"skipSMSNotifications":true}`, "skipSMSNotifications", `true`},
		{"a flag as text", `{"useLongCodeForText":"true"}`, "useLongCodeForText", `true`},
		{"the metadata", `{"metadata":{"$pop":["n"]}}`, "metadata", `[]`},
	} {
		before := c.Must(t, "GET", path, nil)
		updated := send(t, c, "PUT", path, step.body).OK(t).Object(t)
		matches(t, updated[step.field], step.want)
		changed(t, step.name, before, updated, step.field)
		matches(t, c.Must(t, "GET", path, nil), string(encode(t, updated)))
	}
	if got := c.Must(t, "GET", "/recipients/name/zo%C3%AB", nil); got["id"] != made["id"] {
		t.Errorf("the new name finds %v", got)
	}
	notFound.check(t, c.Call(t, "GET", "/recipients/name/Ann", nil))

	before := string(encode(t, c.Must(t, "GET", path, nil)))
	for body, want := range map[string]struct {
		rejection
		word string
	}{
		`{"name":""}`: {malformed, "name"},
		`{"name":"X","notes":"` + strings.Repeat("x", 10_001) + `"}`: {invalid, "notes"},
		`{"name":"X","skipSMSNotifications":"maybe"}`:                {malformed, "skipSMSNotifications"},
		`{"name":"X","metadata":[{}]}`:                               {malformed, "metadata[0].name"},
		`{"name":["X"]}`:                                             {malformed, "name"},
		`"name"`:                                                     {malformed, "object"},
	} {
		want.check(t, c.Call(t, "PUT", path, body), want.word)
	}
	matches(t, c.Must(t, "GET", path, nil), before)
	wrongMethod.check(t, c.Call(t, "DELETE", path, nil))
	wrongMethod.check(t, c.Call(t, "GET", "/recipients", nil))
}
