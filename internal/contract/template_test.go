package contract_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func init() {
	register("POST /messages/templates/preview", [2]string{`{"kind":"taskEta"}`, `{"kind":"taskEta","pickup":true}`})
}

func TestMessageTemplateContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		started := func(c *apptest.Client, query string) map[string]any {
			all, _ := c.Must(t, "GET", "/messages/templates"+query, nil)["templates"].([]any)
			first, _ := all[0].(map[string]any)
			return first
		}
		usual := string(encode(t, started(c, "")))

		t.Run("every kind has a text in every language", func(t *testing.T) {
			all := c.Must(t, "GET", "/messages/templates", nil)
			templates, _ := all["templates"].([]any)
			if len(templates) != 6*2*5 || all["language"] != "en" {
				t.Errorf("there are %d texts, and the language is %v", len(templates), all["language"])
			}
			matches(t, all["languages"], `["en","es","fr","de","pt"]`)
			want := `{"kind":"taskStarted","pickup":false,"language":"en","isEnabled":true,"isOwn":false,
				"text":"{organization}: {worker} is on the way with your delivery and will be there at about {time}. Follow it here: {tracking}",
				"placeholders":["eta","organization","recipient","task","time","tracking","worker"],"preview":`
			preview, _ := started(c, "")["preview"].(map[string]any)
			matches(t, started(c, ""), want+string(encode(t, preview))+`}`)
			shown := fmt.Sprint(preview["text"])
			if !strings.HasPrefix(shown, "Acme: Alex is on the way") || preview["encoding"] != "GSM-7" || preview["length"] != float64(len(shown)) || preview["segments"] != 1.0 && preview["segments"] != 2.0 {
				t.Errorf("the preview is %v", preview)
			}
			matches(t, started(c, "?language=de")["language"], `"de"`)
			matches(t, started(c, "?language=it")["language"], `"en"`)
			invalid.check(t, c.Call(t, "GET", "/messages/templates?language=english", nil), "language", "english")
		})
		t.Run("texts change, and are restored", func(t *testing.T) {
			c.Must(t, "PUT", "/messages/templates", `{"templates":[{"kind":"taskStarted","text":"{worker} comes. €"},{"kind":"taskStarted","language":"it","text":"ciao ☺"},{"kind":"taskArrived","pickup":true,"isEnabled":true}]}`)
			own := started(c, "")
			matches(t, own["text"], `"{worker} comes. €"`)
			matches(t, own["isOwn"], `true`)
			matches(t, own["preview"], `{"text":"Alex comes. €","encoding":"GSM-7","length":14,"segments":1}`)
			matches(t, started(c, "?language=it")["preview"], `{"text":"ciao ☺","encoding":"UCS-2","length":6,"segments":1}`)
			for _, each := range c.Must(t, "GET", "/messages/templates?language=en", nil)["templates"].([]any) {
				if one, _ := each.(map[string]any); one["kind"] == "taskArrived" && one["isEnabled"] != one["pickup"] {
					t.Errorf("a message about an arrival: %v", one)
				}
			}
			c.Must(t, "PUT", "/messages/templates", `{"templates":[{"kind":"taskStarted","text":null},{"kind":"taskStarted","language":"it","text":null},{"kind":"taskArrived","pickup":true,"isEnabled":false}]}`)
			matches(t, started(c, ""), usual)
			matches(t, started(other, "")["isOwn"], `false`)
		})
		t.Run("previews save nothing", func(t *testing.T) {
			matches(t, c.Must(t, "POST", "/messages/templates/preview", `{"kind":"taskDelayed","text":"{organization}: {delay} min"}`), `{"text":"Acme: 15 min","encoding":"GSM-7","length":12,"segments":1}`)
			long := c.Must(t, "POST", "/messages/templates/preview", `{"kind":"taskDelayed","language":"es","text":"`+strings.Repeat("ñ☺", 70)+`"}`)
			if long["segments"] != 3.0 || long["length"] != 140.0 {
				t.Errorf("the preview is %v", long)
			}
			matches(t, c.Must(t, "POST", "/messages/templates/preview", `{"kind":"taskCompleted","pickup":true,"language":"de"}`)["text"], `"Acme: Die Abholung ist erledigt. Vielen Dank!"`)
			matches(t, started(c, ""), usual)
		})
		t.Run("invalid requests are rejected, and change nothing", func(t *testing.T) {
			for body, tt := range map[string]struct {
				want rejection
				word string
			}{
				`{}`:                               {malformed, "kind"},
				`{"kind":"taskLost"}`:              {invalid, "taskLost"},
				`{"kind":"invitation","text":"x"}`: {invalid, "kind"},
				`{"kind":"taskEta","language":"english"}`:                      {invalid, "language"},
				`{"kind":"taskEta","text":"{dealy}"}`:                          {invalid, "{dealy}"},
				`{"kind":"taskFailed","text":"{eta}"}`:                         {invalid, "{eta}"},
				`{"kind":"taskEta","text":"{"}`:                                {invalid, "{"},
				`{"kind":"taskEta","text":7}`:                                  {malformed, "text"},
				`{"kind":"taskEta","text":"a\u0007"}`:                          {invalid, "U+0007"},
				`{"kind":"taskEta","text":"` + strings.Repeat("x", 481) + `"}`: {invalid, "480"},
			} {
				tt.want.check(t, send(t, c, "POST", "/messages/templates/preview", body), tt.word)
				tt.want.check(t, send(t, c, "PUT", "/messages/templates", `{"templates":[{"kind":"taskStarted","text":"changed"},`+body+`]}`), tt.word, "templates[1]")
			}
			malformed.check(t, send(t, c, "PUT", "/messages/templates", `{}`), "templates")
			malformed.check(t, send(t, c, "PUT", "/messages/templates", `{"templates":{}}`), "templates")
			many := `{"templates":[` + strings.TrimSuffix(strings.Repeat(`{"kind":"taskEta"},`, 101), ",") + `]}`
			invalid.check(t, send(t, c, "PUT", "/messages/templates", many), "100")
			matches(t, started(c, ""), usual)
		})
	})
}

func TestMessageListContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Other")
		team := driverTeam(t, c, "Texts", true)
		worker, phone := driver(t, c, team, "+12125550371")
		task := driverTask(t, c, map[string]any{
			"container":  map[string]any{"type": "WORKER", "worker": worker},
			"recipients": []any{map[string]any{"name": "R", "phone": "+12125550199"}},
		})
		phone.do(t, "start", task, "s", nil)
		reached(t, p)
		later := fmt.Sprint(p.Now().UnixMilli() + 1)

		t.Run("lists are filtered", func(t *testing.T) {
			all := list(t, c, "/messages")
			if len(all) != 2 {
				t.Fatalf("the messages are %v", all)
			}
			about, invitation := fmt.Sprint(all[0]["id"]), fmt.Sprint(all[1]["id"])
			if text := fmt.Sprint(all[0]["text"]); !strings.HasPrefix(text, "Acme: ") || all[0]["timeSent"] == nil || all[1]["text"] != nil {
				t.Errorf("the messages are %v", all)
			}
			now := fmt.Sprintf("%.0f", all[1]["timeCreated"])
			for query, want := range map[string][]string{
				"task=" + task: {about}, "task=" + unknownID: {}, "phone=%2B12125550199": {about}, "phone=2125550371": {invitation}, "phone=%2B12125550111": {},
				"status=sent": {about, invitation}, "status=delivered": {}, "failed=true": {}, "from=" + now: {about, invitation}, "from=" + later: {}, "to=" + now: {},
				"to=" + later: {about, invitation}, "to=" + later + "&before=" + about: {invitation}, "to=" + later + "&before=" + invitation: {},
				"from=1&to=" + later + "&task=" + task + "&phone=%2B12125550199&status=sent": {about}, "before=" + unknownID + "&to=" + later: {},
			} {
				if got := ids(list(t, c, "/messages?"+query)); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s lists %v, want %v", query, got, want)
				}
				if theirs := list(t, other, "/messages?"+query); len(theirs) != 0 {
					t.Errorf("%s shows another organization %v", query, theirs)
				}
			}
			for query, want := range map[string]rejection{"status=lost": malformed, "from=x": malformed, "to=-1": invalid, "from=2&to=1": invalid, "phone=12": invalid, "failed=maybe": malformed, "before=x": invalid} {
				want.check(t, c.Call(t, "GET", "/messages?"+query, nil))
			}
		})
		reply := func(id, body string) {
			t.Helper()
			if err := p.Messages.Receive(t.Context(), lastmile.Reply{Gateway: "test", ID: id, From: "+12125550199", To: "+12125550100", Body: body}); err != nil {
				t.Fatal(err)
			}
		}
		t.Run("replies are listed", func(t *testing.T) {
			reply("1", "Ring twice <please>")
			reply("1", "Ring twice <please>")
			reply("2", "Thanks")
			all := list(t, c, "/messages/replies")
			matches(t, all, `[{"id":"<id>","time":"<now>","from":"+12125550199","to":"+12125550100","text":"Thanks"},{"id":"<id>","time":"<now>","from":"+12125550199","to":"+12125550100","text":"Ring twice <please>"}]`)
			older := list(t, c, "/messages/replies?phone=2125550199&before="+fmt.Sprint(all[0]["id"]))
			if len(older) != 1 || older[0]["id"] != all[1]["id"] {
				t.Errorf("older replies are %v", older)
			}
			matches(t, list(t, c, "/messages/replies?phone=%2B12125550371"), `[]`)
			matches(t, list(t, other, "/messages/replies"), `[]`)
			invalid.check(t, c.Call(t, "GET", "/messages/replies?phone=12", nil))
		})
		t.Run("opt-outs are listed and ended", func(t *testing.T) {
			matches(t, list(t, c, "/messages/optOuts"), `[]`)
			reply("3", "STOP")
			matches(t, list(t, c, "/messages/optOuts"), `[{"phone":"+12125550199","time":"<now>"}]`)
			matches(t, list(t, c, "/messages/optOuts?after=%2B12125550199"), `[]`)
			matches(t, list(t, other, "/messages/optOuts"), `[]`)
			muted := func() any { return c.Must(t, "GET", "/recipients/phone/2125550199", nil)["skipSMSNotifications"] }
			matches(t, muted(), `true`)
			notFound.check(t, other.Call(t, http.MethodDelete, "/messages/optOuts/%2B12125550199", nil))
			notFound.check(t, c.Call(t, http.MethodDelete, "/messages/optOuts/%2B12125550198", nil))
			invalid.check(t, c.Call(t, http.MethodDelete, "/messages/optOuts/12", nil))
			c.Call(t, http.MethodDelete, "/messages/optOuts/2125550199", nil).OK(t)
			matches(t, list(t, c, "/messages/optOuts"), `[]`)
			matches(t, muted(), `false`)
			notFound.check(t, c.Call(t, http.MethodDelete, "/messages/optOuts/2125550199", nil))
		})
	})
}
