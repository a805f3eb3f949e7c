// Package mail sends mails to an SMTP server.
package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/url"
	"strings"
	"time"

	"dray/internal/identity"
)

// timeout is the maximum time in which one mail must be sent.
const timeout = 30 * time.Second

// Server is an SMTP server that accepts mails.
type Server struct {
	host, port     string
	name           string // that its certificate has
	encrypted      bool   // TLS from the first byte, not with STARTTLS
	user, password string
	from           mail.Address
	now            func() time.Time
	newID          func() string
}

// Parse returns the server of a URL: smtp://user:password@host:port, which must offer
// STARTTLS if there is a password, or smtps://, which speaks TLS at once. Errors do not
// contain the URL, which is secret.
func Parse(text, from string, now func() time.Time, newID func() string) (*Server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("it must be of the form smtp://user:password@host:port or smtps://…")
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, errors.New("the address to send from must be an e-mail address such as Dray <dray@example.com>")
	}
	s := &Server{host: u.Hostname(), name: u.Hostname(), port: u.Port(), encrypted: u.Scheme == "smtps", user: u.User.Username(), from: *sender, now: now, newID: newID}
	s.password, _ = u.User.Password()
	if s.port == "" {
		s.port = map[bool]string{false: "587", true: "465"}[s.encrypted]
	}
	return s, nil
}

// Send sends a letter. A mail that was accepted may be sent again if the connection
// ends before the server has said so.
func (s *Server) Send(ctx context.Context, l identity.Letter) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(s.host, s.port))
	if err != nil {
		return err
	}
	defer conn.Close()
	// The context ends what the client waits for.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if s.encrypted {
		conn = tls.Client(conn, s.tls())
	}
	client, err := smtp.NewClient(conn, s.name)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := s.greet(client); err != nil {
		return err
	}
	if err := client.Mail(s.from.Address); err != nil {
		return err
	}
	if err := client.Rcpt(l.To); err != nil {
		return err
	}
	body, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := body.Write(s.message(l)); err != nil {
		return err
	}
	if err := body.Close(); err != nil {
		return err
	}
	client.Quit() //nolint:errcheck // the mail was accepted
	return nil
}

// greet begins encryption and signs in.
func (s *Server) greet(client *smtp.Client) error {
	if ok, _ := client.Extension("STARTTLS"); ok && !s.encrypted {
		if err := client.StartTLS(s.tls()); err != nil {
			return err
		}
	}
	if s.user == "" {
		return nil
	}
	// PlainAuth sends the password only over TLS, or to the machine itself.
	return client.Auth(smtp.PlainAuth("", s.user, s.password, s.name))
}

func (s *Server) tls() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.name}
}

// message returns a letter with its headers.
func (s *Server) message(l identity.Letter) []byte {
	to := mail.Address{Name: l.Name, Address: l.To}
	_, domain, _ := strings.Cut(s.from.Address, "@")
	var m bytes.Buffer
	fmt.Fprintf(&m, "From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\nMessage-ID: <%s@%s>\r\n", s.from.String(), to.String(),
		mime.QEncoding.Encode("utf-8", l.Subject), s.now().Format(time.RFC1123Z), s.newID(), domain)
	m.WriteString("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\nAuto-Submitted: auto-generated\r\n\r\n")
	text := quotedprintable.NewWriter(&m)
	text.Write([]byte(l.Text)) //nolint:errcheck // to memory
	text.Close()
	return m.Bytes()
}
