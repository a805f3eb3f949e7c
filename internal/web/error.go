package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"dray/internal/textmessage"
)

//go:embed error.html
var errorHTML string

//go:embed error.css
var errorStyle string

var errorTemplate = template.Must(template.New("error").Parse(errorHTML))

// errorPolicy allows the style of the page, by its hash, and the logo.
var errorPolicy = func() string {
	sum := sha256.Sum256([]byte(errorStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// errorWords are the texts of error pages in one language.
type errorWords struct {
	Missing, MissingText string
	Busy, BusyText       string
	Failed, FailedText   string
	Dashboard            string
}

// errorDictionary has the words of each of textmessage.Languages.
var errorDictionary = map[string]errorWords{
	"en": {
		Missing: "Page not found", MissingText: "There is nothing at this address. The link may be incomplete, or the page has moved.",
		Busy: "Please try again in a moment", BusyText: "The server has too much to do right now.",
		Failed: "This did not work", FailedText: "Please try again. If it happens again, the person who runs this server can find out why.",
		Dashboard: "Go to the dashboard",
	},
	"de": {
		Missing: "Seite nicht gefunden", MissingText: "Unter dieser Adresse gibt es nichts. Vielleicht ist der Link unvollständig, oder die Seite ist umgezogen.",
		Busy: "Bitte gleich noch einmal versuchen", BusyText: "Der Server hat gerade zu viel zu tun.",
		Failed: "Das hat nicht geklappt", FailedText: "Bitte versuchen Sie es noch einmal. Wenn es wieder geschieht, kann der Betreiber dieses Servers den Grund finden.",
		Dashboard: "Zum Dashboard",
	},
	"es": {
		Missing: "Página no encontrada", MissingText: "No hay nada en esta dirección. Puede que el enlace esté incompleto o que la página se haya movido.",
		Busy: "Inténtelo de nuevo en unos instantes", BusyText: "El servidor está muy ocupado ahora mismo.",
		Failed: "No ha funcionado", FailedText: "Inténtelo de nuevo. Si vuelve a ocurrir, la persona que administra este servidor puede averiguar la causa.",
		Dashboard: "Ir al panel",
	},
	"fr": {
		Missing: "Page introuvable", MissingText: "Il n’y a rien à cette adresse. Le lien est peut-être incomplet, ou la page a été déplacée.",
		Busy: "Veuillez réessayer dans un instant", BusyText: "Le serveur est trop occupé pour le moment.",
		Failed: "Cela n’a pas fonctionné", FailedText: "Veuillez réessayer. Si cela se reproduit, la personne qui gère ce serveur peut en trouver la cause.",
		Dashboard: "Aller au tableau de bord",
	},
	"pt": {
		Missing: "Página não encontrada", MissingText: "Não há nada neste endereço. A ligação pode estar incompleta, ou a página mudou de lugar.",
		Busy: "Tente novamente daqui a pouco", BusyText: "O servidor está muito ocupado agora.",
		Failed: "Não funcionou", FailedText: "Tente novamente. Se voltar a acontecer, quem gere este servidor pode descobrir a causa.",
		Dashboard: "Ir para o painel",
	},
}

// ErrorPage writes the page of an error for people.
func ErrorPage(w http.ResponseWriter, r *http.Request, status int) {
	language := textmessage.ChooseLanguage(r.Header.Get("Accept-Language"), "")
	words := errorDictionary[language]
	view := struct {
		Language, Title, Text, Dashboard string
		Status                           int
		Style                            template.CSS
	}{Language: language, Title: words.Failed, Text: words.FailedText, Dashboard: words.Dashboard, Status: status, Style: template.CSS(errorStyle)} // a file of the program
	switch status {
	case http.StatusNotFound, http.StatusGone:
		view.Title, view.Text = words.Missing, words.MissingText
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		view.Title, view.Text = words.Busy, words.BusyText
	}
	var out bytes.Buffer
	if err := errorTemplate.Execute(&out, view); err != nil {
		out.Reset()
		out.WriteString(strconv.Itoa(status))
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", errorPolicy)
	header.Set("Content-Length", strconv.Itoa(out.Len()))
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	if vary := header.Get("Vary"); !strings.Contains(vary, "Accept-Language") {
		header.Add("Vary", "Accept, Accept-Language")
	}
	w.WriteHeader(status)
	w.Write(out.Bytes()) //nolint:errcheck // the client may be gone
}
