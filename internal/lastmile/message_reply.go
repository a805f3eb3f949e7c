package lastmile

import (
	"strings"
	"time"
	"unicode"
)

// Reply is a text message that somebody sent to a number of ours.
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
	case !printable(r.ID) || !printable(string(r.From)) || !printable(r.To):
		return Invalid("id, from and to must be plain text")
	}
	r.Body = cut(strings.ToValidUTF8(r.Body, "\uFFFD"), maxReply)
	return nil
}

// printable tells whether a text is ASCII that can be seen.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// OptOut is that a number wants no text messages of an organization.
type OptOut struct {
	Organization OrganizationID
	Phone        Phone
	At           time.Time
	Muted        bool // the recipient's own setting was changed for it
}

// The words that stop messages and start them again, in the languages of the
// program. A word counts when it is the whole reply.
var (
	stopWords = words(`stop stopall stopp unsubscribe cancel end quit optout revoke
		baja alto parar pare cancelar
		arrêt arret arrêter arreter désabonner desabonner
		abmelden abbestellen stoppen
		sair remover`)
	startWords = words(`start unstop subscribe
		alta empezar comenzar iniciar
		commencer reprendre abonner
		anmelden starten
		voltar recomeçar recomecar`)
)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// keyword is a reply as the words are compared: letters only, small ones. "Opt
// out" and "STOP!" are words too.
func (r Reply) keyword() string {
	var b strings.Builder
	for _, c := range r.Body {
		if unicode.IsLetter(c) {
			b.WriteRune(unicode.ToLower(c))
		} else if !unicode.IsSpace(c) && !unicode.IsPunct(c) && !unicode.In(c, unicode.C, unicode.Variation_Selector) {
			return ""
		}
		if b.Len() > 40 {
			return ""
		}
	}
	return b.String()
}

// Stops tells whether somebody wants no more messages.
func (r Reply) Stops() bool { return stopWords[r.keyword()] }

// Starts tells whether somebody wants messages again.
func (r Reply) Starts() bool { return startWords[r.keyword()] }
