package textmessage

import (
	"strings"
	"time"
	"unicode"

	"dray/internal/lastmile"
)

// OptOut is that a number wants no text messages of an organization.
type OptOut struct {
	Organization lastmile.OrganizationID
	Phone        lastmile.Phone
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

// IsStart reports whether a reply asks for messages again.
func IsStart(r lastmile.Reply) bool { return startWords[keyword(r.Body)] }
