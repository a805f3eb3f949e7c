package lastmile

import "strings"

// Reply is a text message sent to a number of the installation.
type Reply struct {
	Gateway string // that brought it
	ID      string // by which the gateway knows it
	From    Phone
	To      string
	Body    string
}

// maxReply is the longest text of a reply that is kept, in characters.
const maxReply = 1_600

// Check refuses a reply that no gateway would bring, and cuts its text.
func (r *Reply) Check() error {
	switch {
	case r.ID == "":
		return Missing("id")
	case len(r.ID) > 100:
		return Invalid("id has %d characters; at most 100 are allowed", len(r.ID))
	case r.From == "":
		return Missing("from")
	case len(r.From) > 64 || len(r.To) > 64:
		return Invalid("from and to must be telephone numbers")
	case !PrintableASCII(r.ID) || !PrintableASCII(string(r.From)) || !PrintableASCII(r.To):
		return Invalid("id, from and to must be plain text")
	}
	r.Body = Truncate(strings.ToValidUTF8(r.Body, "\uFFFD"), maxReply)
	return nil
}
