package contract_test

import (
	"slices"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// TestWebhookBacklogContract disables and deletes webhooks that have more pending
// notifications than one transaction gives up or deletes.
func TestWebhookBacklogContract(t *testing.T) {
	t.Parallel()
	receiver := apptest.NewReceiver(t)
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "backlog")
		path := "/backlog/" + string(c.Organization.ID)
		disabled, deleted := hook(t, c, receiver, path+"/disabled", 6), hook(t, c, receiver, path+"/deleted", 6)
		const backlog = 2_500
		for range backlog / 500 {
			err := p.Store.Write(t.Context(), func(w *sqlstore.Tx) error {
				return p.App.Events.Append(t.Context(), w, slices.Repeat([]lastmile.Event{{Organization: c.Organization.ID, Trigger: lastmile.TriggerTaskCreated, At: p.Now()}}, 500)...)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		count := func(hook string, state lastmile.NotificationState) (n int) {
			t.Helper()
			err := p.Store.Read(t.Context(), func(r *sqlstore.Tx) error {
				list, err := r.Notifications(t.Context(), c.Organization.ID, store.NotificationFilter{Webhook: lastmile.WebhookID(hook), State: &state})
				n = len(list)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}

		c.Call(t, "DELETE", "/webhooks/"+deleted, nil).OK(t)
		notFound.check(t, c.Call(t, "GET", "/webhooks/"+deleted+"/notifications", nil), deleted)
		c.Must(t, "PUT", "/webhooks/"+disabled, `{"isEnabled":false}`)
		matches(t, ids(list(t, c, "/webhooks")), `["`+disabled+`"]`)
		if n := count(deleted, lastmile.NotificationPending); n != backlog-1_000 {
			t.Errorf("%d notifications of a deleted webhook are left", n)
		}
		if n := count(disabled, lastmile.NotificationPending); n != backlog-1_000 {
			t.Errorf("%d notifications of a disabled webhook are left", n)
		}
		c.Must(t, "PUT", "/webhooks/"+disabled, `{"isEnabled":true}`)
		if n := count(disabled, lastmile.NotificationGivenUp); n != backlog {
			t.Errorf("%d notifications were given up before the webhook was enabled again", n)
		}

		p.RunWebhooks(t)
		task := id(t, c, "/tasks", plainTask)
		posts := receiver.Await(t, path+"/disabled", 1)
		matches(t, event(t, posts[0])["taskId"], text(task))
		apptest.Until(t, "nothing is left of a deleted webhook", func() bool { return count(deleted, lastmile.NotificationPending) == 0 })
		if n := len(receiver.Posts(path+"/disabled")) + len(receiver.Posts(path+"/deleted")); n != 1 {
			t.Errorf("%d notifications of the backlogs were sent", n-1)
		}
	}, receiver.Reach)
}
