package installation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/textmessage"
	"dray/internal/travel"
)

// fake is a system with services that respond as a test says.
type fake []Service

func (f fake) Status(context.Context) (Status, error) { return Status{Version: "1"}, nil }
func (f fake) Services() []Service                    { return f }

func parsePhone(raw, _ string) (lastmile.Phone, error) {
	if !strings.HasPrefix(raw, "+") {
		return "", lastmile.Invalid("phone must begin with +")
	}
	return lastmile.Phone(raw), nil
}

func administer(services ...Service) *Admin {
	return NewAdmin(fake(services), parsePhone, time.Now, time.Now)
}

func code(err error) lastmile.Code {
	rejected, _ := errors.AsType[*lastmile.Error](err)
	if rejected == nil {
		return 0
	}
	return rejected.Code
}

func TestStatusHasServicesAndTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status, err := administer(Service{ID: "sms", Kind: SMS}).Status(t.Context())
		if err != nil || status.Version != "1" || len(status.Services) != 1 || !status.CheckedAt.Equal(time.Now()) {
			t.Errorf("%+v, %v", status, err)
		}
		if status.Services[0].Testable() {
			t.Error("what sends nothing can be tested")
		}
	})
}

func TestServicesRespond(t *testing.T) {
	here := &lastmile.Point{Lon: 1, Lat: 2}
	texts := func(result textmessage.Result) Service {
		return Service{ID: "s", Kind: SMS, Text: func(context.Context, lastmile.Phone, string) textmessage.Result { return result }}
	}
	matrix := func(took time.Duration, err error) Service {
		return Service{ID: "s", Kind: Router, Matrix: func(_ context.Context, _ lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
			times := travel.NewTimes(len(from), len(to), "test")
			times.Durations[0][0], times.Distances[0][0] = took, 900
			return times, err
		}}
	}
	for name, test := range map[string]struct {
		service Service
		test    Test
		problem string // empty if it works
	}{
		"a geocoder that finds": {Service{ID: "s", Kind: Geocoder, Geocode: func(_ context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
			if q.Unparsed != "here" || q.Country != "DE" {
				t.Errorf("asked for %+v", q)
			}
			return lastmile.GeocodedAddress{Location: *here}, nil
		}}, Test{Address: "here", Country: "DE"}, ""},
		"a geocoder that fails": {Service{ID: "s", Geocode: func(context.Context, lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
			return lastmile.GeocodedAddress{}, errors.New("refused")
		}}, Test{Address: "here"}, "refused"},
		"a router":                      {matrix(time.Minute, nil), Test{From: here, To: here}, ""},
		"a router that fails":           {matrix(0, errors.New("refused")), Test{From: here, To: here}, "refused"},
		"a router that finds no way":    {matrix(travel.Unreachable, nil), Test{From: here, To: here}, "no way"},
		"a gateway":                     {texts(textmessage.Result{Verdict: textmessage.SendAccepted}), Test{Phone: "+1"}, ""},
		"a gateway that rejects":        {texts(textmessage.Result{Verdict: textmessage.SendRejected, Reason: "no credit"}), Test{Phone: "+1"}, "no credit"},
		"a gateway that says no reason": {texts(textmessage.Result{Verdict: textmessage.SendDeferred}), Test{Phone: "+1"}, "did not accept"},
		"a mail server": {Service{ID: "s", Letter: func(_ context.Context, l identity.Letter) error {
			if l.To != "ada@example.com" {
				t.Errorf("sent to %s", l.To)
			}
			return nil
		}}, Test{Admin: lastmile.Admin{Email: "ada@example.com"}}, ""},
		"a mail server that rejects": {Service{ID: "s", Letter: func(context.Context, identity.Letter) error { return errors.New("535") }}, Test{}, "535"},
	} {
		test.test.Service = "s"
		got, err := administer(test.service).Test(t.Context(), test.test)
		if err != nil || got.OK != (test.problem == "") || !strings.Contains(got.Problem, test.problem) || got.OK != (got.Problem == "") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestTestsRejectWhatIsMissing(t *testing.T) {
	admin := administer(
		Service{ID: "g", Geocode: func(context.Context, lastmile.AddressQuery) (g lastmile.GeocodedAddress, err error) { return g, err }},
		Service{ID: "r", Matrix: func(context.Context, lastmile.VehicleType, []lastmile.Point, []lastmile.Point) (x travel.Times, err error) {
			return x, err
		}},
		Service{ID: "t", Text: func(context.Context, lastmile.Phone, string) (r textmessage.Result) { return r }},
		Service{ID: "none", Kind: Mail},
	)
	here := &lastmile.Point{}
	for name, test := range map[string]struct {
		test    Test
		message string
	}{
		"no service":      {Test{}, "service"},
		"unknown service": {Test{Service: "x"}, `"x"`},
		"no address":      {Test{Service: "g"}, "address"},
		"a long address":  {Test{Service: "g", Address: strings.Repeat("ä", maxAddress+1)}, "300"},
		"no from":         {Test{Service: "r", To: here}, "from"},
		"no to":           {Test{Service: "r", From: here}, "to"},
		"no phone":        {Test{Service: "t"}, "phone"},
		"a bad phone":     {Test{Service: "t", Phone: "12"}, "must begin"},
		"nothing to test": {Test{Service: "none"}, "--smtp"},
	} {
		_, err := admin.Test(t.Context(), test.test)
		if code(err) == 0 || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, most := 0, 0
		slow := Service{ID: "m", Letter: func(ctx context.Context, _ identity.Letter) error {
			running++
			most = max(most, running)
			<-ctx.Done()
			running--
			return ctx.Err()
		}}
		admin := administer(slow)
		second := make(chan error, 1)
		go func() {
			time.Sleep(time.Second)
			_, err := admin.Test(t.Context(), Test{Service: "m"})
			second <- err
		}()
		began := time.Now()
		got, err := admin.Test(t.Context(), Test{Service: "m"})
		if err != nil || got.OK || !strings.Contains(got.Problem, "10s") || time.Since(began) != testTimeout {
			t.Errorf("%+v, %v after %v", got, err, time.Since(began))
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
		if most != 1 {
			t.Errorf("%d tests at a time", most)
		}

		quick := administer(Service{ID: "m", Letter: func(context.Context, identity.Letter) error { return nil }})
		for range maxTests {
			if _, err := quick.Test(t.Context(), Test{Service: "m"}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := quick.Test(t.Context(), Test{Service: "m"}); code(err) != lastmile.CodeTooMany {
			t.Errorf("one more: %v", err)
		}
		time.Sleep(testEvery)
		if _, err := quick.Test(t.Context(), Test{Service: "m"}); err != nil {
			t.Errorf("after a while: %v", err)
		}
	})
}
