package contract_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/store/backup"
)

// TestInstallationContract reads the state of an installation and tests its services.
func TestInstallationContract(t *testing.T) {
	t.Parallel()
	var texts []string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { texts = append(texts, r.URL.Path) }))
	t.Cleanup(gateway.Close)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret of the gateway"), 0o600); err != nil {
		t.Fatal(err)
	}
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		texts = nil
		b := setUp(t, p)
		status := func() map[string]any {
			t.Helper()
			return b.Call(t, "GET", "/account/v1/installation", nil).OK(t).Object(t)
		}
		first := status()
		database := first["database"].(map[string]any)
		if first["version"] != app.Version || first["problem"] != nil || database["engine"] != p.Store.Engine() || database["bytes"].(float64) < 1000 || first["lastBackup"] != nil {
			t.Errorf("the installation is %v", first)
		}
		if queues := first["queues"].([]any); len(queues) != 9 {
			t.Errorf("the queues are %v", queues)
		}
		if strings.Contains(string(b.Call(t, "GET", "/account/v1/installation", nil).Body), "secret") {
			t.Error("the response contains a secret")
		}
		if err := backup.Record(t.Context(), p.Config.Storage(slog.New(slog.DiscardHandler), nil)); err != nil {
			t.Fatal(err)
		}
		if status()["lastBackup"] == nil {
			t.Error("the backup is not known")
		}
		test := func(body string) apptest.Response {
			t.Helper()
			return b.Call(t, "POST", "/account/v1/installation/test", body)
		}
		for body, want := range map[string]string{
			`{"service":"geocoder-1","address":"New York"}`:            `"problem":"query nominatim: `,
			`{"service":"geocoder-3","address":"New York"}`:            `"precision":"city"`,
			`{"service":"router-1","from":[-74,40.7],"to":[-74,40.8]}`: `"problem":"no imported map covers`,
			`{"service":"router-2","from":[-74,40.7],"to":[-74,40.8]}`: `"ok":true`,
			`{"service":"sms","phone":"(212) 555-0142"}`:               `"sentTo":"+12125550142"`,
		} {
			if a := test(body).OK(t); !strings.Contains(string(a.Body), want) {
				t.Errorf("%s: %s", body, a.Body)
			}
		}
		if len(texts) == 0 {
			t.Error("no text message was sent")
		}
		invalid.check(t, test(`{"service":"mail"}`), "--smtp")
		invalid.check(t, test(`{"service":"sms","phone":"12"}`), "phone")
		invalid.check(t, test(`{"service":"router-2","from":[-74,400],"to":[-74,40.8]}`), "from")
		malformed.check(t, test(`{"service":"router-2"}`), "from")
		malformed.check(t, test(`{"service":"geocoder-1"}`), "address")
		notFound.check(t, test(`{"service":"geocoder-9"}`), "geocoder-9")
		t.Run("it is for the owner", func(t *testing.T) {
			c := p.Organization(t, "Zenith")
			super, _ := c.Admin(t, `{"name":"S","email":"s@example.com","type":"super"}`)
			forbidden.check(t, super.Call(t, "GET", "/account/v1/installation", nil), "owner")
			forbidden.check(t, super.Call(t, "POST", "/account/v1/installation/test", `{"service":"mail"}`), "owner")
			unauthenticated.check(t, p.Browser(t).Call(t, "GET", "/account/v1/installation", nil))
		})
	}, func(c *app.Config) {
		c.Geocoders = []string{"nominatim+http://127.0.0.1:1/?key=secret"}
		c.SMS.Gateway, c.SMS.SecretFile = gateway.URL, secret
	})
}
