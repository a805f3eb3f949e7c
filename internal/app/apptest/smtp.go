package apptest

import (
	"bufio"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
)

// Mailbox is an SMTP server that keeps the mails that it accepts.
type Mailbox struct {
	URL string

	mu     sync.Mutex
	reject bool
	mails  []ReceivedMail
}

// ReceivedMail is a decoded mail.
type ReceivedMail struct{ To, Subject, Text string }

// NewMailbox starts a server.
func NewMailbox(t testing.TB) *Mailbox {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &Mailbox{URL: "smtp://dray:secret@" + listener.Addr().String()}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { b.serve(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	return b
}

// Reject makes the server reject mails, or accept them again.
func (b *Mailbox) Reject(all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reject = all
}

// Mails returns the mails accepted since the last call.
func (b *Mailbox) Mails() []ReceivedMail {
	b.mu.Lock()
	defer b.mu.Unlock()
	mails := b.mails
	b.mails = nil
	return mails
}

func (b *Mailbox) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	fmt.Fprint(conn, "220 test\r\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		reply := "250 ok"
		switch strings.ToUpper(strings.Fields(line + " x")[0]) {
		case "EHLO":
			reply = "250-test\r\n250 AUTH PLAIN"
		case "AUTH":
			reply = "235 ok"
		case "DATA":
			fmt.Fprint(conn, "354 go on\r\n")
			reply = b.receive(in)
		case "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		}
		fmt.Fprint(conn, reply+"\r\n")
	}
}

func (b *Mailbox) receive(in *bufio.Reader) string {
	var text strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return "451 incomplete"
		}
		if line == ".\r\n" {
			break
		}
		text.WriteString(strings.TrimPrefix(line, "."))
	}
	message, err := mail.ReadMessage(strings.NewReader(text.String()))
	if err != nil {
		return "550 malformed"
	}
	body, err := io.ReadAll(quotedprintable.NewReader(message.Body))
	if err != nil {
		return "550 malformed"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reject {
		return "451 later"
	}
	b.mails = append(b.mails, ReceivedMail{To: message.Header.Get("To"), Subject: message.Header.Get("Subject"), Text: strings.ReplaceAll(string(body), "\r\n", "\n")})
	return "250 accepted"
}
