package identity

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dray/internal/lastmile"
)

// The limits of passwords, in characters.
const (
	MinPassword = 10
	MaxPassword = 200
)

// Languages are those of the pages and mails, the default first.
var Languages = []string{"en", "de", "fr", "es", "pt"}

// Ownership names the owner of the installation, and the administrator who was invited to
// become the owner and has not accepted yet. Either may be empty.
type Ownership struct {
	Owner, Invited lastmile.AdminID
}

// Account holds the credentials with which an administrator signs in.
type Account struct {
	Organization lastmile.OrganizationID
	Admin        lastmile.AdminID
	Hash         string // of the password; empty until one is chosen
	Factor       []byte // sealed secret of the second factor; nil if there is none
	Pending      []byte // sealed secret of a second factor that is not confirmed yet
	Step         int64  // of the last accepted code; codes up to it are rejected
	Language     string // one of Languages; empty for the default
}

// CheckPassword rejects a password that cannot be chosen.
func CheckPassword(field, password, email string) error {
	n := utf8.RuneCountInString(password)
	switch {
	case password == "":
		return lastmile.Missing(field)
	case n < MinPassword || n > MaxPassword:
		return lastmile.Invalid("%s must have %d to %d characters", field, MinPassword, MaxPassword)
	case strings.TrimSpace(password) == "":
		return lastmile.Invalid("%s must not be blank", field)
	case strings.EqualFold(strings.TrimSpace(password), email):
		return lastmile.Invalid("%s must not be the e-mail address", field)
	case isRepeated(password):
		return lastmile.Invalid("%s must not repeat one character", field)
	}
	return nil
}

// isRepeated reports whether a text consists of one character, repeated.
func isRepeated(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return strings.Trim(text, string(first)) == ""
}

// CheckLanguage rejects an unknown language; an empty one is the default.
func CheckLanguage(field, language string) error {
	if language != "" && !slices.Contains(Languages, language) {
		return lastmile.Invalid("%s must be one of %s, not %q", field, strings.Join(Languages, ", "), lastmile.Truncate(language, 32))
	}
	return nil
}

// Email returns an e-mail address as it is stored.
func Email(typed string) string { return strings.ToLower(strings.TrimSpace(typed)) }

// The limits of sessions.
const (
	SessionIdle     = 12 * time.Hour      // since the last use
	SessionLifetime = 30 * 24 * time.Hour // since signing in, even if it is used
	MaxSessions     = 50                  // of an administrator; the oldest end

	useRecorded = time.Minute // resolution of Session.Used
	maxAgent    = 256         // bytes
)

// Session is a browser in which an administrator is signed in.
type Session struct {
	ID           string // for the list of sessions; grants nothing
	Hash         string // of the token
	Organization lastmile.OrganizationID
	Admin        lastmile.AdminID
	Created      time.Time
	Used         time.Time
	Agent        string // User-Agent of the browser
	Address      string // network that it signed in from; empty if unknown
}

// Expires returns when the session ends if it is not used before.
func (s Session) Expires() time.Time {
	idle, last := s.Used.Add(SessionIdle), s.Created.Add(SessionLifetime)
	if idle.Before(last) {
		return idle
	}
	return last
}

// Valid reports whether the session has not expired.
func (s Session) Valid(now time.Time) bool { return now.Before(s.Expires()) }

// Use records that the session is used. It reports whether that has to be saved.
func (s *Session) Use(now time.Time) bool {
	if passed := now.Sub(s.Used); passed >= 0 && passed < useRecorded {
		return false
	}
	s.Used = now
	return true
}

// ClipAgent shortens a User-Agent to what is stored of it.
func ClipAgent(agent string) string {
	agent = strings.ToValidUTF8(agent, "")
	agent = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, agent)
	for len(agent) > maxAgent {
		_, size := utf8.DecodeLastRuneInString(agent)
		agent = agent[:len(agent)-size]
	}
	return agent
}

// SignedOut is the error for a session that has ended or is unknown.
func SignedOut() *lastmile.Error {
	return &lastmile.Error{Code: lastmile.CodeUnauthenticated, Message: "The session has ended: sign in again."}
}
