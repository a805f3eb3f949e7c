package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store/storetest"
)

// Other organizations create and assign tasks while one fills a team with batches. On
// PostgreSQL their transactions must not conflict so often that one is given up.
func TestBatchesForATeamNextToOtherOrganizations(t *testing.T) {
	d := newDispatch(t, 1, 0, app.Config{Data: t.TempDir(), Database: storetest.Postgres(t)})
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	others := make([]*dispatch, 3)
	for i := range others {
		made, err := d.nodes[0].Organizations.Create(ctx, lastmile.OrganizationDraft{Name: "Other", Country: "US", Timezone: "America/New_York"})
		if err != nil {
			t.Fatal(err)
		}
		o := &dispatch{nodes: d.nodes, servers: d.servers, http: d.http, org: made.Organization.ID, key: made.APIKey}
		others[i] = o
		team := o.id(t, "/teams", `{"name":"Yard","workers":[],"managers":[]}`)
		worker := o.id(t, "/workers", fmt.Sprintf(`{"name":"W","phone":"+121255501%02d","teams":[%q]}`, i, team))
		for range 3 {
			working.Go(func() {
				for ctx.Err() == nil {
					id := o.id(t, "/tasks", placedTask(""))
					o.must(t, http.MethodPut, "/containers/workers/"+worker, fmt.Sprintf(`{"tasks":[-1,%q]}`, id))
					time.Sleep(20 * time.Millisecond)
				}
			})
		}
	}
	item := placedTask(fmt.Sprintf(`,"container":{"type":"TEAM","team":%q}`, d.team))
	batch := `{"tasks":[` + strings.Repeat(item+",", 99) + item + `]}`
	for range 10 {
		if made, _ := d.must(t, http.MethodPost, "/tasks/batch", batch)["tasks"].([]any); len(made) != 100 {
			t.Errorf("a batch created %d tasks", len(made))
		}
	}
	stop()
	working.Wait()
	for i, o := range append(others, d) {
		if n := o.retried.Load(); n > 0 {
			t.Errorf("%d requests of organization %d were rejected with 503", n, i)
		}
	}
}

// placedTask is a new task with a location. More is put before its end.
func placedTask(more string) string {
	return `{"destination":{"address":{"number":"1","street":"Main","city":"New York","country":"US"},"location":[-74,40.7]},"recipients":[]` + more + `}`
}
