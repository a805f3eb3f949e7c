package account

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// memory is a Store in memory with one administrator. Methods that the tests do not call are
// missing.
type memory struct {
	Writer
	admin      lastmile.Admin
	account    identity.Account
	sessions   map[string]identity.Session // by hash
	allowances map[[2]string]time.Time
	owner      lastmile.AdminID
	writes     int
	generation int
	expired    []int64 // results of the next deletions
}

func (m *memory) Read(_ context.Context, fn func(Reader) error) error { return fn(m) }

func (m *memory) Write(_ context.Context, fn func(Writer) error) error {
	m.writes++
	return fn(m)
}

func (m *memory) Join(store.Transaction) (Writer, error) { return m, nil }

func (m *memory) Admin(_ context.Context, _ lastmile.OrganizationID, id lastmile.AdminID) (lastmile.Admin, error) {
	if id != m.admin.ID {
		return lastmile.Admin{}, lastmile.NotFound("administrator", string(id))
	}
	return m.admin, nil
}

func (m *memory) AdminByEmail(_ context.Context, email string) (lastmile.Admin, error) {
	if email != m.admin.Email {
		return lastmile.Admin{}, lastmile.NotFound("administrator", email)
	}
	return m.admin, nil
}

func (m *memory) AdminAccount(_ context.Context, _ lastmile.OrganizationID, id lastmile.AdminID) (identity.Account, error) {
	if id != m.admin.ID {
		return identity.Account{}, nil
	}
	return m.account, nil
}

func (m *memory) SaveAdminAccount(_ context.Context, a identity.Account) error {
	m.account = a
	return nil
}

func (m *memory) Organization(_ context.Context, id lastmile.OrganizationID) (lastmile.Organization, error) {
	return lastmile.Organization{ID: id}, nil
}

func (m *memory) InstallationOwner(context.Context) (identity.Ownership, error) {
	return identity.Ownership{Owner: m.owner}, nil
}

func (m *memory) AdminSession(_ context.Context, hash string) (identity.Session, error) {
	if s, ok := m.sessions[hash]; ok {
		return s, nil
	}
	return identity.Session{}, identity.SignedOut()
}

func (m *memory) AdminSessions(context.Context, lastmile.OrganizationID, lastmile.AdminID) (all []identity.Session, err error) {
	for _, s := range m.sessions {
		all = append(all, s)
	}
	return all, nil
}

func (m *memory) SaveAdminSession(_ context.Context, s identity.Session) error {
	m.sessions[s.Hash] = s
	return nil
}

func (m *memory) EndAdminSession(_ context.Context, hash string) (bool, error) {
	_, ok := m.sessions[hash]
	delete(m.sessions, hash)
	return ok, nil
}

func (m *memory) EndOldAdminSessions(context.Context, lastmile.OrganizationID, lastmile.AdminID, int) error {
	return nil
}

func (m *memory) RaiseKeyGeneration(context.Context) error {
	m.generation++
	return nil
}

func (m *memory) DeleteExpiredAdminSessions(context.Context, time.Time, time.Time, int) (n int64, err error) {
	if len(m.expired) > 0 {
		n, m.expired = m.expired[0], m.expired[1:]
	}
	return n, nil
}

func (m *memory) DeleteExpiredLinks(context.Context, time.Time, int) (int64, error) { return 0, nil }

func (m *memory) SignInAllowance(_ context.Context, account, source string) (time.Time, error) {
	return m.allowances[[2]string{account, source}], nil
}

func (m *memory) SaveSignInAllowance(_ context.Context, account, source string, full time.Time) error {
	m.allowances[[2]string{account, source}] = full
	return nil
}

// plain are passwords that are their own hash.
type plain struct{ hashing int }

func (p *plain) Enter(context.Context, string, bool) (func(), error) {
	p.hashing++
	return func() {}, nil
}
func (p *plain) Hash(password string) string { return password }
func (p *plain) Verify(password, hash string) (right, outdated bool, err error) {
	return hash != "" && password == hash, false, nil
}

