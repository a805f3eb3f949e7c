package contract_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestGeofenceContract(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c := p.Organization(t, "Fenced")
		worker, mobile := driver(t, c, driverTeam(t, c, "T", false), "+12125550501")
		fence := func(level lastmile.GeofenceLevel) {
			t.Helper()
			c.Set(t, lastmile.Settings{Geofence: lastmile.Geofence{Level: level, Radius: 100}})
		}
		started := func(t *testing.T) string {
			t.Helper()
			task := taskOf(t, c, worker, 40.7, nil)
			mobile.do(t, "start", task, "s"+task, nil)
			return task
		}
		far, close := []float64{-74, 40.71}, []float64{-74, 40.7005}
		done := func(action string, at any) map[string]any {
			return map[string]any{"actionId": action, "success": true, "location": at, "time": p.Now().UnixMilli()}
		}

		t.Run("without a geofence, a task has no list of attempts", func(t *testing.T) {
			task := started(t)
			got := mobile.do(t, "complete", task, "c", done("c1", far))
			if _, there := got["geofenceAttempts"]; there {
				t.Errorf("geofenceAttempts %v", got["geofenceAttempts"])
			}
			if got["completedWithGeofenceWarning"] != false {
				t.Errorf("warned %v", got["completedWithGeofenceWarning"])
			}
		})
		t.Run("with a geofence, a task has an empty list of attempts", func(t *testing.T) {
			older := taskOf(t, c, worker, 40.7, nil)
			fence(lastmile.GeofenceWarn)
			defer fence(lastmile.GeofenceOff)
			body := `{"destination":` + inline + `,"recipients":[]}`
			made := c.Must(t, http.MethodPost, "/tasks", body)
			path := "/tasks/" + fmt.Sprint(made["id"])
			batch := c.Must(t, http.MethodPost, "/tasks/batch", `{"tasks":[`+body+`]}`)["tasks"].([]any)[0].(map[string]any)
			for what, got := range map[string]map[string]any{
				"created": made, "read": c.Must(t, http.MethodGet, path, nil), "cloned": c.Must(t, http.MethodPost, path+"/clone", nil), "of a batch": batch,
				"started": mobile.do(t, "start", older, "s"+older, nil),
			} {
				if matches(t, got["geofenceAttempts"], `[]`); got["completedWithGeofenceWarning"] != false {
					t.Errorf("%s: warned %v", what, got["completedWithGeofenceWarning"])
				}
			}
			mobile.do(t, "complete", older, "c", done("c"+older, close))
		})
		t.Run("with a warning, the task is completed and the attempt recorded", func(t *testing.T) {
			fence(lastmile.GeofenceWarn)
			task := started(t)
			mobile.call(t, http.MethodPost, "/tasks/"+task+"/complete", done("w1", far)).OK(t)
			got := c.Must(t, http.MethodGet, "/tasks/"+task, nil)
			if got["state"] != 3.0 || got["completedWithGeofenceWarning"] != true {
				t.Errorf("state %v, warned %v", got["state"], got["completedWithGeofenceWarning"])
			}
			matches(t, got["geofenceAttempts"], `[{"type":1,"location":[-74,40.71],"timestamp":"<now>"}]`)
		})
		t.Run("near the destination, there is no warning", func(t *testing.T) {
			task := started(t)
			mobile.call(t, http.MethodPost, "/tasks/"+task+"/complete", done("w2", close)).OK(t)
			got := c.Must(t, http.MethodGet, "/tasks/"+task, nil)
			matches(t, got["geofenceAttempts"], `[]`)
			if got["completedWithGeofenceWarning"] != false {
				t.Errorf("warned %v", got["completedWithGeofenceWarning"])
			}
		})
		t.Run("a block rejects the completion and records the attempt", func(t *testing.T) {
			fence(lastmile.GeofenceBlock)
			task := started(t)
			attempt := done("b1", far)
			for range 2 { // the phone did not receive the response
				if said := mobile.call(t, http.MethodPost, "/tasks/"+task+"/complete", attempt).Rejected(t, 400, 1000); !strings.Contains(said, "100 metres") {
					t.Errorf("said %q", said)
				}
			}
			mobile.call(t, http.MethodPost, "/tasks/"+task+"/complete", map[string]any{"actionId": "b0", "success": true}).Rejected(t, 400, 1900)
			got := c.Must(t, http.MethodGet, "/tasks/"+task, nil)
			matches(t, got["geofenceAttempts"], `[{"type":2,"location":[-74,40.71],"timestamp":"<now>"}]`)
			if got["state"] != 2.0 {
				t.Errorf("state %v", got["state"])
			}
			mobile.call(t, http.MethodPost, "/tasks/"+task+"/complete", done("b1", close)).OK(t)
			if got := c.Must(t, http.MethodGet, "/tasks/"+task, nil); got["state"] != 3.0 || got["completedWithGeofenceWarning"] != false {
				t.Errorf("state %v, warned %v", got["state"], got["completedWithGeofenceWarning"])
			}
		})
		t.Run("an action without a location uses the worker's position", func(t *testing.T) {
			task := started(t)
			mobile.at(t, 40.71)
			bare := map[string]any{"actionId": "p1", "success": true}
			mobile.call(t, http.MethodPost, "/tasks/"+task+"/complete", bare).Rejected(t, 400, 1000)
			p.Advance(time.Minute)
			mobile.at(t, 40.7)
			mobile.call(t, http.MethodPost, "/tasks/"+task+"/complete", bare).OK(t)
		})
		t.Run("a dispatcher can complete the task anywhere", func(t *testing.T) {
			task := started(t)
			c.Call(t, http.MethodPost, "/tasks/"+task+"/complete", map[string]any{"completionDetails": map[string]any{"success": true}}).OK(t)
		})
	})
}

