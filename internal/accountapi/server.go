package accountapi

import (
	"context"
	"errors"
	"net/http"

	"dray/internal/account"
	"dray/internal/codec"
	"dray/internal/edge"
	"dray/internal/identity"
	"dray/internal/installation"
	"dray/internal/lastmile"
)

// Base is the path that the whole API is under.
const Base = "/account/v1"

// requestRate is the maximum number of requests per second from an address.
const requestRate = 50

// maxBody is the size of the largest body, in bytes.
const maxBody = 16 << 10

// Server serves the API of one's own account.
type Server struct {
	edge.Settings
	Accounts *account.Accounts
	Links    account.Links
	Vault    edge.Vault // for replies that contain links

	// Installation reports on the installation to its owner.
	Installation *installation.Admin
	PublicURL    string
	Version      string
	Demo         bool // the server shows a demonstration

	// Revoked returns a channel that is closed when sessions end.
	Revoked func() <-chan struct{}
	// Audit records requests that changed something.
	Audit func(ctx context.Context, s edge.Served)
	// Attempt records an attempt at the account with an e-mail address, which may not
	// exist. It takes the same time in both cases.
	Attempt func(email string, what account.Attempted, s edge.Served)
}

// Handler returns the API, to be mounted at Base.
func (s *Server) Handler() http.Handler {
	access := edge.Access{Authenticate: s.Authenticate, Revoked: s.Revoked, RateLimit: requestRate, ByAddress: true, Audit: s.audit}
	return edge.NewMux(s.Settings, Base, access, s.routes()...)
}

// audit records a request under its whole path: routes of the public API have the others.
func (s *Server) audit(ctx context.Context, served edge.Served) {
	served.Route = Base + served.Route
	s.Audit(ctx, served)
}

// failed records the error of a failed attempt at an account, and returns it.
func (s *Server) failed(c *edge.Call, err error) error {
	failure, ok := errors.AsType[*account.Failure](err)
	if !ok {
		return err
	}
	status := http.StatusUnauthorized
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok {
		status = codec.ErrorOf(rejected.Code).Status
	}
	s.attempted(c, failure.Email, failure.What, status)
	return err
}

// attempted records an attempt at the account with an e-mail address.
func (s *Server) attempted(c *edge.Call, email string, what account.Attempted, status int) {
	s.Attempt(identity.Email(email), what, edge.Served{
		Time: s.Now(), Method: c.HTTP.Method, Route: Base + c.HTTP.Pattern, Status: status, Request: c.RequestID(), Address: s.Address(c.HTTP),
	})
}

func (s *Server) routes() []edge.Route {
	routes := []edge.Route{
		edge.Get("/state", "What the server expects", s.state).Public(),
		edge.Post("/setup", "Create the first organization", s.setup).Public(),
		edge.Post("/sign-in", "Sign in", s.attempt).Public(),
		edge.Post("/link", "Open a one-time link", s.openLink).Public(),
		edge.Post("/link/accept", "Use a one-time link", s.acceptLink).Public(),
		edge.Do("/forgot", "Request a link for a new password", s.forgot).Public().NoContent(),
		edge.SendOnly("/sign-out", "Sign out", s.signOut).Public().NoContent(),
		edge.Get("/me", "Read one's own account", s.me),
		edge.Put("/me", "Change one's own account", s.updateMe),
		edge.Do("/password", "Change the password", s.setPassword).NoContent(),
		edge.Get("/sessions", "List sessions", s.sessions),
		edge.Delete("/sessions/{id}", "End a session", s.endSession).NoContent(),
		edge.Delete("/sessions", "End all other sessions", s.endOtherSessions).NoContent(),
		edge.Post("/secondFactor", "Make a second factor", s.beginFactor),
		edge.Put("/secondFactor", "Confirm a second factor", s.confirmFactor),
		edge.DeleteWith("/secondFactor", "Remove the second factor", s.removeFactor).NoContent(),
		edge.Get("/installation", "Read the state of the installation", s.installation),
		edge.Post("/installation/test", "Test a service of the installation", s.testService),
		edge.Do("/secondFactor/remove", "Remove the second factor", s.removeFactor).NoContent(),
	}
	for i := range routes {
		routes[i] = routes[i].Limit(maxBody)
	}
	return routes
}

func (s *Server) state(ctx context.Context, c *edge.Call) (State, error) {
	needed, err := s.Links.NeedsSetup(ctx)
	if err != nil {
		return State{}, err
	}
	state := State{NeedsSetup: needed, Mail: s.Accounts.Mailer != nil, Version: s.Version, Demo: s.Demo}
	if s.HasSession(c.HTTP) {
		_, err := s.Authenticate(ctx, c.HTTP)
		state.SignedIn = err == nil
	}
	return state, nil
}

