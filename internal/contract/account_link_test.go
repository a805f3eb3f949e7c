package contract_test

import (
	"encoding/base32"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/identity"
)

// factorCode returns the code that an authenticator app with a secret shows.
func factorCode(t *testing.T, p *apptest.Platform, secret any) string {
	t.Helper()
	text, _ := secret.(string)
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return identity.Code(key, identity.StepAt(p.Now()))
}

func TestSecondFactorContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		p.Accounts.Passwords = quickPasswords{}
		ada := setUp(t, p)
		signIn := func(code string) apptest.Response {
			p.Advance(10 * time.Minute) // attempts are allowed again
			return p.Browser(t).Call(t, "POST", accountBase+"/sign-in", `{"email":"ada@acme.example","password":"correct horse","code":"`+code+`"}`)
		}
		cause := func(a apptest.Response) any {
			t.Helper()
			if a.Status != http.StatusUnauthorized {
				t.Fatalf("status %d: %s", a.Status, a.Body)
			}
			return a.Object(t)["message"].(map[string]any)["cause"]
		}
		other := p.Browser(t)
		other.Call(t, "POST", accountBase+"/sign-in", right).OK(t)

		const own = `{"password":"correct horse"}`
		preconditionFailed.check(t, ada.Call(t, "PUT", accountBase+"/secondFactor", `{"code":"123456"}`))
		malformed.check(t, ada.Call(t, "POST", accountBase+"/secondFactor", `{}`), "password")
		invalid.check(t, ada.Call(t, "POST", accountBase+"/secondFactor", `{"password":"wrong password"}`), "password")
		made := ada.Call(t, "POST", accountBase+"/secondFactor", own).OK(t).Object(t)
		if !strings.HasPrefix(made["uri"].(string), "otpauth://totp/Dray:ada@acme.example?") {
			t.Errorf("the second factor is %v", made)
		}
		signIn("").OK(t) // it has no effect yet
		ada.Call(t, "GET", accountBase+"/me", nil).OK(t)
		invalid.check(t, ada.Call(t, "PUT", accountBase+"/secondFactor", `{"code":"000000"}`), "code")
		codes := ada.Call(t, "PUT", accountBase+"/secondFactor", `{"code":"`+factorCode(t, p, made["secret"])+`"}`).OK(t).Object(t)["recoveryCodes"].([]any)
		if len(codes) != 10 {
			t.Fatalf("the recovery codes are %v", codes)
		}
		if me := ada.Call(t, "GET", accountBase+"/me", nil).OK(t).Object(t); me["secondFactor"] != true {
			t.Errorf("the account is %v", me)
		}
		if other.Call(t, "GET", accountBase+"/me", nil).Status != http.StatusUnauthorized {
			t.Error("sessions without the second factor go on")
		}
		preconditionFailed.check(t, ada.Call(t, "POST", accountBase+"/secondFactor", own))

		if got := cause(signIn("")); got != "secondFactorRequired" {
			t.Errorf("without a code: %v", got)
		}
		for _, code := range []string{"000000", "abcd-efgh-ijkl-mnop", "x"} {
			if got := cause(signIn(code)); got != nil {
				t.Errorf("with a wrong code: %v", got)
			}
		}
		p.Advance(10 * time.Minute)
		code := factorCode(t, p, made["secret"])
		b := p.Browser(t)
		body := `{"email":"ada@acme.example","password":"correct horse","code":"` + code + `"}`
		b.Call(t, "POST", accountBase+"/sign-in", body).OK(t)
		if got := cause(b.Call(t, "POST", accountBase+"/sign-in", body)); got != nil {
			t.Errorf("a code was accepted twice: %v", got)
		}
		signIn(strings.ToUpper(codes[3].(string))).OK(t)
		if got := cause(signIn(codes[3].(string))); got != nil {
			t.Errorf("a recovery code was accepted twice: %v", got)
		}

		t.Run("codes cannot be guessed with the right password", func(t *testing.T) {
			b, tries := p.Browser(t), 0
			b.Address = "192.0.2.77"
			for range 20 { // a request without a code must give no attempts back
				b.Call(t, "POST", accountBase+"/sign-in", right)
				if b.Call(t, "POST", accountBase+"/sign-in", `{"email":"ada@acme.example","password":"correct horse","code":"000000"}`).Status == http.StatusUnauthorized {
					tries++
				}
			}
			if tries > 5 {
				t.Errorf("%d codes were tried", tries)
			}
			tried := map[any]int{}
			for _, e := range ada.Call(t, "GET", "/api/v2/audit?route=/account/v1/sign-in", nil).OK(t).Object(t)["entries"].([]any) {
				if entry := e.(map[string]any); entry["address"] == b.Address {
					tried[entry["attempt"]] += int(entry["count"].(float64))
				}
			}
			if tried["wrongCode"] != tries || tried["tooManyAttempts"] != 40-2*tries || tried["wrongPassword"] != 0 {
				t.Errorf("the audit log has %v", tried)
			}
		})
		t.Run("a reset keeps the second factor, unless an administrator removes it", func(t *testing.T) {
			p.Advance(time.Hour)
			c := &apptest.Client{Platform: p, Key: keyOf(t, p)}
			id := ada.Call(t, "POST", accountBase+"/sign-in", `{"email":"ada@acme.example","password":"correct horse","code":"`+codes[4].(string)+`"}`).OK(t).Object(t)["id"].(string)
			token := apptest.TokenOf(c.Must(t, "POST", "/admins/"+id+"/reset", `{}`)["link"].(string))
			if got := p.Browser(t).Call(t, "POST", accountBase+"/link", `{"token":"`+token+`"}`).OK(t).Object(t); got["kind"] != "reset" || got["secondFactor"] != true {
				t.Errorf("the link is %v", got)
			}
			accept := func(token, code string) apptest.Response {
				return p.Browser(t).Call(t, "POST", accountBase+"/link/accept", `{"token":"`+token+`","password":"a third horse","code":"`+code+`"}`)
			}
			if got := cause(accept(token, "")); got != "secondFactorRequired" {
				t.Errorf("without a code: %v", got)
			}
			if got := cause(accept(token, "000000")); got != nil {
				t.Errorf("with a wrong code: %v", got)
			}
			accept(token, codes[5].(string)).OK(t)
			tried := c.Must(t, "GET", "/audit?route=/account/v1/link/accept", nil)["entries"].([]any)
			if e := tried[1].(map[string]any); len(tried) != 2 || e["attempt"] != "wrongCode" || e["status"] != 401.0 || e["record"] != id {
				t.Errorf("the audit log has %v", tried)
			}
			token = apptest.TokenOf(c.Must(t, "POST", "/admins/"+id+"/reset", `{"removeSecondFactor":true}`)["link"].(string))
			if me := accept(token, "").OK(t).Object(t); me["secondFactor"] != false {
				t.Errorf("the account is %v", me)
			}
		})
		t.Run("the second factor is removed with the password", func(t *testing.T) {
			p.Advance(time.Hour)
			b := p.Browser(t)
			b.Call(t, "POST", accountBase+"/sign-in", `{"email":"ada@acme.example","password":"a third horse"}`).OK(t)
			made := b.Call(t, "POST", accountBase+"/secondFactor", `{"password":"a third horse"}`).OK(t).Object(t)
			b.Call(t, "PUT", accountBase+"/secondFactor", `{"code":"`+factorCode(t, p, made["secret"])+`"}`).OK(t)
			malformed.check(t, b.Call(t, "DELETE", accountBase+"/secondFactor", `{}`), "password")
			invalid.check(t, b.Call(t, "DELETE", accountBase+"/secondFactor", `{"password":"wrong password"}`), "password")
			if got := b.Call(t, "POST", accountBase+"/secondFactor/remove", `{"password":"a third horse"}`); got.Status != http.StatusNoContent {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			p.Browser(t).Call(t, "POST", accountBase+"/sign-in", `{"email":"ada@acme.example","password":"a third horse"}`).OK(t)
		})
	})
}

func TestLinkContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		p.Accounts.Passwords = quickPasswords{}
		c, stranger := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		open := func(token string) apptest.Response {
			return p.Browser(t).Call(t, "POST", accountBase+"/link", `{"token":"`+token+`"}`)
		}
		accept := func(token, password string) apptest.Response {
			return p.Browser(t).Call(t, "POST", accountBase+"/link/accept", `{"token":"`+token+`","name":"Grace H.","password":"`+password+`"}`)
		}
		invite := func(t *testing.T, email string) (id, token string) {
			id = c.Must(t, "POST", "/admins", `{"name":"Grace","email":"`+email+`","type":"super"}`)["id"].(string)
			made := c.Must(t, "POST", "/admins/"+id+"/invitation", `{}`)
			if made["sent"] != false || made["expires"] == nil {
				t.Errorf("the link is %v", made)
			}
			return id, apptest.TokenOf(made["link"].(string))
		}
		t.Run("an invitation works once, and only with a password", func(t *testing.T) {
			id, token := invite(t, "grace@acme.example")
			_, second := id, apptest.TokenOf(c.Must(t, "POST", "/admins/"+id+"/invitation", `{}`)["link"].(string))
			matches(t, open(token).OK(t).Object(t), `{"kind":"invitation","name":"Grace","email":"grace@acme.example","organization":"Acme","secondFactor":false}`)
			malformed.check(t, accept(token, ""), "password")
			invalid.check(t, accept(token, "short"), "password", "10")
			if me := accept(token, "correct horse").OK(t).Object(t); me["name"] != "Grace H." || me["isInstallationOwner"] != false {
				t.Errorf("the account is %v", me)
			}
			for _, used := range []string{token, second} {
				notFound.check(t, open(used), "link")
				notFound.check(t, accept(used, "another horse"), "link")
			}
			invalid.check(t, c.Call(t, "POST", "/admins/"+id+"/invitation", `{}`), "reset")
			p.Browser(t).Call(t, "POST", accountBase+"/sign-in", `{"email":"grace@acme.example","password":"correct horse"}`).OK(t)
			for _, admin := range list(t, c, "/admins") {
				if admin["id"] == id && admin["isActive"] != true {
					t.Errorf("the administrator is %v", admin)
				}
			}
		})
		t.Run("an invitation expires after seven days, a reset after an hour", func(t *testing.T) {
			id, token := invite(t, "late@acme.example")
			p.Advance(7*24*time.Hour - time.Minute)
			open(token).OK(t)
			p.Advance(2 * time.Minute)
			notFound.check(t, open(token), "link")
			notFound.check(t, accept(token, "correct horse"), "link")
			accept(apptest.TokenOf(c.Must(t, "POST", "/admins/"+id+"/invitation", `{}`)["link"].(string)), "correct horse").OK(t)
			reset := apptest.TokenOf(c.Must(t, "POST", "/admins/"+id+"/reset", `{}`)["link"].(string))
			p.Advance(time.Hour - time.Minute)
			open(reset).OK(t)
			p.Advance(2 * time.Minute)
			notFound.check(t, accept(reset, "another horse"), "link")
			if err := p.Accounts.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			notFound.check(t, open(reset), "link")
		})
		t.Run("a reset ends the sessions, and the old password", func(t *testing.T) {
			_, token := invite(t, "reset@acme.example")
			b := p.Browser(t)
			id := b.Call(t, "POST", accountBase+"/link/accept", `{"token":"`+token+`","password":"correct horse"}`).OK(t).Object(t)["id"].(string)
			reset := apptest.TokenOf(c.Must(t, "POST", "/admins/"+id+"/reset", `{}`)["link"].(string))
			b.Call(t, "GET", accountBase+"/me", nil).OK(t)
			accept(reset, "another horse").OK(t)
			if b.Call(t, "GET", accountBase+"/me", nil).Status != http.StatusUnauthorized {
				t.Error("the session goes on")
			}
			if b.Call(t, "POST", accountBase+"/sign-in", `{"email":"reset@acme.example","password":"correct horse"}`).Status != http.StatusUnauthorized {
				t.Error("the old password works")
			}
		})
		t.Run("a link ends when the e-mail address changes", func(t *testing.T) {
			id, token := invite(t, "old@acme.example")
			c.Must(t, "PUT", "/admins/"+id, `{"email":"new@acme.example"}`)
			notFound.check(t, accept(token, "correct horse"), "link")
		})
		t.Run("of several uses at once, one succeeds", func(t *testing.T) {
			_, token := invite(t, "race@acme.example")
			var (
				won  atomic.Int64
				race sync.WaitGroup
			)
			for range 8 {
				race.Go(func() {
					if accept(token, "correct horse").Status == http.StatusOK {
						won.Add(1)
					}
				})
			}
			race.Wait()
			if won.Load() != 1 {
				t.Errorf("%d uses succeeded", won.Load())
			}
		})
		t.Run("unknown tokens", func(t *testing.T) {
			malformed.check(t, open(""), "token")
			for _, token := range []string{"x", strings.Repeat("x", 43), strings.Repeat("x", 5000)} {
				notFound.check(t, open(token), "link")
				notFound.check(t, accept(token, "correct horse"), "link")
			}
		})
		t.Run("another organization cannot invite", func(t *testing.T) {
			id, _ := invite(t, "ours@acme.example")
			for _, path := range []string{"/invitation", "/reset"} {
				outsideScope.check(t, stranger.Call(t, "POST", "/admins/"+id+path, `{}`))
			}
			outsideScope.check(t, stranger.Call(t, "DELETE", "/admins/"+id+"/sessions", nil))
		})
	})
}

func TestSetupsAtOnceContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		var (
			won    atomic.Int64
			race   sync.WaitGroup
			tokens []string
		)
		for range 6 {
			link, err := p.Links.SetupLink(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tokens = append(tokens, apptest.TokenOf(link))
		}
		for _, token := range tokens {
			race.Go(func() {
				if p.Browser(t).Call(t, "POST", accountBase+"/setup", setupBody+token+`"}`).Status == http.StatusOK {
					won.Add(1)
				}
			})
		}
		race.Wait()
		all, err := p.Organizations.List(t.Context())
		if err != nil || won.Load() != 1 || len(all) != 1 {
			t.Errorf("%d setups succeeded, and made %d organizations: %v", won.Load(), len(all), err)
		}
	})
}

func TestSetupRejectsContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		link, err := p.Links.SetupLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		body := setupBody + apptest.TokenOf(link) + `"}`
		for what, want := range map[[2]string]rejection{
			{`"country":"US"`, `"country":"XX"`}:                            invalid,
			{`"timezone":"America/New_York"`, `"timezone":"Mars"`}:          invalid,
			{`"name":"Acme"`, `"name":" "`}:                                 malformed,
			{`"name":"Ada Lovelace"`, `"name":""`}:                          malformed,
			{`" Ada@Acme.example "`, `"ada"`}:                               invalid,
			{`"password":"correct horse"`, `"password":"short"`}:            invalid,
			{`"password":"correct horse",`, ``}:                             malformed,
			{`"language":"de"`, `"language":"xx"`}:                          invalid,
			{`"token":"` + apptest.TokenOf(link), `"token":"x`}:             notFound,
			{`"organization":{"name":"Acme",`, `"organization":{"name":7,`}: malformed,
		} {
			want.check(t, p.Browser(t).Call(t, "POST", accountBase+"/setup", strings.Replace(body, what[0], what[1], 1)))
		}
		p.Browser(t).Call(t, "POST", accountBase+"/setup", body).OK(t)
	})
}

func TestSignInThrottleContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		p.Accounts.Passwords = quickPasswords{}
		known := setUp(t, p)
		known.Address = "198.51.100.1"
		guess := func(b *apptest.Browser, email string) int {
			return b.Call(t, "POST", accountBase+"/sign-in", `{"email":"`+email+`","password":"wrong password"}`).Status
		}
		from := func(address string) *apptest.Browser {
			b := p.Browser(t)
			b.Address = address
			return b
		}
		t.Run("against one account from one address", func(t *testing.T) {
			for i := range 8 {
				want := http.StatusUnauthorized
				if i >= 5 {
					want = http.StatusTooManyRequests
				}
				for _, email := range []string{"ada@acme.example", "unknown@acme.example"} {
					if got := guess(from("192.0.2.1"), email); got != want {
						t.Errorf("attempt %d at %s: %d, want %d", i, email, got, want)
					}
				}
			}
			// Others are not affected, and neither is a browser that has signed in before.
			from("192.0.2.2").Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			known.Address = "192.0.2.1"
			known.Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			p.Advance(time.Minute)
			from("192.0.2.1").Call(t, "POST", accountBase+"/sign-in", right).OK(t)
		})
		t.Run("against one account from many addresses", func(t *testing.T) {
			p.Advance(24 * time.Hour)
			var tried int
			for i := range 40 {
				for range 4 {
					if guess(from("203.0.113."+string(rune('1'+i%9))+string(rune('0'+i/9))), "ada@acme.example") == http.StatusUnauthorized {
						tried++
					}
				}
			}
			if tried != 100 {
				t.Errorf("%d passwords were tried, want 100", tried)
			}
			known.Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			_, link, err := p.Links.ForOperator(t.Context(), "ada@acme.example", identity.Reset, false)
			if err != nil {
				t.Fatal(err)
			}
			from("203.0.113.99").Call(t, "POST", accountBase+"/link/accept", `{"token":"`+apptest.TokenOf(link.Link)+`","password":"correct horse"}`).OK(t)
		})
		t.Run("against many accounts from one address", func(t *testing.T) {
			p.Advance(24 * time.Hour)
			var tried int
			for i := range 260 {
				p.Advance(20 * time.Millisecond) // stay within the limit of requests per second
				if guess(from("192.0.2.200"), fmt.Sprintf("a%d@acme.example", i)) == http.StatusUnauthorized {
					tried++
				}
			}
			if tried < 200 || tried > 202 { // one more attempt is allowed every three seconds
				t.Errorf("%d accounts were tried, want 200 to 202", tried)
			}
			from("192.0.2.201").Call(t, "POST", accountBase+"/sign-in", right).OK(t)
		})
		t.Run("at the same time", func(t *testing.T) {
			p.Advance(24 * time.Hour)
			var (
				tried atomic.Int64
				race  sync.WaitGroup
			)
			for range 14 {
				race.Go(func() {
					if guess(from("192.0.2.50"), "ada@acme.example") == http.StatusUnauthorized {
						tried.Add(1)
					}
				})
			}
			race.Wait()
			if tried.Load() != 5 {
				t.Errorf("%d passwords were tried, want 5", tried.Load())
			}
		})
	})
}

