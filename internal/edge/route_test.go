package edge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

// The types of an API for the tests: the body of a request, the result of a use case, and
// the response.
type (
	bellBody struct {
		Tone string `json:"tone"`
	}
	bell      struct{ tone, maker string }
	bellReply struct {
		Tone string `json:"tone"`
	}
)

func newBellReply(b bell) bellReply { return bellReply{Tone: b.tone} }

// receipts contains none, and records whether and for which caller CheckReplay was called.
type receipts struct {
	checked bool
	caller  string
}

func (r *receipts) CheckReplay(ctx context.Context, _ lastmile.Principal) error {
	r.checked, r.caller = true, lastmile.CallerOf(ctx)
	return nil
}

// post sends a body with an idempotency key to a route, as an organization.
func post(rt Route, kept *receipts, body string) *httptest.ResponseRecorder {
	return once(rt, kept, httptest.NewRequest(http.MethodPost, "/v1"+rt.Path, strings.NewReader(body)))
}

// once sends a request with an idempotency key to a route, as an organization.
func once(rt Route, kept *receipts, r *http.Request) *httptest.ResponseRecorder {
	settings := Settings{Now: time.Now, Log: slog.New(slog.DiscardHandler), Receipts: kept}
	access := Access{Authenticate: func(context.Context, *http.Request) (lastmile.Principal, error) {
		return lastmile.Principal{Organization: "acme"}, nil
	}}
	r.Header.Set("Idempotency-Key", "once")
	w := httptest.NewRecorder()
	NewMux(settings, "/v1", access, rt).ServeHTTP(w, r)
	return w
}

func TestCreateSavesWhatItResponds(t *testing.T) {
	var saved []byte
	ring := func(_ context.Context, c *Call, body bellBody) (bell, error) {
		made := bell{tone: body.Tone, maker: "<nobody's business>"}
		var err error
		saved, err = c.Who.Receipt.Encode(made) // as store.Idempotent does
		return made, err
	}
	kept := &receipts{}
	w := post(Create("/bells", "Cast a bell", ring, newBellReply), kept, `{"tone":"a&b"}`)
	if want := `{"tone":"a&b"}`; w.Code != http.StatusOK || w.Body.String() != want || string(saved) != want {
		t.Errorf("responded %d %s and saved %s, want %s", w.Code, w.Body, saved, want)
	}
	if kept.caller != "acme" {
		t.Errorf("the receipt was read on behalf of %q", kept.caller)
	}
}

func TestOnlyTheResultOfARouteIsSaved(t *testing.T) {
	var saved error
	ring := func(_ context.Context, c *Call, _ bellBody) (bell, error) {
		_, saved = c.Who.Receipt.Encode("another type")
		return bell{}, saved
	}
	if w := post(Create("/bells", "Cast a bell", ring, newBellReply), &receipts{}, `{}`); w.Code != http.StatusInternalServerError || saved == nil {
		t.Errorf("responded %d, %v", w.Code, saved)
	}
	plain := func(_ context.Context, c *Call, _ bellBody) (bellReply, error) {
		_, saved = c.Who.Receipt.Encode(bell{})
		return bellReply{}, saved
	}
	if w := post(Post("/bells", "Ring a bell", plain), &receipts{}, `{}`); w.Code != http.StatusInternalServerError {
		t.Errorf("responded %d", w.Code)
	}
}

// TestReceiptsDependOnTheQuery: the parameters of a request may be in its query.
func TestReceiptsDependOnTheQuery(t *testing.T) {
	hash := func(query, body string) (sum string) {
		rt := Create("/bells", "Cast a bell", func(_ context.Context, c *Call, _ bellBody) (bell, error) {
			sum = c.Who.Receipt.BodyHash
			return bell{}, nil
		}, newBellReply)
		request := httptest.NewRequest(http.MethodPost, "/v1/bells"+query, strings.NewReader(body))
		if w := once(rt, &receipts{}, request); w.Code != http.StatusOK {
			t.Fatalf("responded %d %s", w.Code, w.Body)
		}
		return sum
	}
	const body = `{"tone":"c"}`
	if got, want := hash("", body), fmt.Sprintf("%x", sha256.Sum256([]byte(body))); got != want {
		t.Errorf("the hash without a query is %s, and %s in receipts of earlier versions", got, want)
	}
	for _, other := range []string{hash("?client=b", body), hash("", body), hash("?client=a", `{}`)} {
		if other == hash("?client=a", body) {
			t.Error("different requests have the same hash")
		}
	}
	if hash("?client=a&size=1", body) != hash("?size=1&client=%61", body) {
		t.Error("the same query, written differently, has another hash")
	}
}

