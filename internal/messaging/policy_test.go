package messaging_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
)

// byPrefix is the country of the numbers in these tests.
func byPrefix(to lastmile.Phone) string {
	for prefix, country := range map[string]string{"+1": "US", "+33": "FR"} {
		if strings.HasPrefix(string(to), prefix) {
			return country
		}
	}
	return ""
}

func TestOneOrganizationCannotUseUpANumber(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		s := w.sender(gateway{w, acceptSend})
		s.Policy.Caps = textmessage.Caps{NumberHour: 10, NumberDay: 20, SharedHour: 12, SharedDay: 12}
		w.during(func() {
			for range 30 {
				w.enqueue(acme, textmessage.KindFailed, phone)
			}
			for i := range 2 {
				w.enqueue(lastmile.OrganizationID(fmt.Sprintf("accomplice%d", i)), textmessage.KindFailed, phone)
			}
			time.Sleep(time.Minute)
			// The number has reached the cap of all organizations together.
			for i := range textmessage.FairShare {
				time.Sleep(time.Second)
				id := w.enqueue(zenith, textmessage.KindInvitation, phone)
				time.Sleep(time.Second)
				if m := w.message(id); m.State != textmessage.StateSent {
					t.Errorf("message %d of another organization is %s: %s", i+1, m.State, m.Reason)
				}
			}
			id := w.enqueue(zenith, textmessage.KindInvitation, phone)
			time.Sleep(time.Minute)
			w.wantState(id, textmessage.StateSuppressed, "too many messages of all organizations to this number in an hour")
		}, s)
		if n := len(w.sendings()); n != 12+textmessage.FairShare {
			t.Errorf("%d messages were sent", n)
		}
	})
}

func TestMessagesToOtherCountriesAreSuppressed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		s := w.sender(gateway{w, acceptSend})
		s.Policy.Countries, s.Policy.CountryOf = []string{"US", "CA"}, byPrefix
		at := w.enqueue(acme, textmessage.KindFailed, phone)
		away := w.enqueue(acme, textmessage.KindInvitation, "+33612345678")
		nowhere := w.enqueue(acme, textmessage.KindFailed, "+999")
		w.during(func() { time.Sleep(time.Minute) }, s)
		w.wantState(at, textmessage.StateSent, "")
		w.wantState(away, textmessage.StateSuppressed, "text messages are sent only to numbers of US, CA, and this one is of FR")
		w.wantState(nowhere, textmessage.StateSuppressed, "text messages are sent only to numbers of US, CA, and this one is of an unknown country")
	})
}

func TestInvitationsThatWouldNotBeSentAreRejected(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		policy := messaging.Policy{Caps: textmessage.Caps{NumberHour: 2}, Countries: []string{"US"}, CountryOf: byPrefix}
		invitations := messaging.Invitations{Store: sqlstore.For[messaging.Reader, messaging.Writer](w.store), Policy: policy, Now: now}
		check := func(org lastmile.OrganizationID, to lastmile.Phone, want lastmile.Code, words string) {
			t.Helper()
			var got lastmile.Code
			err := invitations.Check(t.Context(), org, to)
			if e, ok := errors.AsType[*lastmile.Error](err); ok {
				got = e.Code
				if got == lastmile.CodeTooMany && e.RetryAfter != time.Minute {
					t.Errorf("try again after %v", e.RetryAfter)
				}
			}
			if got != want || (err != nil && !strings.Contains(err.Error(), words)) {
				t.Errorf("%s to %s: got %v, want code %d with %q", org, to, err, want, words)
			}
		}
		check(acme, phone, 0, "")
		check(acme, "+33612345678", lastmile.CodeInvalid, "only to numbers of US")
		for range 2 {
			w.enqueue(acme, textmessage.KindInvitation, phone)
		}
		s := w.sender(gateway{w, acceptSend})
		w.during(func() { time.Sleep(time.Minute) }, s)
		check(acme, phone, lastmile.CodeTooMany, "to this number in an hour")
		check(zenith, phone, 0, "")
		time.Sleep(time.Hour)
		check(acme, phone, 0, "")
	})
}
