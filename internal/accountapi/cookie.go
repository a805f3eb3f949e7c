package accountapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"dray/internal/account"
	"dray/internal/edge"
	"dray/internal/identity"
	"dray/internal/lastmile"
)

// The cookies. Browsers accept a name with the prefix only from the host itself, for
// the whole host and over HTTPS, so that no other site of the domain can set it.
const (
	hostPrefix    = "__Host-"
	sessionCookie = "dray-session"
	deviceCookie  = "dray-device"
)

// deviceAge is the time for which a browser is recognized after it has signed in: the
// longest time that browsers keep a cookie.
const deviceAge = 400 * 24 * time.Hour

// proofHeader is a header that state-changing requests with a cookie must have. A page
// of another site cannot send it without the server's consent.
const proofHeader = "Dray-Request"

// plain reports whether a request arrived without HTTPS on the machine itself, where
// there is no network to listen to, and browsers may reject cookies for HTTPS only.
func (s *Server) plain(r *http.Request) bool {
	return !s.secure(r) && isLoopback(r.Host)
}

// secure reports whether a request was sent over HTTPS, as far as is known.
func (s *Server) secure(r *http.Request) bool {
	public, err := url.Parse(s.PublicURL)
	return r.TLS != nil || err == nil && public.Scheme == "https" || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

// cookieName is the name of a cookie for a request. No other is read: one without the
// prefix may have been set by another site of the domain.
func (s *Server) cookieName(r *http.Request, name string) string {
	if s.plain(r) {
		return name
	}
	return hostPrefix + name
}

// cookie returns the value of a cookie, or "".
func (s *Server) cookie(r *http.Request, name string) string {
	c, err := r.Cookie(s.cookieName(r, name))
	if err != nil {
		return ""
	}
	return c.Value
}

// setCookie sets a cookie, or deletes it if the value is empty.
func (s *Server) setCookie(c *edge.Call, name, value string, age time.Duration) {
	seconds := int(age / time.Second)
	if value == "" {
		seconds = -1
	}
	c.SetCookie(&http.Cookie{
		Name: s.cookieName(c.HTTP, name), Value: value, Path: "/", MaxAge: seconds,
		HttpOnly: true, Secure: !s.plain(c.HTTP), SameSite: http.SameSiteLaxMode,
	})
}

// browser describes where a request comes from.
func (s *Server) browser(r *http.Request) account.Browser {
	return account.Browser{
		Device: s.cookie(r, deviceCookie), Session: s.cookie(r, sessionCookie), Network: s.Address(r), Agent: r.UserAgent(),
	}
}

// signIn sets the cookies of a new session and returns the administrator.
func (s *Server) signIn(c *edge.Call, begun account.SignedIn, err error) (Me, error) {
	if err != nil {
		return Me{}, err
	}
	c.Who = lastmile.Principal{Organization: begun.Me.Organization.ID, Admin: begun.Me.ID} // for the audit log
	s.setCookie(c, sessionCookie, begun.Token, identity.SessionLifetime)
	s.setCookie(c, deviceCookie, begun.Device, deviceAge)
	return newMe(begun.Me), nil
}

// checkCookies rejects signing in where browsers would drop the cookie.
func (s *Server) checkCookies(r *http.Request) error {
	if s.plain(r) || s.secure(r) {
		return nil
	}
	return lastmile.Forbidden("signing in requires HTTPS, except on the machine itself: open the server at its https:// address, and set --public-url")
}

// Authenticate returns the administrator whose session a request has. A request that
// may change something must prove that it comes from a page of the server.
func (s *Server) Authenticate(ctx context.Context, r *http.Request) (lastmile.Principal, error) {
	token := s.cookie(r, sessionCookie)
	if token == "" {
		return lastmile.Principal{}, identity.SignedOut()
	}
	if err := checkProof(r); err != nil {
		return lastmile.Principal{}, err
	}
	return s.Accounts.Authenticate(ctx, token, !edge.Follows(ctx))
}

// HasSession reports whether a request carries the cookie of a session.
func (s *Server) HasSession(r *http.Request) bool { return s.cookie(r, sessionCookie) != "" }

func checkProof(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if r.Header.Get(proofHeader) == "" {
		return lastmile.Forbidden("requests with a session cookie that change something need the header %s: 1", proofHeader)
	}
	return nil
}
