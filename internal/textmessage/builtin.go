package textmessage

// builtIn are the default texts by language and kind, for drop-offs and for
// pickups. They only use characters of the GSM alphabet; others would more than
// double the cost of a message.
var builtIn = map[string]map[Kind][2]string{
	"en": {
		KindStarted: {
			"{organization}: {worker} is on the way with your delivery and will be there at about {time}. Follow it here: {tracking}",
			"{organization}: {worker} is on the way to pick up from you and will be there at about {time}. Follow it here: {tracking}",
		},
		KindETA: {
			"{organization}: your delivery will be there in about {eta} min. {tracking}",
			"{organization}: {worker} will be there for the pickup in about {eta} min. {tracking}",
		},
		KindDelayed: {
			"{organization}: sorry, your delivery is running about {delay} min late. {tracking}",
			"{organization}: sorry, your pickup is running about {delay} min late. {tracking}",
		},
		KindArrived: {
			"{organization}: {worker} has arrived with your delivery.",
			"{organization}: {worker} has arrived for the pickup.",
		},
		KindCompleted: {
			"{organization}: your delivery is complete. Thank you! {tracking}",
			"{organization}: your pickup is complete. Thank you!",
		},
		KindFailed: {
			"{organization}: we could not complete your delivery. Details: {tracking}",
			"{organization}: we could not complete your pickup. Details: {tracking}",
		},
	},
	"es": {
		KindStarted: {
			"{organization}: {worker} va en camino con su entrega y llega hacia las {time}. Siga el reparto: {tracking}",
			"{organization}: {worker} va en camino para recoger su paquete y llega hacia las {time}. Siga la recogida: {tracking}",
		},
		KindETA: {
			"{organization}: su entrega llega en unos {eta} min. {tracking}",
			"{organization}: {worker} llega para la recogida en unos {eta} min. {tracking}",
		},
		KindDelayed: {
			"{organization}: lo sentimos, su entrega lleva unos {delay} min de retraso. {tracking}",
			"{organization}: lo sentimos, la recogida lleva unos {delay} min de retraso. {tracking}",
		},
		KindArrived: {
			"{organization}: {worker} ya ha llegado con su entrega.",
			"{organization}: {worker} ya ha llegado para la recogida.",
		},
		KindCompleted: {
			"{organization}: su entrega se ha completado. ¡Gracias! {tracking}",
			"{organization}: la recogida se ha completado. ¡Gracias!",
		},
		KindFailed: {
			"{organization}: no hemos podido completar su entrega. Detalles: {tracking}",
			"{organization}: no hemos podido completar la recogida. Detalles: {tracking}",
		},
	},
	"fr": {
		KindStarted: {
			"{organization} : {worker} est en route avec votre colis et arrive vers {time}. Suivi : {tracking}",
			"{organization} : {worker} est en route pour venir chercher votre colis et arrive vers {time}. Suivi : {tracking}",
		},
		KindETA: {
			"{organization} : votre colis arrive dans environ {eta} min. {tracking}",
			"{organization} : {worker} arrive pour l'enlèvement dans environ {eta} min. {tracking}",
		},
		KindDelayed: {
			"{organization} : désolé, votre livraison a environ {delay} min de retard. {tracking}",
			"{organization} : désolé, l'enlèvement a environ {delay} min de retard. {tracking}",
		},
		KindArrived: {
			"{organization} : {worker} est là avec votre colis.",
			"{organization} : {worker} est là pour l'enlèvement.",
		},
		KindCompleted: {
			"{organization} : votre colis est livré. Merci ! {tracking}",
			"{organization} : votre colis est bien enlevé. Merci !",
		},
		KindFailed: {
			"{organization} : nous n'avons pas pu livrer votre colis. Détails : {tracking}",
			"{organization} : nous n'avons pas pu enlever votre colis. Détails : {tracking}",
		},
	},
	"de": {
		KindStarted: {
			"{organization}: {worker} ist mit Ihrer Lieferung unterwegs und kommt gegen {time} Uhr. Zur Verfolgung: {tracking}",
			"{organization}: {worker} ist zur Abholung bei Ihnen unterwegs und kommt gegen {time} Uhr. Zur Verfolgung: {tracking}",
		},
		KindETA: {
			"{organization}: Ihre Lieferung kommt in etwa {eta} Min. {tracking}",
			"{organization}: {worker} kommt in etwa {eta} Min. zur Abholung. {tracking}",
		},
		KindDelayed: {
			"{organization}: Ihre Lieferung verspätet sich leider um etwa {delay} Min. {tracking}",
			"{organization}: Die Abholung verspätet sich leider um etwa {delay} Min. {tracking}",
		},
		KindArrived: {
			"{organization}: {worker} ist mit Ihrer Lieferung da.",
			"{organization}: {worker} ist zur Abholung da.",
		},
		KindCompleted: {
			"{organization}: Ihre Lieferung ist zugestellt. Vielen Dank! {tracking}",
			"{organization}: Die Abholung ist erledigt. Vielen Dank!",
		},
		KindFailed: {
			"{organization}: Ihre Lieferung konnte nicht zugestellt werden. Mehr dazu: {tracking}",
			"{organization}: Die Abholung war leider nicht möglich. Mehr dazu: {tracking}",
		},
	},
	"pt": {
		KindStarted: {
			"{organization}: {worker} vai a caminho com a sua encomenda e chega por volta das {time}. Acompanhe aqui: {tracking}",
			"{organization}: {worker} vai a caminho para recolher a sua encomenda e chega por volta das {time}. Acompanhe aqui: {tracking}",
		},
		KindETA: {
			"{organization}: a sua encomenda chega em cerca de {eta} min. {tracking}",
			"{organization}: {worker} chega para a recolha em cerca de {eta} min. {tracking}",
		},
		KindDelayed: {
			"{organization}: lamentamos, a sua entrega tem cerca de {delay} min de atraso. {tracking}",
			"{organization}: lamentamos, a recolha tem cerca de {delay} min de atraso. {tracking}",
		},
		KindArrived: {
			"{organization}: {worker} chegou com a sua encomenda.",
			"{organization}: {worker} chegou para a recolha.",
		},
		KindCompleted: {
			"{organization}: a sua encomenda foi entregue. Obrigado! {tracking}",
			"{organization}: a recolha foi feita. Obrigado!",
		},
		KindFailed: {
			"{organization}: infelizmente a entrega falhou. Detalhes: {tracking}",
			"{organization}: infelizmente a recolha falhou. Detalhes: {tracking}",
		},
	},
}

