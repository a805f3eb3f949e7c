package contract_test

import (
	"net/http"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func init() {
	register("PUT /workers/{id}/image", [2]string{}, idPlace{field: "{id}", kind: "worker", body: "no image", missing: notFound, own: invalid})
	register("DELETE /workers/{id}/image", [2]string{}, idPlace{field: "{id}", kind: "worker", missing: notFound})
}

func TestWorkerImageContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		team := driverTeam(t, c, "North", false)
		worker, phone := hire(t, c, team, "+12125550331")
		_, colleague := hire(t, c, team, "+12125550332")
		path := "/workers/" + worker + "/image"
		set := func(n int) string {
			t.Helper()
			return c.Call(t, http.MethodPut, path, numbered(t, n)).OK(t).Object(t)["uploadId"].(string)
		}
		image := func() any { return c.Must(t, "GET", "/workers/"+worker, nil)["imageUrl"] }
		first := set(1)
		if got := image(); got != p.Config.URL()+"/api/v2/uploads/"+first {
			t.Errorf("imageUrl is %v", got)
		}
		c.Call(t, "GET", "/uploads/"+first, nil).OK(t)
		phone.call(t, "GET", "/uploads/"+first, nil).OK(t)
		outsideScope.check(t, colleague.call(t, "GET", "/uploads/"+first, nil))
		outsideScope.check(t, other.Call(t, "GET", "/uploads/"+first, nil))
		second := set(2)
		notFound.check(t, c.Call(t, "GET", "/uploads/"+first, nil))
		if got := image(); !strings.HasSuffix(got.(string), second) {
			t.Errorf("imageUrl is %v, want that of %s", got, second)
		}
		if names := triggers(t, c, "workerId", worker); len(names) < 2 || names[len(names)-1] != "workerUpdated" {
			t.Errorf("the events are %v", names)
		}
		invalid.check(t, c.Call(t, http.MethodPut, path, []byte("no image")))
		tooLarge.check(t, c.Call(t, http.MethodPut, path, make([]byte, lastmile.MaxLogo+1)))
		tooLarge.check(t, c.Call(t, http.MethodPut, path, noise(t, 400)), "re-encoded")
		c.Call(t, http.MethodGet, "/uploads/"+second, nil).OK(t)
		for range 2 {
			c.Call(t, http.MethodDelete, path, nil).OK(t)
			if image() != nil {
				t.Error("the photo is still there")
			}
		}
		notFound.check(t, c.Call(t, "GET", "/uploads/"+second, nil))

		third := set(3)
		p.Advance(lastmile.UnusedUploadRetention * 2)
		if err := p.Uploads.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Call(t, "GET", "/uploads/"+third, nil).OK(t)
		c.Call(t, http.MethodDelete, "/workers/"+worker, nil).OK(t)
		notFound.check(t, c.Call(t, "GET", "/uploads/"+third, nil))
	})
}