func TestMailContract(t *testing.T) {
	t.Parallel()
	box := apptest.NewMailbox(t)
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		p.Accounts.Passwords = quickPasswords{}
		send := func() []apptest.ReceivedMail {
			t.Helper()
			if _, err := p.Mails.RunDue(t.Context()); err != nil {
				t.Log(err)
			}
			return box.Mails()
		}
		c := p.Organization(t, "Acmé")
		token := func(m apptest.ReceivedMail) string {
			t.Helper()
			_, rest, ok := strings.Cut(m.Text, p.Config.URL()+"/dashboard/#/link/")
			if !ok {
				t.Fatalf("no link in %q", m.Text)
			}
			found, _, _ := strings.Cut(rest, "\n")
			return found
		}
		if state := p.Browser(t).Call(t, "GET", accountBase+"/state", nil).OK(t).Object(t); state["mail"] != true {
			t.Errorf("the state is %v", state)
		}
		id := c.Must(t, "POST", "/admins", `{"name":"Grace","email":"grace@acme.example"}`)["id"].(string)
		mails := send()
		if len(mails) != 1 || !strings.Contains(mails[0].To, "grace@acme.example") || !strings.Contains(mails[0].Text, "Acmé") {
			t.Fatalf("the mails are %v", mails)
		}
		again := c.Must(t, "POST", "/admins/"+id+"/invitation", `{}`)
		if again["link"] != nil || again["sent"] != true {
			t.Errorf("the invitation is %v", again)
		}
		box.Reject(true)
		if got := send(); len(got) != 0 {
			t.Errorf("%d mails", len(got))
		}
		box.Reject(false)
		p.Advance(time.Minute)
		if mails = send(); len(mails) != 1 {
			t.Fatalf("a mail that was rejected is not sent again: %v", mails)
		}
		p.Browser(t).Call(t, "POST", accountBase+"/link/accept", `{"token":"`+token(mails[0])+`","password":"correct horse"}`).OK(t)

		forgot := func(email, address string) {
			t.Helper()
			b := p.Browser(t)
			b.Address = address
			if got := b.Call(t, "POST", accountBase+"/forgot", `{"email":"`+email+`"}`); got.Status != http.StatusNoContent || len(got.Body) != 0 {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		}
		forgot("unknown@acme.example", "192.0.2.1")
		if got := send(); len(got) != 0 {
			t.Errorf("a mail to an unknown address: %v", got)
		}
		forgot("GRACE@acme.example", "192.0.2.1")
		if mails = send(); len(mails) != 1 || !strings.Contains(mails[0].Subject, "password") {
			t.Fatalf("the mails are %v", mails)
		}
		p.Browser(t).Call(t, "POST", accountBase+"/link/accept", `{"token":"`+token(mails[0])+`","password":"another horse"}`).OK(t)
		sent := 0
		for range 10 {
			forgot("grace@acme.example", "192.0.2.66")
			sent += len(send())
		}
		if sent != 3 {
			t.Errorf("a stranger has sent %d mails", sent)
		}
		forgot("grace@acme.example", "192.0.2.67")
		if got := send(); len(got) != 1 {
			t.Errorf("a stranger prevents resets: %v", got)
		}
		requests := 0
		asked := c.Must(t, "GET", "/audit?route=/account/v1/forgot", nil)["entries"].([]any)
		for _, e := range asked {
			entry := e.(map[string]any)
			requests += int(entry["count"].(float64))
			if entry["attempt"] != "resetRequested" || entry["record"] != id || entry["status"] != 204.0 {
				t.Errorf("the audit log has %v", entry)
			}
		}
		if first := asked[len(asked)-1].(map[string]any); requests != 12 || len(asked) >= 12 || first["address"] != "192.0.2.1" {
			t.Errorf("the audit log has %d requests for a new password: %v", requests, asked)
		}
		malformed.check(t, p.Browser(t).Call(t, "POST", accountBase+"/forgot", `{}`), "email")
		invalid.check(t, p.Browser(t).Call(t, "POST", accountBase+"/forgot", `{"email":"x"}`), "email")
	}, func(c *app.Config) { c.SMTP, c.MailFrom = box.URL, "Dray <dray@acme.example>" })
}
