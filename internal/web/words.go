package web

import (
	"fmt"
	"time"

	"dray/internal/trackingpage"
)

// words are the texts of a recipient's page in one language.
type words struct {
	Stages       map[trackingpage.Stage]string
	PickupStages map[trackingpage.Stage]string // where a pickup is worded differently
	Steps        map[trackingpage.Stage]string // short names of the stages
	PickupSteps  map[trackingpage.Stage]string // where a pickup is worded differently
	Progress     string                        // name of the list of steps
	Map          string

	Expected, Window string
	By, Here         string // labels of the worker on the way, and on site
	Tried            string // label of the time of a failed task
	Late             string

	Asked            string
	Signature, Photo string
	Age              string // # is the age

	Reasons              map[string]string // by lastmile.FailureReasons, without OTHER
	Next                 string
	Contact              string // %s is the organization
	Choose               string
	NewTime, RequestTime string
	Requested            string // %[1]s is the time, %[2]s the organization
	Questions            string
	Call                 string // %s is the organization

	Gone, GoneDetail string
	Rate, Comments   string
	Send, Thanks     string
	Problem          string

	clock            string // layout of a time of day
	oClock           string // after a time of day
	date             string // layout of a day: %d is the day, %s the month
	months           [12]string
	weekdays         [7]string
	from, until      string // of windows that are open on one side; %s is the time of day
	fromDay, tillDay string // the same with a day
}

// headline returns the name of a stage.
func (w words) headline(s trackingpage.Stage, pickup bool) string {
	if text := w.PickupStages[s]; pickup && text != "" {
		return text
	}
	return w.Stages[s]
}

// step returns the short name of a stage.
func (w words) step(s trackingpage.Stage, pickup bool) string {
	if text := w.PickupSteps[s]; pickup && text != "" {
		return text
	}
	return w.Steps[s]
}

// sameDay reports whether two times are on the same day in a zone.
func sameDay(a, b time.Time, zone *time.Location) bool {
	a, b = a.In(zone), b.In(zone)
	return a.Year() == b.Year() && a.YearDay() == b.YearDay()
}

// moment formats a time: the time of day, preceded by the day unless it is today.
func (w words) moment(at time.Time, zone *time.Location, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	clock := at.In(zone).Format(w.clock) + w.oClock
	if sameDay(at, now, zone) {
		return clock
	}
	return w.day(at.In(zone)) + ", " + clock
}

func (w words) day(at time.Time) string {
	return fmt.Sprintf(w.date, at.Day(), w.months[at.Month()-1])
}

// span formats two times of the same day.
func (w words) span(from, until time.Time, zone *time.Location) string {
	return from.In(zone).Format(w.clock) + " – " + until.In(zone).Format(w.clock) + w.oClock
}

// slot formats a time that can be requested, with its day.
func (w words) slot(s trackingpage.Slot, zone *time.Location) string {
	at := s.After.In(zone)
	return w.weekdays[at.Weekday()] + ", " + w.day(at) + ", " + w.span(s.After, s.Before, zone)
}

// window formats a span of time.
func (w words) window(from, until time.Time, zone *time.Location, now time.Time) string {
	open := func(form, formDay string, at time.Time) string {
		if !sameDay(at, now, zone) {
			form = formDay
		}
		return fmt.Sprintf(form, w.moment(at, zone, now))
	}
	switch {
	case from.IsZero() && until.IsZero():
		return ""
	case until.IsZero():
		return open(w.from, w.fromDay, from)
	case from.IsZero():
		return open(w.until, w.tillDay, until)
	case !sameDay(from, until, zone):
		return w.moment(from, zone, now) + " – " + w.moment(until, zone, now)
	case sameDay(from, now, zone):
		return w.span(from, until, zone)
	}
	return w.day(from.In(zone)) + ", " + w.span(from, until, zone)
}

