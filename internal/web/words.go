package web

import (
	"fmt"
	"time"

	"dray/internal/trackingpage"
)

// words are the texts of a recipient's page in one language.
type words struct {
	Stages           map[trackingpage.Stage]string
	PickupStages     map[trackingpage.Stage]string // where a pickup is worded differently
	Expected, Window string
	By, Done, Late   string
	Asked            string
	Signature, Photo string
	Age              string // # is the age
	Gone, GoneDetail string
	Rate, Comments   string
	Send, Thanks     string
	Title            string

	clock       string // layout of a time of day
	date        string // layout of a day: %d is the day, %s the month
	months      [12]string
	from, until string // of windows that are open on one side; # is the time
}

// moment formats a time: the time of day, preceded by the day unless it is today.
func (w words) moment(at time.Time, zone *time.Location, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	at, now = at.In(zone), now.In(zone)
	clock := at.Format(w.clock)
	if at.Year() == now.Year() && at.YearDay() == now.YearDay() {
		return clock
	}
	return w.day(at) + ", " + clock
}

func (w words) day(at time.Time) string {
	return fmt.Sprintf(w.date, at.Day(), w.months[at.Month()-1])
}

// window formats a span of time.
func (w words) window(from, until time.Time, zone *time.Location, now time.Time) string {
	switch {
	case from.IsZero() && until.IsZero():
		return ""
	case until.IsZero():
		return fmt.Sprintf(w.from, w.moment(from, zone, now))
	case from.IsZero():
		return fmt.Sprintf(w.until, w.moment(until, zone, now))
	}
	if first, last := from.In(zone), until.In(zone); first.Year() == last.Year() && first.YearDay() == last.YearDay() {
		return w.moment(from, zone, now) + " – " + last.Format(w.clock)
	}
	return w.moment(from, zone, now) + " – " + w.moment(until, zone, now)
}