func TestTrackerAppContract(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c := p.Organization(t, "Trackers")
		worker, mobile := driver(t, c, driverTeam(t, c, "T", false), "+12125550502")
		made := func() string {
			token, _ := mobile.call(t, http.MethodPost, "/tracker", nil).OK(t).Object(t)["token"].(string)
			return token
		}
		send := func(method, query, kind, body string) apptest.Response {
			return exchange(t, method, p.URL+"/driver/v1/osmand"+query, io.Reader(strings.NewReader(body)), "Content-Type", kind)
		}
		located := func(t *testing.T, want string) {
			t.Helper()
			if got := fmt.Sprint(c.Must(t, http.MethodGet, "/workers/"+worker, nil)["location"]); got != want {
				t.Errorf("the worker is at %s, want %s", got, want)
			}
		}
		token := made()
		at := func(lat float64, more string) string {
			return fmt.Sprintf("id=%s&lat=%g&lon=-74&hdop=4.5&altitude=12.3&speed=10.5&bearing=90&batt=81.0%s", url.QueryEscape(token), lat, more)
		}
		tests := map[string]struct {
			method, query, kind, body string
			want                      string
		}{
			"as OsmAnd sends it":             {"GET", "?" + at(40.701, fmt.Sprintf("&timestamp=%d", p.Now().UnixMilli())), "", "", "[-74 40.701]"},
			"as older clients of Traccar do": {"POST", "?" + at(40.702, fmt.Sprintf("&timestamp=%d&charge=true&accuracy=5", p.Now().Unix()+10)), "", "", "[-74 40.702]"},
			"as a form":                      {"POST", "", "application/x-www-form-urlencoded", at(40.703, fmt.Sprintf("&timestamp=%d", p.Now().Unix()+20)), "[-74 40.703]"},
			"as newer clients do": {"POST", "", "application/json", fmt.Sprintf(
				`{"location":{"timestamp":%q,"coords":{"latitude":40.704,"longitude":-74,"accuracy":5,"speed":-1,"heading":90,"altitude":10},"is_moving":true,"battery":{"level":0.8,"is_charging":false},"extras":{}},"device_id":%q}`,
				p.Now().Add(30*time.Second).Format(time.RFC3339Nano), token), "[-74 40.704]"},
			"in one parameter": {"GET", fmt.Sprintf("?deviceid=%s&location=40.7045,-74&timestamp=%d", token, p.Now().Unix()+40), "", "", "[-74 40.7045]"},
		}
		for _, name := range []string{"as OsmAnd sends it", "as older clients of Traccar do", "as a form", "as newer clients do", "in one parameter"} {
			test := tests[name]
			t.Run(name, func(t *testing.T) {
				matches(t, send(test.method, test.query, test.kind, test.body).OK(t).Object(t), `{"accepted":1}`)
				located(t, test.want)
			})
		}
		t.Run("the charge of the phone is shown", func(t *testing.T) {
			matches(t, c.Must(t, http.MethodGet, "/workers/"+worker, nil)["userData"], `{"batteryLevel":0.8}`)
		})
		t.Run("without a time, the position is of now", func(t *testing.T) {
			p.Advance(time.Minute)
			send("GET", "?"+at(40.705, ""), "", "").OK(t)
			located(t, "[-74 40.705]")
		})
		for name, test := range map[string]struct {
			query string
			want  rejection
		}{
			"no token":                 {"?lat=1&lon=2", unauthenticated},
			"a wrong token":            {"?id=" + strings.Repeat("x", 32) + "&lat=1&lon=2", unauthenticated},
			"a session's token":        {"?id=" + mobile.token + "&lat=1&lon=2", unauthenticated},
			"no latitude":              {"?id=" + token + "&lon=2", malformed},
			"no longitude":             {"?id=" + token + "&lat=2", malformed},
			"text for a number":        {"?id=" + token + "&lat=north&lon=2", malformed},
			"a location off the earth": {"?id=" + token + "&lat=91&lon=2", invalid},
			"an invalid time":          {"?id=" + token + "&lat=1&lon=2&timestamp=yesterday", malformed},
			"a time of long ago":       {"?id=" + token + "&lat=1&lon=2&timestamp=12", invalid},
		} {
			t.Run(name, func(t *testing.T) { test.want.check(t, send("GET", test.query, "", "")) })
		}
		t.Run("the token does nothing else", func(t *testing.T) {
			thief := &phone{platform: p, token: token}
			thief.call(t, http.MethodGet, "/me", nil).Rejected(t, 401, 1102)
			thief.call(t, http.MethodPost, "/positions", map[string]any{"positions": []any{}}).Rejected(t, 401, 1102)
		})
		t.Run("a new token replaces the old one, and each can be ended", func(t *testing.T) {
			old := token
			token = made()
			send("GET", "?id="+old+"&lat=1&lon=2", "", "").Rejected(t, 401, 1102)
			send("GET", "?"+at(40.705, ""), "", "").OK(t)
			mobile.call(t, http.MethodDelete, "/tracker", nil).OK(t)
			send("GET", "?"+at(40.705, ""), "", "").Rejected(t, 401, 1102)
		})
	})
}
