package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/store/engine/enginetest"
)

// TestCommitWithUnknownOutcome loses the connection to PostgreSQL while a change is
// committed, before and after the server gets the commit. A request with an
// idempotency key is served once; a request without one gets an error that says
// that the change may or may not have been saved.
func TestCommitWithUnknownOutcome(t *testing.T) {
	t.Parallel()
	proxy := enginetest.NewProxy(t)
	proxy.Marked = "Lost and found"
	p := apptest.New(t, func(c *app.Config) { c.Database = proxy.URL })
	client := p.Organization(t, "Acme")
	teams := func(name string) (n int) {
		for _, team := range client.Call(t, "GET", "/teams", nil).OK(t).List(t) {
			if team["name"] == name {
				n++
			}
		}
		return n
	}
	for name, test := range map[string]struct {
		cut      func(bool)
		saved    int
		replayed string
	}{
		"the server gets the commit": {proxy.CutAfterCommit.Store, 1, "true"},
		"the server gets no commit":  {proxy.CutBeforeCommit.Store, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			body := func(team string) string { return fmt.Sprintf(`{"name":%q,"workers":[],"managers":[]}`, team) }
			keyed := "Lost and found with a key, " + name
			test.cut(true)
			reply := client.Call(t, "POST", "/teams", body(keyed), "Idempotency-Key", keyed).OK(t)
			if got := reply.Header.Get("Idempotent-Replayed"); got != test.replayed {
				t.Errorf("Idempotent-Replayed is %q, want %q", got, test.replayed)
			}
			again := client.Call(t, "POST", "/teams", body(keyed), "Idempotency-Key", keyed).OK(t)
			if reply.Object(t)["id"] != again.Object(t)["id"] || teams(keyed) != 1 {
				t.Errorf("%d teams; the responses were %s and %s", teams(keyed), reply.Body, again.Body)
			}

			without := "Lost and found without a key, " + name
			test.cut(true)
			message := client.Call(t, "POST", "/teams", body(without)).Rejected(t, 500, 2504)
			if !strings.Contains(message, "may or may not") {
				t.Errorf("the error says %q", message)
			}
			// The server may still be busy with the commit when the connection is lost.
			apptest.Until(t, fmt.Sprint(test.saved, " teams are saved"), func() bool { return teams(without) == test.saved })
		})
	}
}