// dictionary has the words of each of textmessage.Languages. Portuguese uses words
// that are common in Portugal and in Brazil where there is a choice.
var dictionary = map[string]words{
	"en": {
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
			trackingpage.StageActive:    "We are on the way to pick up from you",
			trackingpage.StageArrived:   "We have arrived for your pickup",
			trackingpage.StageCompleted: "Your pickup is complete",
			trackingpage.StageFailed:    "Your pickup could not be completed",
		},
		Steps: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Scheduled", trackingpage.StageAssigned: "Preparing", trackingpage.StageActive: "On the way",
			trackingpage.StageArrived: "Arrived", trackingpage.StageCompleted: "Delivered", trackingpage.StageFailed: "Not delivered",
		},
		PickupSteps: map[trackingpage.Stage]string{trackingpage.StageCompleted: "Picked up", trackingpage.StageFailed: "Not picked up"},
		Progress:    "Progress", Map: "Map",
		Expected: "Expected", Window: "Time window", By: "Coming to you", Here: "Here now", Tried: "Attempted", Late: "It is later than planned.",
		Asked: "Good to know", Signature: "You will be asked to sign.", Photo: "A photo will be taken.", Age: "Please have proof ready that you are at least # years old.",
		Reasons: map[string]string{
			"RECIPIENT_UNAVAILABLE": "No one was available at the address.",
			"UNABLE_TO_LOCATE":      "We could not find the address.",
			"WRONG_ADDRESS":         "The address we were given is not correct.",
			"NO_ACCESS":             "We could not get access to the building.",
			"REFUSED_BY_RECIPIENT":  "It was declined at the address.",
			"AGE_NOT_VERIFIED":      "We could not confirm the required minimum age.",
			"DAMAGED":               "The item was damaged.",
		},
		Next: "What happens next", Contact: "Please contact %s to arrange what happens next.", Choose: "You can request another time.",
		NewTime: "Another time", RequestTime: "Request this time", Requested: "You requested %[1]s. %[2]s has received your request.",
		Questions: "Questions?", Call: "Call %s",
		Gone: "This page is not available", GoneDetail: "The link is wrong, or the delivery was completed some time ago.",
		Rate: "How was it?", Comments: "Anything to add?", Send: "Send", Thanks: "Thank you for your feedback.", Problem: "That did not work. Please try again.",
		clock: "3:04 PM", date: "%[2]s %[1]d", from: "from %s", until: "until %s", fromDay: "from %s", tillDay: "until %s",
		months:   [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
		weekdays: [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
	},
	"es": {
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
			trackingpage.StageActive:    "Vamos de camino para la recogida",
			trackingpage.StageArrived:   "Hemos llegado para la recogida",
			trackingpage.StageCompleted: "Su recogida se ha completado",
			trackingpage.StageFailed:    "No se pudo completar su recogida",
		},
		Steps: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Programada", trackingpage.StageAssigned: "En preparación", trackingpage.StageActive: "En camino",
			trackingpage.StageArrived: "En el lugar", trackingpage.StageCompleted: "Entregada", trackingpage.StageFailed: "No entregada",
		},
		PickupSteps: map[trackingpage.Stage]string{trackingpage.StageCompleted: "Completada", trackingpage.StageFailed: "No completada"},
		Progress:    "Progreso", Map: "Mapa",
		Expected: "Llegada prevista", Window: "Horario", By: "Va de camino", Here: "Ya está ahí", Tried: "Intento", Late: "Va con retraso.",
		Asked: "Tenga en cuenta", Signature: "Se le pedirá su firma.", Photo: "Se tomará una foto.", Age: "Tenga a mano un documento que acredite que tiene al menos # años.",
		Reasons: map[string]string{
			"RECIPIENT_UNAVAILABLE": "No había nadie en la dirección.",
			"UNABLE_TO_LOCATE":      "No encontramos la dirección.",
			"WRONG_ADDRESS":         "La dirección que nos dieron no es correcta.",
			"NO_ACCESS":             "No pudimos acceder al edificio.",
			"REFUSED_BY_RECIPIENT":  "Fue rechazada en la dirección.",
			"AGE_NOT_VERIFIED":      "No pudimos comprobar la edad mínima exigida.",
			"DAMAGED":               "El artículo estaba dañado.",
		},
		Next: "Qué ocurre ahora", Contact: "Póngase en contacto con %s para acordar cómo continuar.", Choose: "Puede solicitar otro horario.",
		NewTime: "Otro horario", RequestTime: "Solicitar este horario", Requested: "Ha solicitado: %[1]s. %[2]s ha recibido su solicitud.",
		Questions: "¿Preguntas?", Call: "Llamar a %s",
		Gone: "Esta página no está disponible", GoneDetail: "El enlace no es correcto o la entrega se completó hace tiempo.",
		Rate: "¿Qué tal fue?", Comments: "¿Quiere añadir algo?", Send: "Enviar", Thanks: "Gracias por su opinión.", Problem: "No ha funcionado. Inténtelo de nuevo.",
		clock: "15:04", date: "%d de %s", from: "desde las %s", until: "hasta las %s", fromDay: "desde el %s", tillDay: "hasta el %s",
		months:   [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
		weekdays: [7]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"},
	},
	"fr": {
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
			trackingpage.StageActive:    "Nous sommes en route pour l’enlèvement",
			trackingpage.StageArrived:   "Nous sommes là pour l’enlèvement",
			trackingpage.StageCompleted: "Votre enlèvement est terminé",
			trackingpage.StageFailed:    "Votre enlèvement n’a pas pu être effectué",
		},
		Steps: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Prévue", trackingpage.StageAssigned: "En préparation", trackingpage.StageActive: "En route",
			trackingpage.StageArrived: "Sur place", trackingpage.StageCompleted: "Livrée", trackingpage.StageFailed: "Non livrée",
		},
		PickupSteps: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Prévu", trackingpage.StageCompleted: "Effectué", trackingpage.StageFailed: "Non effectué",
		},
		Progress: "Progression", Map: "Carte",
		Expected: "Arrivée prévue", Window: "Créneau", By: "Vient chez vous", Here: "Sur place", Tried: "Tentative", Late: "Nous avons du retard.",
		Asked: "À savoir", Signature: "Une signature vous sera demandée.", Photo: "Une photo sera prise.", Age: "Préparez un justificatif prouvant que vous avez au moins # ans.",
		Reasons: map[string]string{
			"RECIPIENT_UNAVAILABLE": "Il n’y avait personne à l’adresse.",
			"UNABLE_TO_LOCATE":      "Nous n’avons pas trouvé l’adresse.",
			"WRONG_ADDRESS":         "L’adresse indiquée n’est pas correcte.",
			"NO_ACCESS":             "Nous n’avons pas pu accéder au bâtiment.",
			"REFUSED_BY_RECIPIENT":  "La remise a été refusée sur place.",
			"AGE_NOT_VERIFIED":      "Nous n’avons pas pu vérifier l’âge minimum requis.",
			"DAMAGED":               "L’article était endommagé.",
		},
		Next: "Et maintenant ?", Contact: "Veuillez contacter %s pour convenir de la suite.", Choose: "Vous pouvez demander un autre créneau.",
		NewTime: "Autre créneau", RequestTime: "Demander ce créneau", Requested: "Vous avez demandé : %[1]s. %[2]s a reçu votre demande.",
		Questions: "Une question ?", Call: "Appeler %s",
		Gone: "Cette page n’est pas disponible", GoneDetail: "Le lien est erroné ou la livraison est terminée depuis un moment.",
		Rate: "Comment cela s’est-il passé ?", Comments: "Quelque chose à ajouter ?", Send: "Envoyer", Thanks: "Merci pour votre avis.", Problem: "Cela n’a pas fonctionné. Veuillez réessayer.",
		clock: "15:04", date: "%d %s", from: "à partir de %s", until: "jusqu’à %s", fromDay: "à partir du %s", tillDay: "jusqu’au %s",
		months:   [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
		weekdays: [7]string{"dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"},
	},
	"de": {
		Stages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Ihre Lieferung ist geplant",
			trackingpage.StageAssigned:  "Ihre Lieferung wird vorbereitet",
			trackingpage.StageActive:    "Ihre Lieferung ist unterwegs",
			trackingpage.StageArrived:   "Ihre Lieferung ist da",
			trackingpage.StageCompleted: "Ihre Lieferung wurde zugestellt",
			trackingpage.StageFailed:    "Ihre Lieferung konnte nicht zugestellt werden",
		},
		PickupStages: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Ihre Abholung ist geplant",
			trackingpage.StageAssigned:  "Ihre Abholung wird vorbereitet",
			trackingpage.StageActive:    "Wir sind zur Abholung unterwegs",
			trackingpage.StageArrived:   "Wir sind zur Abholung da",
			trackingpage.StageCompleted: "Ihre Sendung wurde abgeholt",
			trackingpage.StageFailed:    "Ihre Sendung konnte nicht abgeholt werden",
		},
		Steps: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Geplant", trackingpage.StageAssigned: "In Vorbereitung", trackingpage.StageActive: "Unterwegs",
			trackingpage.StageArrived: "Vor Ort", trackingpage.StageCompleted: "Zugestellt", trackingpage.StageFailed: "Nicht zugestellt",
		},
		PickupSteps: map[trackingpage.Stage]string{trackingpage.StageCompleted: "Abgeholt", trackingpage.StageFailed: "Nicht abgeholt"},
		Progress:    "Fortschritt", Map: "Karte",
		Expected: "Voraussichtlich", Window: "Zeitfenster", By: "Zu Ihnen kommt", Here: "Jetzt vor Ort", Tried: "Versucht", Late: "Leider gibt es eine Verspätung.",
		Asked: "Gut zu wissen", Signature: "Sie werden um Ihre Unterschrift gebeten.", Photo: "Es wird ein Foto gemacht.", Age: "Bitte halten Sie einen Nachweis bereit, dass Sie mindestens # Jahre alt sind.",
		Reasons: map[string]string{
			"RECIPIENT_UNAVAILABLE": "An der Adresse war niemand anzutreffen.",
			"UNABLE_TO_LOCATE":      "Wir haben die Adresse nicht gefunden.",
			"WRONG_ADDRESS":         "Die angegebene Adresse stimmt nicht.",
			"NO_ACCESS":             "Wir hatten keinen Zugang zum Gebäude.",
			"REFUSED_BY_RECIPIENT":  "Die Übergabe wurde vor Ort abgelehnt.",
			"AGE_NOT_VERIFIED":      "Das erforderliche Mindestalter konnte nicht nachgewiesen werden.",
			"DAMAGED":               "Die Ware war beschädigt.",
		},
		Next: "Wie geht es weiter?", Contact: "Bitte wenden Sie sich an %s, um das weitere Vorgehen zu vereinbaren.", Choose: "Sie können einen anderen Termin anfragen.",
		NewTime: "Anderer Termin", RequestTime: "Diesen Termin anfragen", Requested: "Ihre Anfrage: %[1]s. %[2]s hat sie erhalten.",
		Questions: "Fragen?", Call: "%s anrufen",
		Gone: "Diese Seite ist nicht verfügbar", GoneDetail: "Der Link ist falsch, oder die Lieferung ist schon länger abgeschlossen.",
		Rate: "Wie zufrieden waren Sie?", Comments: "Möchten Sie etwas hinzufügen?", Send: "Senden", Thanks: "Vielen Dank für Ihre Rückmeldung.", Problem: "Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.",
		clock: "15:04", oClock: " Uhr", date: "%d. %s", from: "ab %s", until: "bis %s", fromDay: "ab %s", tillDay: "bis %s",
		months:   [12]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
		weekdays: [7]string{"Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"},
	},
	"pt": {
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
			trackingpage.StageActive:    "Estamos a caminho para a recolha",
			trackingpage.StageArrived:   "Já estamos no local para a recolha",
			trackingpage.StageCompleted: "A sua recolha foi concluída",
			trackingpage.StageFailed:    "Não foi possível concluir a sua recolha",
		},
		Steps: map[trackingpage.Stage]string{
			trackingpage.StageScheduled: "Agendada", trackingpage.StageAssigned: "Em preparação", trackingpage.StageActive: "A caminho",
			trackingpage.StageArrived: "No local", trackingpage.StageCompleted: "Entregue", trackingpage.StageFailed: "Não entregue",
		},
		PickupSteps: map[trackingpage.Stage]string{trackingpage.StageCompleted: "Concluída", trackingpage.StageFailed: "Não concluída"},
		Progress:    "Andamento", Map: "Mapa",
		Expected: "Chegada prevista", Window: "Horário", By: "A caminho", Here: "Já no local", Tried: "Tentativa", Late: "Infelizmente, há um atraso.",
		Asked: "É bom saber", Signature: "Será pedida a sua assinatura.", Photo: "Será tirada uma foto.", Age: "Tenha à mão um documento que comprove que tem pelo menos # anos.",
		Reasons: map[string]string{
			"RECIPIENT_UNAVAILABLE": "Não havia ninguém no endereço.",
			"UNABLE_TO_LOCATE":      "Não foi possível encontrar o endereço.",
			"WRONG_ADDRESS":         "O endereço indicado não está correto.",
			"NO_ACCESS":             "Não foi possível entrar no edifício.",
			"REFUSED_BY_RECIPIENT":  "Foi recusada no local.",
			"AGE_NOT_VERIFIED":      "Não foi possível confirmar a idade mínima exigida.",
			"DAMAGED":               "O artigo estava danificado.",
		},
		Next: "O que acontece agora", Contact: "Fale com %s para combinar os próximos passos.", Choose: "Pode pedir outro horário.",
		NewTime: "Outro horário", RequestTime: "Pedir este horário", Requested: "Pediu: %[1]s. %[2]s recebeu o seu pedido.",
		Questions: "Dúvidas?", Call: "Ligar para %s",
		Gone: "Esta página não está disponível", GoneDetail: "O link está errado ou a entrega foi concluída há algum tempo.",
		Rate: "Como foi?", Comments: "Quer acrescentar algo?", Send: "Enviar", Thanks: "Agradecemos a sua opinião.", Problem: "Não funcionou. Tente novamente.",
		clock: "15:04", date: "%d de %s", from: "a partir das %s", until: "até às %s", fromDay: "a partir de %s", tillDay: "até %s",
		months:   [12]string{"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"},
		weekdays: [7]string{"domingo", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado"},
	},
}