// dictionary has the words of each of textmessage.Languages.
var dictionary = map[string]words{
	"en": {
		Title: "Your delivery",
		Stages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Your delivery is scheduled",
			trackingpage.StageAssigned:  "Your delivery is being prepared",
			trackingpage.StageActive:    "Your delivery is on its way",
			trackingpage.StageArrived:   "Your delivery has arrived",
			trackingpage.StageCompleted: "Your delivery is complete",
			trackingpage.StageFailed:    "Your delivery could not be completed",
		},
		PickupStages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Your pickup is scheduled",
			trackingpage.StageAssigned:  "Your pickup is being prepared",
			trackingpage.StageActive:    "Someone is on the way to you",
			trackingpage.StageArrived:   "Someone is there for your pickup",
			trackingpage.StageCompleted: "Your pickup is complete",
			trackingpage.StageFailed:    "Your pickup could not be completed",
		},
		Expected: "Expected", Window: "Time window", By: "Coming to you", Done: "Time", Late: "It is later than planned.",
		Asked: "Please have ready", Signature: "Your signature", Photo: "A photo will be taken", Age: "Proof that you are at least # years old",
		Gone: "This page is not there", GoneDetail: "The link is wrong, or the delivery was completed some time ago.",
		Rate: "How was it?", Comments: "Anything to add?", Send: "Send", Thanks: "Thank you for your feedback.",
		clock: "3:04 PM", date: "%[2]s %[1]d", from: "from %s", until: "until %s",
		months: [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	},
	"es": {
		Title: "Su entrega",
		Stages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Su entrega está programada",
			trackingpage.StageAssigned:  "Su entrega se está preparando",
			trackingpage.StageActive:    "Su entrega está en camino",
			trackingpage.StageArrived:   "Su entrega ha llegado",
			trackingpage.StageCompleted: "Su entrega se ha completado",
			trackingpage.StageFailed:    "No se pudo completar su entrega",
		},
		PickupStages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Su recogida está programada",
			trackingpage.StageAssigned:  "Su recogida se está preparando",
			trackingpage.StageActive:    "Alguien va de camino a recoger",
			trackingpage.StageArrived:   "Han llegado para su recogida",
			trackingpage.StageCompleted: "Su recogida se ha completado",
			trackingpage.StageFailed:    "No se pudo completar su recogida",
		},
		Expected: "Llegada prevista", Window: "Horario", By: "Le atiende", Done: "Hora", Late: "Va con retraso.",
		Asked: "Tenga preparado", Signature: "Su firma", Photo: "Se tomará una foto", Age: "Un documento que acredite que tiene al menos # años",
		Gone: "Esta página no existe", GoneDetail: "El enlace no es correcto o la entrega se completó hace tiempo.",
		Rate: "¿Qué tal fue?", Comments: "¿Quiere añadir algo?", Send: "Enviar", Thanks: "Gracias por su opinión.",
		clock: "15:04", date: "%d de %s", from: "desde las %s", until: "hasta las %s",
		months: [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
	},
	"fr": {
		Title: "Votre livraison",
		Stages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Votre livraison est prévue",
			trackingpage.StageAssigned:  "Votre livraison est en préparation",
			trackingpage.StageActive:    "Votre livraison est en route",
			trackingpage.StageArrived:   "Votre livraison est arrivée",
			trackingpage.StageCompleted: "Votre livraison est terminée",
			trackingpage.StageFailed:    "Votre livraison n’a pas pu être effectuée",
		},
		PickupStages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Votre enlèvement est prévu",
			trackingpage.StageAssigned:  "Votre enlèvement est en préparation",
			trackingpage.StageActive:    "Quelqu’un est en route vers vous",
			trackingpage.StageArrived:   "Quelqu’un est là pour l’enlèvement",
			trackingpage.StageCompleted: "Votre enlèvement est terminé",
			trackingpage.StageFailed:    "Votre enlèvement n’a pas pu être effectué",
		},
		Expected: "Arrivée prévue", Window: "Créneau", By: "Vient chez vous", Done: "Heure", Late: "C’est plus tard que prévu.",
		Asked: "Merci de préparer", Signature: "Votre signature", Photo: "Une photo sera prise", Age: "Un justificatif que vous avez au moins # ans",
		Gone: "Cette page n’existe pas", GoneDetail: "Le lien est erroné ou la livraison est terminée depuis un moment.",
		Rate: "Comment cela s’est-il passé ?", Comments: "Quelque chose à ajouter ?", Send: "Envoyer", Thanks: "Merci pour votre avis.",
		clock: "15:04", date: "%d %s", from: "à partir de %s", until: "jusqu’à %s",
		months: [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
	},
	"de": {
		Title: "Ihre Lieferung",
		Stages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Ihre Lieferung ist geplant",
			trackingpage.StageAssigned:  "Ihre Lieferung wird vorbereitet",
			trackingpage.StageActive:    "Ihre Lieferung ist unterwegs",
			trackingpage.StageArrived:   "Ihre Lieferung ist da",
			trackingpage.StageCompleted: "Ihre Lieferung ist abgeschlossen",
			trackingpage.StageFailed:    "Ihre Lieferung konnte nicht abgeschlossen werden",
		},
		PickupStages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Ihre Abholung ist geplant",
			trackingpage.StageAssigned:  "Ihre Abholung wird vorbereitet",
			trackingpage.StageActive:    "Es ist jemand zu Ihnen unterwegs",
			trackingpage.StageArrived:   "Es ist jemand für Ihre Abholung da",
			trackingpage.StageCompleted: "Ihre Abholung ist abgeschlossen",
			trackingpage.StageFailed:    "Ihre Abholung konnte nicht abgeschlossen werden",
		},
		Expected: "Erwartet", Window: "Zeitfenster", By: "Zu Ihnen kommt", Done: "Zeit", Late: "Es wird später als geplant.",
		Asked: "Bitte halten Sie bereit", Signature: "Ihre Unterschrift", Photo: "Es wird ein Foto gemacht", Age: "Nachweis, dass Sie mindestens # Jahre alt sind",
		Gone: "Diese Seite gibt es nicht", GoneDetail: "Der Link stimmt nicht, oder die Lieferung ist schon länger abgeschlossen.",
		Rate: "Wie war es?", Comments: "Möchten Sie etwas hinzufügen?", Send: "Senden", Thanks: "Danke für Ihre Rückmeldung.",
		clock: "15:04", date: "%d. %s", from: "ab %s", until: "bis %s",
		months: [12]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
	},
	"pt": {
		Title: "A sua entrega",
		Stages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "A sua entrega está agendada",
			trackingpage.StageAssigned:  "A sua entrega está em preparação",
			trackingpage.StageActive:    "A sua entrega está a caminho",
			trackingpage.StageArrived:   "A sua entrega chegou",
			trackingpage.StageCompleted: "A sua entrega foi concluída",
			trackingpage.StageFailed:    "Não foi possível concluir a sua entrega",
		},
		PickupStages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "A sua recolha está agendada",
			trackingpage.StageAssigned:  "A sua recolha está em preparação",
			trackingpage.StageActive:    "Alguém está a caminho",
			trackingpage.StageArrived:   "Chegaram para a sua recolha",
			trackingpage.StageCompleted: "A sua recolha foi concluída",
			trackingpage.StageFailed:    "Não foi possível concluir a sua recolha",
		},
		Expected: "Chegada prevista", Window: "Horário", By: "Vai ter consigo", Done: "Hora", Late: "Está atrasada.",
		Asked: "Tenha à mão", Signature: "A sua assinatura", Photo: "Será tirada uma fotografia", Age: "Comprovativo de que tem pelo menos # anos",
		Gone: "Esta página não existe", GoneDetail: "A ligação está errada ou a entrega foi concluída há algum tempo.",
		Rate: "Como correu?", Comments: "Quer acrescentar algo?", Send: "Enviar", Thanks: "Obrigado pela sua opinião.",
		clock: "15:04", date: "%d de %s", from: "a partir das %s", until: "até às %s",
		months: [12]string{"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"},
	},
}