// TestSearchHasNoReceipt: a search changes nothing, so that it may be performed again, and
// its response can be large.
func TestSearchHasNoReceipt(t *testing.T) {
	kept := &receipts{}
	find := func(_ context.Context, c *Call, _ bellBody) ([]bellReply, error) {
		if c.Who.Receipt != nil {
			t.Error("a search has a receipt")
		}
		return []bellReply{{Tone: "c"}}, nil
	}
	if w := post(Search("/bells/metadata", "Find bells", find), kept, `{}`); w.Body.String() != `[{"tone":"c"}]` || kept.checked {
		t.Errorf("responded %s, and looked for a receipt: %t", w.Body, kept.checked)
	}
}

// reverser is a Vault that only reverses bytes.
type reverser struct{}

func (reverser) Seal(_ lastmile.OrganizationID, secret []byte) []byte {
	sealed := bytes.Clone(secret)
	slices.Reverse(sealed)
	return sealed
}

func (r reverser) Open(org lastmile.OrganizationID, sealed []byte) ([]byte, error) {
	if !bytes.HasPrefix(sealed, []byte("}")) {
		return nil, errors.New("not sealed")
	}
	return r.Seal(org, sealed), nil
}

// TestReceiptsAreBounded: a reply that is too large is kept as a reference, or not
// at all, and a repeated request says so.
func TestReceiptsAreBounded(t *testing.T) {
	large := strings.Repeat("a", MaxReceipt)
	ring := func(_ context.Context, c *Call, body bellBody) (made bell, err error) {
		kept, err := c.Who.Receipt.Encode(bell{tone: large, maker: body.Tone})
		if err != nil || len(kept) > MaxReceipt {
			return made, fmt.Errorf("kept %d bytes: %w", len(kept), err)
		}
		return made, &lastmile.Replay{Reply: kept}
	}
	plain := Create("/bells", "Cast a bell", ring, newBellReply)
	if w := post(plain, &receipts{}, `{"tone":"c"}`); w.Code != http.StatusPreconditionFailed || !strings.Contains(w.Body.String(), "was performed before") {
		t.Errorf("responded %d %.200s", w.Code, w.Body)
	}
	if w := post(plain.Sealed(reverser{}), &receipts{}, `{"tone":"c"}`); w.Code != http.StatusPreconditionFailed {
		t.Errorf("responded %d %.200s for a secret", w.Code, w.Body)
	}
	rebuilt := Rebuild(plain, func(b bell) string { return b.maker }, func(_ context.Context, _ *Call, body bellBody, maker string) (bellReply, error) {
		return bellReply{Tone: maker + " again, from " + body.Tone}, nil
	})
	w := post(rebuilt, &receipts{}, `{"tone":"c"}`)
	if w.Body.String() != `{"tone":"c again, from c"}` || w.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("responded %d %s", w.Code, w.Body)
	}
}

func TestAnEmptyReplyIsSavedAsNothing(t *testing.T) {
	var saved []byte
	mute := func(_ context.Context, c *Call, _ bellBody) (err error) {
		saved, err = c.Who.Receipt.Encode(nil)
		return err
	}
	if w := post(Do("/bells/mute", "Mute a bell", mute), &receipts{}, `{}`); w.Code != http.StatusOK || w.Body.Len() != 0 || saved == nil || len(saved) != 0 {
		t.Errorf("responded %d %q and saved %q", w.Code, w.Body, saved)
	}
}

func TestErrorsOfABatchHaveTheirShape(t *testing.T) {
	fail := func(context.Context, *Call, bellBody) (bellReply, error) { return bellReply{}, errors.New("broken") }
	plain := post(Post("/bells", "Ring a bell", fail), &receipts{}, `{}`).Body.String()
	batch := post(Post("/bells", "Ring bells", fail).Bulk(), &receipts{}, `{}`).Body.String()
	if !strings.HasPrefix(plain, `{"code":"Internal","message":{"error":2500`) || !strings.HasPrefix(batch, `{"statusCode":500,"error":2500`) {
		t.Errorf("responded %s and %s", plain, batch)
	}
}

// TestClientThatDisconnects: a request whose client does not wait for the response is not
// counted as a failure of the server.
func TestClientThatDisconnects(t *testing.T) {
	ctx, disconnect := context.WithCancel(t.Context())
	ring := func(ctx context.Context, _ *Call, _ bellBody) (bellReply, error) {
		disconnect()
		return bellReply{}, fmt.Errorf("ring: %w", ctx.Err())
	}
	var counted int
	settings := Settings{
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Receipts: &receipts{},
		Observe: func(_, _ string, status int, _ time.Duration) { counted = status },
	}
	access := Access{Authenticate: func(context.Context, *http.Request) (lastmile.Principal, error) {
		return lastmile.Principal{Organization: "acme"}, nil
	}}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/bells", strings.NewReader(`{}`))
	w := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // it is not wrapped
			t.Errorf("the handler did not end the connection: %v", p)
		}
		if counted != 499 || w.Body.Len() > 0 {
			t.Errorf("counted as %d, and got %q", counted, w.Body)
		}
	}()
	NewMux(settings, "/v1", access, Post("/bells", "Ring a bell", ring)).ServeHTTP(w, r)
}