// open is a vault that does not encrypt. Only the device token "known" is valid.
type open struct{}

func (open) Seal(_ lastmile.OrganizationID, secret []byte) []byte          { return secret }
func (open) Open(_ lastmile.OrganizationID, sealed []byte) ([]byte, error) { return sealed, nil }
func (open) SealDevice(string) string                                      { return "known" }
func (open) OpenDevice(_, token string) (string, bool)                     { return token, token == "known" }

type fixture struct {
	*Accounts
	*memory
	now time.Time
}

func newFixture() *fixture {
	f := &fixture{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), memory: &memory{
		admin:   lastmile.Admin{ID: "ada", Organization: "acme", Email: "ada@example.com", Type: lastmile.AdminSuper},
		account: identity.Account{Organization: "acme", Admin: "ada", Hash: "right"}, sessions: map[string]identity.Session{}, allowances: map[[2]string]time.Time{},
	}}
	id := byte('a')
	f.Accounts = &Accounts{
		Store: f.memory, Passwords: &plain{}, Vault: open{}, Now: func() time.Time { return f.now }, NewID: func() string { return "id" }, Log: slog.New(slog.DiscardHandler),
		Random: func(length int) string {
			id++
			return strings.Repeat(string(id), length)
		},
	}
	return f
}

func (f *fixture) signIn(t *testing.T, password string, b Browser) (SignedIn, error) {
	t.Helper()
	return f.SignIn(t.Context(), Attempt{Email: " Ada@Example.com ", Password: password, Browser: b})
}

func codeOf(err error) lastmile.Code {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	if !ok {
		return 0
	}
	return rejected.Code
}