func (s *Server) setup(ctx context.Context, c *edge.Call, body SetupBody) (Me, error) {
	if err := s.checkCookies(c.HTTP); err != nil {
		return Me{}, err
	}
	begun, err := s.Links.Setup(ctx, account.SetupDraft{
		Token: body.Token,
		Organization: lastmile.OrganizationDraft{
			Name: body.Organization.Name, Country: body.Organization.Country, Timezone: body.Organization.Timezone,
		},
		Name: body.Name, Email: body.Email, Password: body.Password, Language: body.Language, Browser: s.browser(c.HTTP),
	})
	return s.signIn(c, begun, err)
}

func (s *Server) attempt(ctx context.Context, c *edge.Call, body SignInBody) (Me, error) {
	if err := s.checkCookies(c.HTTP); err != nil {
		return Me{}, err
	}
	begun, err := s.Accounts.SignIn(ctx, account.Attempt{Email: body.Email, Password: body.Password, Code: body.Code, Browser: s.browser(c.HTTP)})
	return s.signIn(c, begun, s.failed(c, err))
}

func (s *Server) openLink(ctx context.Context, _ *edge.Call, body LinkBody) (Link, error) {
	shown, err := s.Links.Open(ctx, body.Token)
	return Link{
		Kind: shown.Kind, Name: orNull(shown.Name), Email: orNull(shown.Email), Organization: orNull(shown.Organization), SecondFactor: shown.SecondFactor,
	}, err
}

func (s *Server) acceptLink(ctx context.Context, c *edge.Call, body AcceptBody) (Me, error) {
	if err := s.checkCookies(c.HTTP); err != nil {
		return Me{}, err
	}
	begun, err := s.Links.Accept(ctx, account.Acceptance{
		Token: body.Token, Name: body.Name, Password: body.Password, Code: body.Code, Browser: s.browser(c.HTTP),
	})
	return s.signIn(c, begun, s.failed(c, err))
}

func (s *Server) forgot(ctx context.Context, c *edge.Call, body ForgotBody) error {
	err := s.Accounts.Forgot(ctx, body.Email, s.Address(c.HTTP))
	if err == nil && s.Accounts.Mailer != nil {
		s.attempted(c, body.Email, account.ResetRequested, http.StatusNoContent)
	}
	return err
}

func (s *Server) signOut(ctx context.Context, c *edge.Call) error {
	token := s.cookie(c.HTTP, sessionCookie)
	if token == "" {
		return nil
	}
	if err := checkProof(c.HTTP); err != nil {
		return err
	}
	who, err := s.Accounts.Authenticate(ctx, token, false)
	if err == nil { // else the session has ended before
		c.Who = who // for the audit log
	}
	if err := s.Accounts.SignOut(ctx, token); err != nil {
		return err
	}
	s.setCookie(c, sessionCookie, "", 0)
	return nil
}

func (s *Server) me(ctx context.Context, c *edge.Call) (Me, error) {
	me, err := s.Accounts.Me(ctx, c.Who)
	return newMe(me), err
}

func (s *Server) updateMe(ctx context.Context, c *edge.Call, body ProfileBody) (Me, error) {
	me, err := s.Accounts.Update(ctx, c.Who, account.Profile{Name: body.Name, Phone: body.Phone, Language: body.Language})
	return newMe(me), err
}

func (s *Server) setPassword(ctx context.Context, c *edge.Call, body PasswordBody) error {
	return s.failed(c, s.Accounts.SetPassword(ctx, c.Who, s.Address(c.HTTP), body.Old, body.New))
}

func (s *Server) sessions(ctx context.Context, c *edge.Call) ([]Session, error) {
	all, err := s.Accounts.Sessions(ctx, c.Who)
	list := []Session{}
	for _, one := range all {
		list = append(list, newSession(one, c.Who))
	}
	return list, err
}

func (s *Server) endSession(ctx context.Context, c *edge.Call) error {
	return s.Accounts.EndSession(ctx, c.Who, c.ID())
}

func (s *Server) endOtherSessions(ctx context.Context, c *edge.Call) error {
	return s.Accounts.EndOtherSessions(ctx, c.Who)
}

func (s *Server) beginFactor(ctx context.Context, c *edge.Call, body OwnPasswordBody) (Factor, error) {
	f, err := s.Accounts.BeginFactor(ctx, c.Who, s.Address(c.HTTP), body.Password)
	return Factor{Secret: f.Secret, URI: f.URI}, s.failed(c, err)
}

func (s *Server) confirmFactor(ctx context.Context, c *edge.Call, body CodeBody) (RecoveryCodes, error) {
	codes, err := s.Accounts.ConfirmFactor(ctx, c.Who, body.Code)
	return RecoveryCodes{RecoveryCodes: codes}, err
}

func (s *Server) removeFactor(ctx context.Context, c *edge.Call, body OwnPasswordBody) error {
	return s.failed(c, s.Accounts.RemoveFactor(ctx, c.Who, s.Address(c.HTTP), body.Password))
}
