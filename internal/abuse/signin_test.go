package abuse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// signInAttacks need no credentials.
var signInAttacks = []attack{
	{name: "sign-ins with passwords of 1 MiB", run: func(ctx context.Context, w *world, by *tenant) {
		body := map[string]any{"phone": w.honest.phone, "password": strings.Repeat("x", 1<<20)}
		text := encode(body)
		mob(ctx, 90, time.Second, func(ctx context.Context, _, _ int) {
			by.anonymous.post(ctx, "/driver/v1/login", text)
		})
	}},
	{name: "guesses at one phone number", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 100, 500*time.Millisecond, func(ctx context.Context, member, turn int) {
			body := map[string]any{"phone": w.honest.phone, "password": fmt.Sprintf("guess %d %d", member, turn)}
			if a := by.anonymous.post(ctx, "/driver/v1/login", body); a.status == http.StatusOK {
				by.statuses.fault("a guess signed in")
			}
		})
	}},
	{name: "guesses at many phone numbers from many networks", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 60, 300*time.Millisecond, func(ctx context.Context, member, turn int) {
			guest := *by.anonymous
			guest.from = fmt.Sprintf("10.%d.%d.%d", by.number, rand.IntN(256), rand.IntN(256))
			guest.post(ctx, "/driver/v1/login", map[string]any{"phone": fmt.Sprintf("+1212555%04d", rand.IntN(10_000)), "password": "guess"})
		})
	}},
	{name: "invalid API keys and tokens", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 30, 500*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.anonymous.with(keyOf(fmt.Sprintf("dray_%044d", turn))).get(ctx, "/api/v2/auth/test")
			by.anonymous.with(fmt.Sprintf("Bearer %044d", turn)).get(ctx, "/driver/v1/me")
			by.anonymous.get(ctx, fmt.Sprintf("/t/%024d/state", turn))
			by.anonymous.post(ctx, "/driver/v1/osmand?id="+fmt.Sprint(turn), nil)
		})
	}},
}
