package contract_test

import (
	"fmt"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

func TestManifestContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		in := `,"container":{"type":"WORKER","worker":"` + r.ada + `"}`
		opens := time.Now().Add(4 * time.Hour).UnixMilli()
		second := r.task(t, in)
		active := r.task(t, in)
		first := r.task(t, in, fmt.Sprintf(`,"completeAfter":%d,"completeBefore":%d`, opens, opens+3_600_000))
		r.Must(t, "PUT", "/containers/workers/"+r.ada, `{"tasks":`+idList(first, second, active)+`}`)
		direct := "/integrations/manifest/generate?hubId=" + r.hub + "&workerId=" + r.ada
		ask := func(t testing.TB, dates string) map[string]any {
			t.Helper()
			return r.Must(t, "POST", "/integrations/marketplace"+dates, `{"path":"providers/manifest/generate?hubId=`+r.hub+`&workerId=`+r.ada+`","method":"GET"}`)
		}
		tasks := func(t testing.TB, m map[string]any) (got []string) {
			t.Helper()
			for _, task := range m["tasks"].([]any) {
				got = append(got, fmt.Sprint(task.(map[string]any)["id"]))
			}
			return got
		}
		shape := func(departure string, tasks ...string) string {
			list := ""
			for i, task := range tasks {
				if i > 0 {
					list += ","
				}
				list += string(encode(t, r.read(t, "/tasks", task)))
			}
			return `{"manifestDate":"<now>","departureTime":` + departure + `,"driver":{"name":"W","phone":"+12125550101"},
				"vehicle":{"type":"CAR","description":null,"licensePlate":null,"color":"red","timeLastModified":"<now>"},
				"hubAddress":"1 Main St, Springfield, IL 62701, United States","tasks":[` + list + `],"turnByTurn":[],"totalDistance":null}`
		}
		t.Run("it contains the driver, the vehicle, the hub, and every task in the order of the route", func(t *testing.T) {
			want := shape(fmt.Sprint(opens), first, second, active)
			matches(t, r.Must(t, "GET", direct, nil), want)
			matches(t, ask(t, ""), want)
		})
		t.Run("the active task comes first", func(t *testing.T) {
			r.begin(t, active)
			matches(t, ask(t, ""), shape(`"<now>"`, active, first, second))
		})
		t.Run("tasks of other days are left out", func(t *testing.T) {
			before, after := fmt.Sprintf("endDate=%d", opens-1), fmt.Sprintf("startDate=%d", opens+3_600_001)
			for _, dates := range []string{before, after} {
				matches(t, tasks(t, ask(t, "?"+dates)), idList(active, second))
				matches(t, tasks(t, r.Must(t, "GET", direct+"&"+dates, nil)), idList(active, second))
			}
			matches(t, tasks(t, ask(t, fmt.Sprintf("?startDate=%d&endDate=%d", opens, opens))), idList(active, first, second))
		})
		t.Run("a worker on foot with nothing to do has an empty one", func(t *testing.T) {
			m := r.Must(t, "GET", "/integrations/manifest/generate?hubId="+r.hub+"&workerId="+r.bob, nil)
			has(t, m, "vehicle", nil)
			has(t, m, "tasks", []string{})
			has(t, m, "departureTime", "<now>")
		})
		t.Run("requests in the forms that clients send", func(t *testing.T) {
			for _, body := range []string{
				`{"path":"/providers/manifest/generate?workerId=` + r.ada + `&hubId=` + r.hub + `"}`,
				`{"path":"providers/manifest/generate?hubId=` + r.hub + `&workerId=` + r.ada + `","method":"get"}`,
			} {
				send(t, r.Client, "POST", "/integrations/marketplace", body, "X-API-Key", "Google key").OK(t)
			}
		})
		t.Run("with an idempotency key it is generated again, because nothing is changed", func(t *testing.T) {
			const path, key = "/integrations/marketplace", "Idempotency-Key"
			for _, worker := range []string{r.ada, r.ada, r.bob} {
				body := `{"path":"providers/manifest/generate?hubId=` + r.hub + `&workerId=` + worker + `","method":"GET"}`
				if got := r.Call(t, "POST", path, body, key, "one").OK(t); got.Header.Get("Idempotent-Replayed") != "" {
					t.Errorf("the manifest of %s is a repeated response: %s", worker, got.Body)
				}
			}
		})
		t.Run("invalid requests are rejected", func(t *testing.T) {
			theirs := newRoads(t, p, "Zenith")
			for query, want := range map[string]rejection{
				"":                  malformed,
				"hubId=" + r.hub:    malformed,
				"workerId=" + r.ada: malformed,
				"hubId=" + unknownID + "&workerId=" + r.ada:  notFound,
				"hubId=" + r.hub + "&workerId=" + unknownID:  notFound,
				"hubId=" + theirs.hub + "&workerId=" + r.ada: outsideScope,
				"hubId=" + r.hub + "&workerId=" + theirs.ada: outsideScope,
				"hubId=" + r.ada + "&workerId=" + r.hub:      notFound,
			} {
				want.check(t, r.Call(t, "GET", "/integrations/manifest/generate?"+query, nil))
				want.check(t, r.Call(t, "POST", "/integrations/marketplace", `{"path":"providers/manifest/generate?`+query+`","method":"GET"}`))
			}
			for body, want := range map[string]rejection{
				`{}`:                                 malformed,
				`null`:                               malformed,
				`{"path":""}`:                        malformed,
				`{"path":"providers/other?hubId=x"}`: invalid,
				`{"path":"http://example.com/providers/manifest/generate"}`:                                           invalid,
				`{"path":"providers/manifest/generate?hubId=` + r.hub + `&workerId=` + r.ada + `","method":"DELETE"}`: invalid,
				`{"path":"providers/manifest/generate?hubId=%zz"}`:                                                    malformed,
			} {
				want.check(t, send(t, r.Client, "POST", "/integrations/marketplace", body))
			}
			malformed.check(t, r.Call(t, "GET", direct+"&startDate=monday", nil))
		})
	})
}
