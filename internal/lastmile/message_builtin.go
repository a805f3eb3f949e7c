package lastmile

// builtIn are the program's own texts: in each language, for each kind, that of
// a drop-off and that of a pickup. They use no letter outside the alphabet of
// the networks, which would more than double what a message costs.
var builtIn = map[string]map[MessageKind][2]string{
	"en": {
		MessageStarted: {
			"{organization}: {worker} is on the way with your delivery. Follow it here: {tracking}",
			"{organization}: {worker} is on the way to pick up from you. Follow it here: {tracking}",
		},
		MessageETA: {
			"{organization}: your delivery will be there in about {eta} min. {tracking}",
			"{organization}: {worker} will be there for the pickup in about {eta} min. {tracking}",
		},
		MessageDelayed: {
			"{organization}: sorry, your delivery is running about {delay} min late. {tracking}",
			"{organization}: sorry, your pickup is running about {delay} min late. {tracking}",
		},
		MessageArrived: {
			"{organization}: {worker} has arrived with your delivery.",
			"{organization}: {worker} has arrived for the pickup.",
		},
		MessageCompleted: {
			"{organization}: your delivery is complete. Thank you! {tracking}",
			"{organization}: your pickup is complete. Thank you!",
		},
		MessageFailed: {
			"{organization}: we could not complete your delivery. Details: {tracking}",
			"{organization}: we could not complete your pickup. Details: {tracking}",
		},
	},
	"es": {
		MessageStarted: {
			"{organization}: {worker} va en camino con su entrega. Siga el reparto: {tracking}",
			"{organization}: {worker} va en camino para recoger su paquete. Siga la recogida: {tracking}",
		},
		MessageETA: {
			"{organization}: su entrega llega en unos {eta} min. {tracking}",
			"{organization}: {worker} llega para la recogida en unos {eta} min. {tracking}",
		},
		MessageDelayed: {
			"{organization}: lo sentimos, su entrega lleva unos {delay} min de retraso. {tracking}",
			"{organization}: lo sentimos, la recogida lleva unos {delay} min de retraso. {tracking}",
		},
		MessageArrived: {
			"{organization}: {worker} ya ha llegado con su entrega.",
			"{organization}: {worker} ya ha llegado para la recogida.",
		},
		MessageCompleted: {
			"{organization}: su entrega se ha completado. ¡Gracias! {tracking}",
			"{organization}: la recogida se ha completado. ¡Gracias!",
		},
		MessageFailed: {
			"{organization}: no hemos podido completar su entrega. Detalles: {tracking}",
			"{organization}: no hemos podido completar la recogida. Detalles: {tracking}",
		},
	},
	"fr": {
		MessageStarted: {
			"{organization} : {worker} est en route avec votre colis. Suivi : {tracking}",
			"{organization} : {worker} est en route pour venir chercher votre colis. Suivi : {tracking}",
		},
		MessageETA: {
			"{organization} : votre colis arrive dans environ {eta} min. {tracking}",
			"{organization} : {worker} arrive pour l'enlèvement dans environ {eta} min. {tracking}",
		},
		MessageDelayed: {
			"{organization} : désolé, votre livraison a environ {delay} min de retard. {tracking}",
			"{organization} : désolé, l'enlèvement a environ {delay} min de retard. {tracking}",
		},
		MessageArrived: {
			"{organization} : {worker} est là avec votre colis.",
			"{organization} : {worker} est là pour l'enlèvement.",
		},
		MessageCompleted: {
			"{organization} : votre colis est livré. Merci ! {tracking}",
			"{organization} : votre colis est bien enlevé. Merci !",
		},
		MessageFailed: {
			"{organization} : nous n'avons pas pu livrer votre colis. Détails : {tracking}",
			"{organization} : nous n'avons pas pu enlever votre colis. Détails : {tracking}",
		},
	},
	"de": {
		MessageStarted: {
			"{organization}: {worker} ist mit Ihrer Lieferung unterwegs. Zur Verfolgung: {tracking}",
			"{organization}: {worker} ist zur Abholung bei Ihnen unterwegs. Zur Verfolgung: {tracking}",
		},
		MessageETA: {
			"{organization}: Ihre Lieferung kommt in etwa {eta} Min. {tracking}",
			"{organization}: {worker} kommt in etwa {eta} Min. zur Abholung. {tracking}",
		},
		MessageDelayed: {
			"{organization}: Ihre Lieferung verspätet sich leider um etwa {delay} Min. {tracking}",
			"{organization}: Die Abholung verspätet sich leider um etwa {delay} Min. {tracking}",
		},
		MessageArrived: {
			"{organization}: {worker} ist mit Ihrer Lieferung da.",
			"{organization}: {worker} ist zur Abholung da.",
		},
		MessageCompleted: {
			"{organization}: Ihre Lieferung ist zugestellt. Vielen Dank! {tracking}",
			"{organization}: Die Abholung ist erledigt. Vielen Dank!",
		},
		MessageFailed: {
			"{organization}: Ihre Lieferung konnte nicht zugestellt werden. Mehr dazu: {tracking}",
			"{organization}: Die Abholung war leider nicht möglich. Mehr dazu: {tracking}",
		},
	},
	"pt": {
		MessageStarted: {
			"{organization}: {worker} vai a caminho com a sua encomenda. Acompanhe aqui: {tracking}",
			"{organization}: {worker} vai a caminho para recolher a sua encomenda. Acompanhe aqui: {tracking}",
		},
		MessageETA: {
			"{organization}: a sua encomenda chega em cerca de {eta} min. {tracking}",
			"{organization}: {worker} chega para a recolha em cerca de {eta} min. {tracking}",
		},
		MessageDelayed: {
			"{organization}: lamentamos, a sua entrega tem cerca de {delay} min de atraso. {tracking}",
			"{organization}: lamentamos, a recolha tem cerca de {delay} min de atraso. {tracking}",
		},
		MessageArrived: {
			"{organization}: {worker} chegou com a sua encomenda.",
			"{organization}: {worker} chegou para a recolha.",
		},
		MessageCompleted: {
			"{organization}: a sua encomenda foi entregue. Obrigado! {tracking}",
			"{organization}: a recolha foi feita. Obrigado!",
		},
		MessageFailed: {
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