// untimed are the texts of taskStarted while it is not known when the worker will
// be there.
var untimed = map[string][2]string{
	"en": {
		"{organization}: {worker} is on the way with your delivery. Follow it here: {tracking}",
		"{organization}: {worker} is on the way to pick up from you. Follow it here: {tracking}",
	},
	"es": {
		"{organization}: {worker} va en camino con su entrega. Siga el reparto: {tracking}",
		"{organization}: {worker} va en camino para recoger su paquete. Siga la recogida: {tracking}",
	},
	"fr": {
		"{organization} : {worker} est en route avec votre colis. Suivi : {tracking}",
		"{organization} : {worker} est en route pour venir chercher votre colis. Suivi : {tracking}",
	},
	"de": {
		"{organization}: {worker} ist mit Ihrer Lieferung unterwegs. Zur Verfolgung: {tracking}",
		"{organization}: {worker} ist zur Abholung bei Ihnen unterwegs. Zur Verfolgung: {tracking}",
	},
	"pt": {
		"{organization}: {worker} vai a caminho com a sua encomenda. Acompanhe aqui: {tracking}",
		"{organization}: {worker} vai a caminho para recolher a sua encomenda. Acompanhe aqui: {tracking}",
	},
}

// someWorker replaces the name of an unknown worker.
var someWorker = map[string]string{
	"en": "our courier", "es": "nuestro repartidor", "fr": "notre livreur", "de": "unser Kurier", "pt": "o nosso estafeta",
}

// clocks are the layouts of a time of day, by language.
var clocks = map[string]string{"en": "3:04 PM"}

// clock is the layout in any other language.
const clock = "15:04"

// builtInText returns the default text for an occasion; empty if there is none
// in the language.
func builtInText(o Occasion, language string) string {
	texts := builtIn[language][o.Kind]
	if o.Pickup {
		return texts[1]
	}
	return texts[0]
}

// untimedText returns the text of taskStarted while no time is known, in a language
// or else in English.
func untimedText(o Occasion, language string) string {
	texts, ok := untimed[language]
	if !ok {
		texts = untimed["en"]
	}
	if o.Pickup {
		return texts[1]
	}
	return texts[0]
}
