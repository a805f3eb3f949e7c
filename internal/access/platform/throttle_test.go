package platform_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

func TestFiveGuessesAreVerified(t *testing.T) {
	i := invite(t)
	if got := i.guess(t, stranger, 8); got != 5 {
		t.Errorf("%d of 8 guesses were verified, want 5", got)
	}
	_, err := i.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: i.phone, Password: i.password, Network: stranger})
	expectCode(t, err, lastmile.CodeTooMany)
	if rejected, ok := errors.AsType[*lastmile.Error](err); !ok || rejected.RetryAfter != time.Minute {
		t.Errorf("the error is %+v, want one that says to wait a minute", rejected)
	}
	i.Advance(time.Minute)
	if got := i.guess(t, stranger, 3); got != 1 {
		t.Errorf("%d of 3 guesses were verified after a minute, want 1", got)
	}
	i.Advance(time.Hour)
	if got := i.guess(t, stranger, 8); got != 5 {
		t.Errorf("%d of 8 guesses were verified after an hour, want 5", got)
	}
}

// A number without a country code costs more than others, whether it is valid or not.
func TestNationalNumbersOfANetworkAreLimited(t *testing.T) {
	i := invite(t)
	parsed, now := 0, i.Now()
	node := access.Sessions{
		Store: i.Sessions.Store, Passwords: access.NewPasswords(), Vault: i.Sessions.Vault, Now: func() time.Time { return now }, Countries: []string{"DE"}, Log: i.Log,
		ParsePhone: func(raw, country string) (lastmile.Phone, error) {
			if country != "" {
				parsed++
			}
			return "", lastmile.InvalidPhone(raw)
		},
	}
	attempt := access.SignInAttempt{Phone: "12", Password: "guess", Network: "203.0.113.77"}
	for range 200 {
		_, err := node.SignIn(t.Context(), attempt)
		expectCode(t, err, lastmile.CodeInvalid)
	}
	for range 3 {
		_, err := node.SignIn(t.Context(), attempt)
		expectCode(t, err, lastmile.CodeTooMany)
	}
	if parsed != 200 {
		t.Errorf("%d numbers of a network were parsed, want 200", parsed)
	}
	known := attempt
	known.Device = "a device"
	_, err := node.SignIn(t.Context(), known)
	expectCode(t, err, lastmile.CodeInvalid)
	attempt.Network = "203.0.113.78"
	_, err = node.SignIn(t.Context(), attempt)
	expectCode(t, err, lastmile.CodeInvalid)
}

// A device cannot be verified before the account is known, so any text could be one.
func TestNationalNumbersFromInvalidDevicesAreLimited(t *testing.T) {
	i := invite(t)
	session, _ := i.accept(t)
	for name, found := range map[string]lastmile.Phone{"valid nowhere": "", "valid": lastmile.Phone(i.phone)} {
		t.Run(name, func(t *testing.T) {
			parsed, now := 0, i.Now()
			node := access.Sessions{
				Store: i.Sessions.Store, Passwords: access.NewPasswords(), Vault: i.Sessions.Vault, Now: func() time.Time { return now }, Countries: []string{"DE"}, Log: i.Log,
				ParsePhone: func(raw, country string) (lastmile.Phone, error) {
					if country != "" {
						parsed++
						if found != "" {
							return found, nil
						}
					}
					return "", lastmile.InvalidPhone(raw)
				},
			}
			network := "2001:db8:" + apptest.NewID[string]()[:4] + "::/64"
			attempt := access.SignInAttempt{Phone: "12", Password: "guess", Network: network, Device: "a device"}
			for range 1003 {
				if _, err := node.SignIn(t.Context(), attempt); err == nil {
					t.Fatal("signed in with a guess")
				}
			}
			if parsed != 1000 {
				t.Errorf("%d numbers of a network were parsed, want 1000", parsed)
			}
			now = now.Add(time.Second)
			for range 3 {
				_, err := node.SignIn(t.Context(), access.SignInAttempt{Phone: "12", Password: chosen, Network: network, Device: session.Device})
				if found != "" && err != nil {
					t.Errorf("the worker cannot sign in with a phone used before: %v", err)
				}
			}
		})
	}
}

