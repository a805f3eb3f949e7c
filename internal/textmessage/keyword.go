package textmessage

import (
	"strings"
	"time"
	"unicode"

	"dray/internal/lastmile"
)

// OptOut is a phone number's opt-out from the text messages of an organization.
type OptOut struct {
	Organization lastmile.OrganizationID
	Phone        lastmile.Phone
	At           time.Time
	Muted        bool // the recipient's own setting was changed by it
}

// The keywords that stop and restart messages, in all supported languages. A
// keyword must be the whole reply.
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

// keyword returns a reply in the form in which keywords are compared:
// lower-case letters only, so that "Opt out" and "STOP!" match.
func keyword(reply string) string {
	var b strings.Builder
	for _, c := range reply {
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

// IsStop reports whether a reply asks for no more messages.
func IsStop(r lastmile.Reply) bool { return stopWords[keyword(r.Body)] }

// IsStart reports whether a reply asks to receive messages again.
func IsStart(r lastmile.Reply) bool { return startWords[keyword(r.Body)] }
