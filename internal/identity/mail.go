package identity

import (
	"cmp"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Strangers is the organization of mails that a caller without credentials requested.
// Whether there is an administrator with the e-mail address is found out when the mail
// is sent, so that the response does not depend on it.
const Strangers lastmile.OrganizationID = "-"

// MaxMails is the maximum number of mails of an organization that wait to be sent.
const MaxMails = 1000

// Mail is a mail that waits to be sent: an Invitation or a Reset. It contains no
// secret; its link is made when it is sent.
type Mail struct {
	Organization lastmile.OrganizationID
	ID           string
	Kind         LinkKind
	Admin        lastmile.AdminID // empty for those of Strangers
	Email        string           // of those of Strangers
	DropFactor   bool             // see Link
	Created      time.Time
}

// Letter is what a mail says.
type Letter struct {
	To, Name      string
	Subject, Text string
}

// countryLanguages are the languages of countries other than the default.
var countryLanguages = map[string]string{
	"DE": "de", "AT": "de", "CH": "de", "LI": "de", "LU": "fr", "FR": "fr", "BE": "fr", "MC": "fr", "SN": "fr", "CI": "fr",
	"ES": "es", "MX": "es", "AR": "es", "CO": "es", "CL": "es", "PE": "es", "UY": "es", "EC": "es", "CR": "es", "PA": "es", "GT": "es", "DO": "es", "BO": "es", "PY": "es",
	"PT": "pt", "BR": "pt", "AO": "pt", "MZ": "pt", "CV": "pt",
}

// Compose returns the letter with a link.
func Compose(kind LinkKind, admin lastmile.Admin, org lastmile.Organization, language, link string) Letter {
	texts := letters[cmp.Or(language, countryLanguages[org.Country], Languages[0])][kind]
	fill := strings.NewReplacer("{name}", oneLine(admin.Name), "{organization}", oneLine(org.Name), "{link}", link)
	return Letter{To: admin.Email, Name: oneLine(admin.Name), Subject: fill.Replace(texts.subject), Text: fill.Replace(texts.text)}
}

// oneLine returns a text without control characters: names must not add lines to a
// mail.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

type letter struct{ subject, text string }

// letters are the texts by language and kind.
var letters = map[string]map[LinkKind]letter{
	"en": {
		Invitation: {"Your invitation to {organization}", "Hello {name},\n\nYou are invited to the dashboard of {organization}. Choose your password here:\n\n{link}\n\nThe link works once, for seven days.\n"},
		Reset:      {"Choose a new password", "Hello {name},\n\nA new password was requested for your account at {organization}. Choose it here:\n\n{link}\n\nThe link works once, for one hour. If you did not request it, ignore this mail: your password stays as it is.\n"},
	},
	"de": {
		Invitation: {"Ihre Einladung zu {organization}", "Guten Tag {name},\n\nSie sind zum Dashboard von {organization} eingeladen. Wählen Sie hier Ihr Passwort:\n\n{link}\n\nDer Link funktioniert einmal, sieben Tage lang.\n"},
		Reset:      {"Neues Passwort wählen", "Guten Tag {name},\n\nfür Ihr Konto bei {organization} wurde ein neues Passwort angefordert. Wählen Sie es hier:\n\n{link}\n\nDer Link funktioniert einmal, eine Stunde lang. Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.\n"},
	},
	"fr": {
		Invitation: {"Votre invitation chez {organization}", "Bonjour {name},\n\nVous êtes invité(e) au tableau de bord de {organization}. Choisissez votre mot de passe ici :\n\n{link}\n\nLe lien fonctionne une seule fois, pendant sept jours.\n"},
		Reset:      {"Choisir un nouveau mot de passe", "Bonjour {name},\n\nUn nouveau mot de passe a été demandé pour votre compte chez {organization}. Choisissez-le ici :\n\n{link}\n\nLe lien fonctionne une seule fois, pendant une heure. Si vous n'êtes pas à l'origine de cette demande, ignorez ce message : votre mot de passe ne change pas.\n"},
	},
	"es": {
		Invitation: {"Su invitación a {organization}", "Hola, {name}:\n\nLe han invitado al panel de {organization}. Elija aquí su contraseña:\n\n{link}\n\nEl enlace funciona una sola vez, durante siete días.\n"},
		Reset:      {"Elija una nueva contraseña", "Hola, {name}:\n\nSe ha solicitado una nueva contraseña para su cuenta en {organization}. Elíjala aquí:\n\n{link}\n\nEl enlace funciona una sola vez, durante una hora. Si no la ha solicitado, ignore este mensaje: su contraseña no cambia.\n"},
	},
	"pt": {
		Invitation: {"O seu convite para {organization}", "Olá, {name},\n\nFoi convidado para o painel de {organization}. Escolha aqui a sua palavra-passe:\n\n{link}\n\nA ligação funciona uma única vez, durante sete dias.\n"},
		Reset:      {"Escolha uma nova palavra-passe", "Olá, {name},\n\nFoi pedida uma nova palavra-passe para a sua conta em {organization}. Escolha-a aqui:\n\n{link}\n\nA ligação funciona uma única vez, durante uma hora. Se não a pediu, ignore esta mensagem: a sua palavra-passe não muda.\n"},
	},
}
