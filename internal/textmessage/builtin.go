package textmessage

// builtIn are the program's own texts: in each language, for each kind, that of
// a drop-off and that of a pickup. They use no letter outside the alphabet of
// the networks, which would more than double what a message costs.
var builtIn = map[string]map[Kind][2]string{
	"en": {
		KindStarted: {
			"{organization}: {worker} is on the way with your delivery. Follow it here: {tracking}",
			"{organization}: {worker} is on the way to pick up from you. Follow it here: {tracking}",
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
			"{organization}: {worker} va en camino con su entrega. Siga el reparto: {tracking}",
			"{organization}: {worker} va en camino para recoger su paquete. Siga la recogida: {tracking}",
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
			"{organization} : {worker} est en route avec votre colis. Suivi : {tracking}",
			"{organization} : {worker} est en route pour venir chercher votre colis. Suivi : {tracking}",
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
			"{organization}: {worker} ist mit Ihrer Lieferung unterwegs. Zur Verfolgung: {tracking}",
			"{organization}: {worker} ist zur Abholung bei Ihnen unterwegs. Zur Verfolgung: {tracking}",
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
			"{organization}: {worker} vai a caminho com a sua encomenda. Acompanhe aqui: {tracking}",
			"{organization}: {worker} vai a caminho para recolher a sua encomenda. Acompanhe aqui: {tracking}",
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

// someWorker stands in for a worker whose name is not known.
var someWorker = map[string]string{
	"en": "our courier", "es": "nuestro repartidor", "fr": "notre livreur", "de": "unser Kurier", "pt": "o nosso estafeta",
}

// builtInText is the program's text of an occasion; empty when it has none in
// the language.
func builtInText(o Occasion, language string) string {
	texts := builtIn[language][o.Kind]
	if o.Pickup {
		return texts[1]
	}
	return texts[0]
}