func TestSessionsEndByTheClock(t *testing.T) {
	f := newFixture()
	begun, err := f.signIn(t, "right", Browser{})
	if err != nil {
		t.Fatal(err)
	}
	use := func() error {
		_, err := f.Accounts.Authenticate(t.Context(), begun.Token, true)
		return err
	}
	before := f.writes
	for range 3 {
		if err := use(); err != nil {
			t.Fatal(err)
		}
	}
	if f.writes != before {
		t.Error("every use is saved")
	}
	for passed := time.Duration(0); passed < identity.SessionLifetime-identity.SessionIdle; passed += identity.SessionIdle / 2 {
		f.now = f.now.Add(identity.SessionIdle / 2)
		if err := use(); err != nil {
			t.Fatalf("after %v: %v", passed, err)
		}
	}
	f.now = f.now.Add(identity.SessionIdle)
	if err := use(); codeOf(err) != lastmile.CodeUnauthenticated {
		t.Errorf("after a time without use: %v", err)
	}
	for _, token := range []string{"", "short", strings.Repeat("x", tokenLength)} {
		if _, err := f.Accounts.Authenticate(t.Context(), token, true); codeOf(err) != lastmile.CodeUnauthenticated {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestASessionOfADeletedAdministratorEnds(t *testing.T) {
	f := newFixture()
	begun, err := f.signIn(t, "right", Browser{})
	if err != nil {
		t.Fatal(err)
	}
	f.memory.admin.ID = "another"
	if _, err := f.Accounts.Authenticate(t.Context(), begun.Token, true); codeOf(err) != lastmile.CodeUnauthenticated {
		t.Error(err)
	}
}

func TestSigningInReplacesTheSessionOfTheBrowser(t *testing.T) {
	f := newFixture()
	first, _ := f.signIn(t, "right", Browser{})
	second, err := f.signIn(t, "right", Browser{Session: first.Token})
	if err != nil || first.Token == second.Token || len(f.sessions) != 1 || f.generation != 1 {
		t.Errorf("%d sessions, %d streams were ended: %v", len(f.sessions), f.generation, err)
	}
}

func TestGuessesAreLimitedExceptOnKnownBrowsers(t *testing.T) {
	f := newFixture()
	stranger := Browser{Network: "192.0.2.1"}
	var codes []lastmile.Code
	for range 6 {
		_, err := f.signIn(t, "wrong", stranger)
		codes = append(codes, codeOf(err))
	}
	if want := slices.Repeat([]lastmile.Code{lastmile.CodeUnauthenticated}, 5); !slices.Equal(codes[:5], want) || codes[5] != lastmile.CodeTooMany {
		t.Errorf("the attempts are rejected with %v", codes)
	}
	if _, err := f.signIn(t, "right", stranger); codeOf(err) != lastmile.CodeTooMany {
		t.Errorf("the right password after that: %v", err)
	}
	hashed := f.Passwords.(*plain).hashing
	if _, err := f.signIn(t, "wrong", stranger); codeOf(err) != lastmile.CodeTooMany {
		t.Error(err)
	}
	if f.Passwords.(*plain).hashing != hashed {
		t.Error("a rejected attempt costs a hash")
	}
	for name, b := range map[string]Browser{"another network": {Network: "192.0.2.2"}, "a known browser": {Network: "192.0.2.1", Device: "known"}} {
		if _, err := f.signIn(t, "right", b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.now = f.now.Add(time.Minute)
	if _, err := f.signIn(t, "right", stranger); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

func TestUnknownAccountsGetTheSameError(t *testing.T) {
	f := newFixture()
	_, wrong := f.signIn(t, "wrong", Browser{})
	_, unknown := f.SignIn(t.Context(), Attempt{Email: "nobody@example.com", Password: "wrong"})
	if wrong.Error() != unknown.Error() {
		t.Errorf("%v, and %v", wrong, unknown)
	}
}

func TestAttemptsAreChecked(t *testing.T) {
	for word, attempt := range map[string]Attempt{
		"email":    {Password: "x"},
		"password": {Email: "x"},
		"254":      {Email: strings.Repeat("x", maxEmail+1), Password: "x"},
		"200":      {Email: "x", Password: strings.Repeat("ä", identity.MaxPassword+1)},
		"code":     {Email: "x", Password: "x", Code: strings.Repeat("1", maxCode+1)},
	} {
		if err := attempt.check(); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestOnlyTheOwnerOfTheInstallation(t *testing.T) {
	f := newFixture()
	who := lastmile.Principal{Organization: "acme", Admin: "ada"}
	if _, err := f.OwnerOfInstallation(t.Context(), who); codeOf(err) != lastmile.CodeForbidden {
		t.Errorf("without an owner: %v", err)
	}
	f.owner = "ada"
	if me, err := f.OwnerOfInstallation(t.Context(), who); err != nil || !me.InstallationOwner {
		t.Errorf("%+v, %v", me, err)
	}
}

func TestEndingSessions(t *testing.T) {
	f := newFixture()
	if _, err := f.signIn(t, "right", Browser{}); err != nil {
		t.Fatal(err)
	}
	who := lastmile.Principal{Organization: "acme", Admin: "ada"}
	if err := f.EndSession(t.Context(), who, "unknown"); !lastmile.IsNotFound(err) {
		t.Error(err)
	}
	if err := f.EndSession(t.Context(), who, "id"); err != nil || len(f.sessions) != 0 || f.generation != 1 {
		t.Errorf("%d sessions, generation %d: %v", len(f.sessions), f.generation, err)
	}
	if err := f.SignOut(t.Context(), "no token"); err != nil {
		t.Error(err)
	}
}

func TestPurgeEndsStreamsOfExpiredSessions(t *testing.T) {
	f := newFixture()
	f.expired = []int64{purgeBatch, 3}
	if err := f.Purge(t.Context()); err != nil || f.generation != 2 || len(f.expired) != 0 {
		t.Errorf("generation %d, %v are left: %v", f.generation, f.expired, err)
	}
	if err := f.Purge(t.Context()); err != nil || f.generation != 2 {
		t.Errorf("generation %d without expired sessions: %v", f.generation, err)
	}
}
