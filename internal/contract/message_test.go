package contract_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
)

// TestMessageContract checks that an organization can read which text messages were not
// sent, and why.
func TestMessageContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Other")
		team := driverTeam(t, c, "Texts", true)
		worker, phone := driver(t, c, team, "+12125550371")
		abroad := c.Call(t, http.MethodPost, "/workers", map[string]any{"name": "W", "phone": "+33612345678", "teams": []string{team}})
		invalid.check(t, abroad, "+33612345678", "only to numbers of US, CA", "FR")
		task := driverTask(t, c, map[string]any{
			"container":  map[string]any{"type": "WORKER", "worker": worker},
			"recipients": []any{map[string]any{"name": "R", "phone": "+33612345678"}},
		})
		phone.do(t, "start", task, "s", nil)
		reached(t, p)
		want := "Acme: W is on the way with your delivery. Follow it here: " + fmt.Sprint(c.Must(t, http.MethodGet, "/tasks/"+task, nil)["trackingURL"])
		matches(t, list(t, c, "/messages?failed=true"), `[{"id":"<id>","timeCreated":"<now>","timeSent":null,"kind":"taskStarted","task":"`+task+`","to":"+33612345678","text":`+text(want)+`,
			"state":"suppressed","reason":"text messages are sent only to numbers of US, CA, and this one is of FR"}]`)
		all := list(t, c, "/messages")
		if len(all) != 2 || all[1]["kind"] != "invitation" || all[1]["state"] != "sent" || all[1]["task"] != nil || all[1]["reason"] != nil {
			t.Errorf("the messages are %v", all)
		}
		if a := c.Call(t, http.MethodGet, "/messages", nil); strings.Contains(string(a.Body), "password") {
			t.Errorf("the list contains a password: %s", a.Body)
		}
		last, _ := all[0]["id"].(string)
		if older := list(t, c, "/messages?before="+last); len(older) != 1 || older[0]["id"] != all[1]["id"] {
			t.Errorf("older messages are %v", older)
		}
		if theirs := list(t, other, "/messages?before="+last); len(theirs) != 0 {
			t.Errorf("another organization sees %v", theirs)
		}
	}, func(c *app.Config) { c.SMS.Countries = []string{"us", "CA"} })
}