// Two nodes share nothing but the store.
func TestConcurrentGuessesAreCountedOnAllNodes(t *testing.T) {
	i := invite(t)
	i.accept(t)
	other := access.Sessions{
		Store: i.Sessions.Store, Finder: i.Sessions.Finder, Passwords: access.NewPasswords(), Vault: i.Sessions.Vault, Now: i.Now, ParsePhone: i.Sessions.ParsePhone, Log: i.Log,
	}
	var (
		group    sync.WaitGroup
		verified atomic.Int64
	)
	for n, node := range []*access.Sessions{i.Sessions, &other} {
		for k := range 12 { // fewer than the queue holds
			group.Go(func() {
				_, err := node.SignIn(t.Context(), access.SignInAttempt{Phone: i.phone, Password: fmt.Sprint("guess", n, k), Network: stranger})
				switch apptest.Code(err) {
				case lastmile.CodeUnauthenticated:
					verified.Add(1)
				case lastmile.CodeTooMany:
				default:
					t.Errorf("a wrong guess: %v", err)
				}
			})
		}
	}
	group.Wait()
	if verified.Load() != 5 {
		t.Errorf("%d guesses were verified, want 5", verified.Load())
	}
}

func TestStrangersDoNotLockWorkersOut(t *testing.T) {
	i := invite(t)
	i.guess(t, stranger, 10)
	if _, _, err := i.signIn(t.Context(), i.password); err != nil {
		t.Errorf("the invitation is no longer valid: %v", err)
	}
	session, _ := i.accept(t)
	i.guess(t, stranger, 10)
	if _, _, err := i.signIn(t.Context(), chosen); err != nil {
		t.Errorf("the worker cannot sign in: %v", err)
	}
	// A stranger in the same network uses up its attempts, but not those of the
	// worker's phone.
	i.guess(t, home, 10)
	_, _, err := i.signIn(t.Context(), chosen)
	expectCode(t, err, lastmile.CodeTooMany)
	known := access.SignInAttempt{Phone: i.phone, Password: chosen, Network: home, Device: session.Device}
	again, err := i.Sessions.SignIn(t.Context(), known)
	if err != nil || again.Device != session.Device {
		t.Errorf("signed in with the phone: %v", err)
	}
	known.Password = "guess"
	for n := range 7 {
		_, err := i.Sessions.SignIn(t.Context(), known)
		if want := (n < 5); (apptest.Code(err) == lastmile.CodeUnauthenticated) != want {
			t.Errorf("guess %d with the phone: %v", n+1, err)
		}
	}
	// The token of a device is for one account.
	another := invite(t)
	another.guess(t, home, 10)
	_, err = i.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: another.phone, Password: another.password, Network: home, Device: session.Device})
	expectCode(t, err, lastmile.CodeTooMany)
}

func TestGuessesFromManyNetworksAreLimited(t *testing.T) {
	i := invite(t)
	session, _ := i.accept(t)
	verified := 0
	for n := range 60 {
		verified += i.guess(t, fmt.Sprintf("203.0.113.%d", n), 2)
	}
	if verified != 100 {
		t.Errorf("%d guesses were verified, want 100", verified)
	}
	_, _, err := i.signIn(t.Context(), chosen)
	expectCode(t, err, lastmile.CodeTooMany)
	if _, err := i.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: i.phone, Password: chosen, Network: home, Device: session.Device}); err != nil {
		t.Errorf("the worker cannot sign in with a phone used before: %v", err)
	}
	// An invitation cannot be guessed, and is accepted from any device.
	if _, err := i.Fleet.Invite(t.Context(), i.Principal, i.worker.Worker); err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		i.guess(t, fmt.Sprintf("203.0.113.%d", n), 2)
	}
	_, credential := i.temporary(t)
	if _, _, err := i.signIn(t.Context(), credential); err != nil {
		t.Errorf("the worker cannot sign in with an invitation: %v", err)
	}
}

// temporary returns the phone number and the temporary password of the latest invitation.
func (i *invited) temporary(t *testing.T) (phone, password string) {
	t.Helper()
	texts := i.Outbox(t, i.phone)
	if len(texts) == 0 {
		t.Fatal("no invitation was sent")
	}
	var app string
	body := texts[len(texts)-1].Body
	if _, err := fmt.Sscanf(body, "Acme invites you to drive. Open %s and sign in with this phone number and the temporary password %s within", &app, &password); err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	return i.phone, password
}

func TestAttemptsFromANetworkAreLimited(t *testing.T) {
	o := apptest.NewOrg(t)
	network := "2001:db8:" + apptest.NewID[string]()[:4] + "::/64"
	verified := 0
	for range 60 {
		number := string(apptest.Phone())
		for range 4 {
			_, err := o.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: number, Password: "guess", Network: network})
			if apptest.Code(err) == lastmile.CodeUnauthenticated {
				verified++
			}
		}
	}
	if verified != 200 {
		t.Errorf("%d guesses were verified, want 200", verified)
	}
}

