package mail

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"dray/internal/identity"
)

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func id() string { return "id" }

func TestParse(t *testing.T) {
	tests := map[string]struct {
		url, from string
		want      string // host, port and whether it is encrypted; "" for an error
	}{
		"with a password":    {"smtp://ada:se%40cret@mail.example:2525", "Dray <dray@x.example>", "mail.example 2525 false ada se@cret"},
		"without a port":     {"smtp://mail.example", "dray@x.example", "mail.example 587 false  "},
		"over TLS":           {"smtps://mail.example", "dray@x.example", "mail.example 465 true  "},
		"another protocol":   {"http://ada:secret@mail.example", "dray@x.example", ""},
		"no host":            {"smtp://ada:secret@", "dray@x.example", ""},
		"a path":             {"smtp://ada:secret@mail.example/x", "dray@x.example", ""},
		"an invalid escape":  {"smtp://ada:secret%zz@mail.example", "dray@x.example", ""},
		"no sender":          {"smtp://ada:secret@mail.example", "", ""},
		"an invalid sender":  {"smtp://ada:secret@mail.example", "dray", ""},
		"lines in a sender":  {"smtp://ada:secret@mail.example", "a@x.example\r\nBcc: b@x.example", ""},
		"several senders":    {"smtp://ada:secret@mail.example", "a@x.example, b@x.example", ""},
		"a port of no sense": {"smtp://ada:secret@mail.example:x", "a@x.example", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := Parse(tt.url, tt.from, clock, id)
			if err != nil {
				if tt.want != "" || strings.Contains(err.Error(), "secret") {
					t.Errorf("error %v", err)
				}
				return
			}
			if got := fmt.Sprint(s.host, " ", s.port, " ", s.encrypted, " ", s.user, " ", s.password); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// serve starts a server that replies with lines, whatever it is sent, and returns its
// URL and what it has received.
func serve(t *testing.T, replies ...string) (url string, received chan string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	received = make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in, all := bufio.NewReader(conn), strings.Builder{}
		for _, reply := range replies {
			fmt.Fprint(conn, reply+"\r\n")
			for until := "\n"; ; {
				line, err := in.ReadString('\n')
				all.WriteString(line)
				if strings.HasPrefix(reply, "354") {
					until = ".\r\n"
				}
				if err != nil || until == "\n" || line == until {
					break
				}
			}
		}
		received <- all.String()
	}()
	return "smtp://" + listener.Addr().String(), received
}

func TestSend(t *testing.T) {
	url, received := serve(t, "220 test", "250 test", "250 ok", "250 ok", "354 go on", "250 accepted")
	s, err := Parse(url, "Dräy <dray@x.example>", clock, id)
	if err != nil {
		t.Fatal(err)
	}
	letter := identity.Letter{To: "ada@acme.example", Name: "Ada \"L\" é", Subject: "Ihr Paßwort", Text: "Hallo é\n.\nEnde\n"}
	if err := s.Send(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	got := <-received
	for _, part := range []string{
		"MAIL FROM:<dray@x.example>", "RCPT TO:<ada@acme.example>", "Subject: =?utf-8?q?Ihr_Pa=C3=9Fwort?=", "Hallo =C3=A9\r\n..\r\nEnde\r\n",
		"Date: Sun, 01 Mar 2026 12:00:00 +0000", "Message-ID: <id@x.example>", "Auto-Submitted: auto-generated",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in %s", part, got)
		}
	}
}

func TestPasswordsAreNotSentInTheClear(t *testing.T) {
	url, _ := serve(t, "220 test", "250-test\r\n250 AUTH PLAIN", "235 ok")
	// The name is not that of the machine itself, and the server offers no TLS.
	plain, err := Parse(url, "dray@x.example", clock, id)
	if err != nil {
		t.Fatal(err)
	}
	plain.user, plain.password, plain.name = "ada", "secret", "mail.example"
	if err := plain.Send(t.Context(), identity.Letter{To: "ada@acme.example"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

func TestASilentServerIsNotWaitedFor(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s, err := Parse("smtp://"+listener.Addr().String(), "dray@x.example", clock, id)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if conn, err := listener.Accept(); err == nil {
			defer conn.Close()
			cancel()
			<-t.Context().Done()
		}
	}()
	if err := s.Send(ctx, identity.Letter{To: "ada@acme.example"}); err == nil {
		t.Error("a mail was sent")
	}
}
