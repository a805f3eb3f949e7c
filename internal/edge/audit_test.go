package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

// TestRequestsThatMayHaveChangedSomethingAreAudited: of the requests that were not served,
// those were rejected that changed nothing.
func TestRequestsThatMayHaveChangedSomethingAreAudited(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want int // status in the audit log; 0 for no entry
	}{
		"served":              {nil, http.StatusOK},
		"denied":              {lastmile.Forbidden("no"), http.StatusForbidden},
		"invalid":             {lastmile.Invalid("no"), 0},
		"overloaded":          {lastmile.Overloaded("later"), 0},
		"an unknown outcome":  {fmt.Errorf("%w: lost", lastmile.ErrUnknownOutcome), http.StatusInternalServerError},
		"a failure":           {errors.New("out of order"), http.StatusInternalServerError},
		"a client that left":  {context.Canceled, http.StatusInternalServerError},
		"a repeated response": {&lastmile.Replay{Reply: []byte("{}")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := 0
			access := Access{
				Authenticate: func(context.Context, *http.Request) (lastmile.Principal, error) {
					return lastmile.Principal{Organization: "acme", Key: "key"}, nil
				},
				Audit: func(_ context.Context, s Served) { got = s.Status },
			}
			ring := func(context.Context, *Call, bellBody) (bellReply, error) { return bellReply{}, test.err }
			mux := NewMux(Settings{Now: time.Now, Log: slog.New(slog.DiscardHandler), Receipts: &receipts{}}, "/v1", access, Post("/bells", "Ring a bell", ring))
			mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/bells", strings.NewReader(`{}`)))
			if got != test.want {
				t.Errorf("the audit log has the status %d, want %d", got, test.want)
			}
		})
	}
}