func TestFailedSignInsAreLoggedWithTheAddressOnly(t *testing.T) {
	i := invite(t)
	var lines strings.Builder
	logged := access.Sessions{
		Store: i.Sessions.Store, Finder: i.Sessions.Finder, Passwords: access.NewPasswords(), Vault: i.Sessions.Vault, Now: i.Now, ParsePhone: i.Sessions.ParsePhone,
		Log: slog.New(slog.NewTextHandler(&lines, nil)),
	}
	for range 9 {
		_, _ = logged.SignIn(t.Context(), access.SignInAttempt{Phone: i.phone, Password: "secret guess", Network: stranger})
	}
	text := lines.String()
	if strings.Count(text, "sign-in failed") != 5 || strings.Count(text, "too many attempts") != 1 || strings.Count(text, "address="+stranger) != 6 {
		t.Errorf("logged %s", text)
	}
	if strings.Contains(text, i.phone) || strings.Contains(text, "secret") || strings.Contains(text, string(i.worker.Worker)) {
		t.Errorf("logged a secret: %s", text)
	}
}

func TestSignInsAndGuessesOfTheOldPasswordAreLoggedWithTheAddress(t *testing.T) {
	i := invite(t)
	i.accept(t)
	var lines strings.Builder
	logged := access.Sessions{
		Store: i.Sessions.Store, Finder: i.Sessions.Finder, Passwords: access.NewPasswords(), Vault: i.Sessions.Vault, Now: i.Now, ParsePhone: i.Sessions.ParsePhone,
		Log: slog.New(slog.NewTextHandler(&lines, nil)),
	}
	begun, err := logged.SignIn(t.Context(), access.SignInAttempt{Phone: i.phone, Password: chosen, Network: home})
	if err != nil {
		t.Fatal(err)
	}
	who, err := logged.Authenticate(t.Context(), begun.Token)
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		_ = logged.SetPassword(t.Context(), who, stranger, "secret guess", "another secret")
	}
	text := lines.String()
	for line, times := range map[string]int{
		`msg="signed in" address=` + home:                                            1,
		`msg="change of a password failed" address=` + stranger:                      5,
		`msg="change of a password rejected: too many attempts" address=` + stranger: 1,
	} {
		if strings.Count(text, line) != times {
			t.Errorf("%s is not logged %d times:\n%s", line, times, text)
		}
	}
	if strings.Contains(text, i.phone) || strings.Contains(text, "secret") || strings.Contains(text, begun.Token) {
		t.Errorf("logged a secret: %s", text)
	}
}

func TestUnknownNumbersAreLimitedLikeKnownOnes(t *testing.T) {
	i := invite(t)
	unknown := *i
	unknown.phone = string(apptest.Phone())
	for n := range 7 {
		var messages [2]string
		for k, who := range []*invited{i, &unknown} {
			_, err := i.Sessions.SignIn(t.Context(), access.SignInAttempt{Phone: who.phone, Password: "guess", Network: stranger})
			messages[k] = fmt.Sprint(err)
		}
		if messages[0] != messages[1] {
			t.Errorf("guess %d differs: %q and %q", n+1, messages[0], messages[1])
		}
	}
}

func TestInvitationsOfTwoOrganizationsAreIndependent(t *testing.T) {
	first := invite(t)
	second := &invited{Org: apptest.NewOrg(t), phone: first.phone}
	worker := lastmile.Worker{
		ID: apptest.NewID[lastmile.WorkerID](), Organization: second.Principal.Organization, Created: first.Now(), Modified: first.Now(),
		Name: "Ada", Phone: lastmile.Phone(first.phone),
	}
	password, credential := access.NewPasswords().Temporary(worker.Organization, worker.ID, first.Now())
	second.Write(t, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveWorker(t.Context(), worker), w.SaveCredential(t.Context(), credential))
	})
	for range 8 {
		_, who, err := first.signIn(t.Context(), first.password)
		if err != nil || who.Organization != first.worker.Organization {
			t.Fatalf("signed in with the first invitation as %+v: %v", who, err)
		}
		_, who, err = second.signIn(t.Context(), password)
		if err != nil || who.Organization != worker.Organization {
			t.Fatalf("signed in with the second invitation as %+v: %v", who, err)
		}
	}
	first.accept(t)
	second.password = password
	if _, who := second.accept(t); who.Organization != worker.Organization {
		t.Errorf("the second invitation was accepted as %+v", who)
	}
}

func TestAllowancesSurviveAClockThatIsSetBack(t *testing.T) {
	i := invite(t)
	i.guess(t, stranger, 10)
	i.Advance(-time.Minute) // such as the clock of another node
	if got := i.guess(t, stranger, 3); got != 0 {
		t.Errorf("%d guesses were verified after the clock was set back by a minute, want 0", got)
	}
	i.Advance(-24 * time.Hour)
	defer i.Advance(24*time.Hour + time.Minute)
	if got := i.guess(t, stranger, 8); got != 5 {
		t.Errorf("%d guesses were verified after the clock was set back by a day, want 5", got)
	}
}
