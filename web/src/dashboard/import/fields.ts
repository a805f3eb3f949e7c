// The fields of a task that columns of a file are matched with, by the names of the columns.

export const fields = [
  'reference',
  'name',
  'phone',
  'recipientNotes',
  'address',
  'street',
  'number',
  'apartment',
  'postalCode',
  'city',
  'state',
  'country',
  'latitude',
  'longitude',
  'day',
  'window',
  'from',
  'until',
  'service',
  'quantity',
  'notes',
  'pickup',
  'team',
  'worker',
  'after',
] as const;
export type Field = (typeof fields)[number];

// A column is matched with a field, a custom field ("custom:" and its key), metadata, or
// nothing ("").
export type Match = Field | `custom:${string}` | 'metadata' | '';

// Names of columns in English, German, Spanish, French and Portuguese.
const names: Record<Field, string> = {
  reference:
    'reference|ref|reference number|order|order id|order number|order no|order reference|external id|id|task id|invoice|shipment|consignment|tracking number|referenz|referenznummer|bestellnummer|bestellnr|bestell nr|bestellung|auftragsnummer|auftragsnr|auftrags nr|auftrag nr|auftrag|sendungsnummer|sendungsnr|rechnung|rechnungsnummer|rechnungsnr|lieferschein|lieferscheinnummer|lieferscheinnr|belegnummer|belegnr|nummer|referencia|pedido|numero de pedido|n pedido|albaran|factura|commande|numero de commande|n commande|facture|bon de livraison|numero do pedido|encomenda|numero da encomenda|nota fiscal',
  name: 'name|recipient|recipient name|customer|customer name|client|contact|contact name|full name|consignee|addressee|empfaenger|empfanger|kunde|kundenname|ansprechpartner|nombre|destinatario|nombre del destinatario|cliente|nombre del cliente|contacto|nom|destinataire|nom du destinataire|nom du client|nome|nome do destinatario|nome do cliente|contato',
  phone:
    'phone|phone number|telephone|tel|mobile|cell|cell phone|recipient phone|customer phone|contact phone|contact number|telefon|telefonnummer|handy|handynummer|mobil|rufnummer|telefono|movil|celular|numero de telefono|telephone portable|portable|numero de telephone|telefone|telemovel|numero de telefone|numero do telefone',
  recipientNotes:
    'recipient notes|customer notes|kundennotiz|hinweis zum kunden|notas del cliente|notes client|notes du client|notas do cliente',
  address:
    'address|full address|delivery address|destination|destination address|location|address line|adresse|lieferadresse|anschrift|zieladresse|direccion|direccion de entrega|direccion completa|destino|adresse de livraison|adresse complete|endereco|endereco de entrega|endereco completo|morada|morada de entrega',
  street:
    'street|street name|street address|address 1|address1|address line 1|strasse|strase|strassenname|calle|via|rue|voie|rua|logradouro|avenida',
  number:
    'number|house number|street number|building number|no|hausnummer|hausnr|nr|numero|numero de calle|num|n|numero de rue|numero da casa|numero da porta',
  apartment:
    'apartment|apt|unit|suite|flat|floor|address 2|address2|address line 2|wohnung|etage|stockwerk|adresszusatz|piso|puerta|departamento|dpto|appartement|appt|etage appartement|complement|complement d adresse|apartamento|andar|complemento',
  postalCode:
    'postal code|postcode|post code|zip|zip code|zipcode|plz|postleitzahl|codigo postal|cp|c p|code postal|cep',
  city: 'city|town|suburb|locality|stadt|ort|wohnort|ciudad|poblacion|localidad|municipio|ville|commune|localite|cidade',
  state: 'state|region|province|county|bundesland|land region|provincia|estado|departement|distrito|uf',
  country: 'country|country code|land|staat|pais|pays',
  latitude: 'latitude|lat|breitengrad|breite|latitud|y',
  longitude: 'longitude|lon|lng|long|laengengrad|langengrad|laenge|longitud|x',
  day: 'date|day|delivery date|service date|due date|scheduled date|datum|tag|lieferdatum|liefertag|fecha|fecha de entrega|dia|date de livraison|jour|data|data de entrega',
  window:
    'window|time window|delivery window|time slot|slot|zeitfenster|lieferfenster|uhrzeit|ventana|franja|franja horaria|horario|ventana horaria|creneau|creneau horaire|plage horaire|horaire|janela|janela de entrega|faixa horaria',
  from: 'from|start|start time|earliest|not before|after time|window start|complete after|time from|open|von|ab|fruehestens|fruhestens|beginn|nicht vor|zeit von|desde|hora inicio|inicio|a partir de|de|debut|heure de debut|au plus tot|das|inicio da janela|hora de inicio',
  until:
    'until|to|end|end time|latest|before|due|due by|deadline|window end|complete before|time to|close|by|bis|spaetestens|spatestens|ende|zeit bis|hasta|hora fin|fin|limite|antes de|jusqu a|jusqua|heure de fin|au plus tard|a|ate|fim|hora de fim|prazo',
  service:
    'service time|service minutes|stop time|duration|minutes|dwell time|standzeit|servicezeit|haltezeit|dauer|minuten|tiempo de servicio|duracion|minutos|temps de service|duree|tempo de servico|duracao',
  quantity:
    'quantity|qty|units|parcels|packages|pieces|boxes|items|amount|menge|anzahl|pakete|stueck|stuck|colli|kolli|cantidad|unidades|paquetes|bultos|cajas|quantite|colis|nombre de colis|quantidade|volumes|pacotes|caixas',
  notes:
    'notes|note|comment|comments|instructions|delivery instructions|remarks|description|details|notiz|notizen|bemerkung|bemerkungen|hinweis|hinweise|anmerkung|kommentar|lieferhinweis|notas|nota|comentario|comentarios|instrucciones|observaciones|remarque|remarques|commentaire|commentaires|instructions de livraison|consignes|observacoes|comentarios do pedido|instrucoes',
  pickup:
    'pickup|pick up|is pickup|type|task type|job type|abholung|auftragsart|art|typ|recogida|tipo|tipo de tarea|collecte|enlevement|ramassage|type de tache|recolha|coleta|tipo de tarefa',
  team: 'team|team name|group|gruppe|equipo|grupo|equipe|groupe|time equipe',
  worker:
    'worker|driver|courier|rider|assigned to|driver name|worker phone|driver phone|fahrer|fahrername|kurier|zusteller|repartidor|conductor|mensajero|chofer|chauffeur|livreur|coursier|conducteur|motorista|entregador|estafeta|condutor',
  after:
    'depends on|dependency|dependencies|after|after reference|predecessor|haengt ab von|hangt ab von|abhaengigkeit|abhangigkeit|nach|vorgaenger|depende de|dependencia|dependencias|despues de|depend de|dependance|apres|depois de',
};

// fold reduces a name to its letters and digits, without accents.
export const fold = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/ß/g, 'ss')
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const known = new Map<string, Field>();
for (const field of fields) for (const name of names[field].split('|')) if (!known.has(name)) known.set(name, field);

// matchColumns matches the columns of a file with fields by their names, each field once.
// Custom fields are matched by their names and keys.
export function matchColumns(headers: readonly string[], custom: readonly { key: string; name: string }[]): Match[] {
  const taken = new Set<Match>();
  const matches: Match[] = headers.map((header) => {
    const name = fold(header);
    const own = custom.find((c) => fold(c.name) === name || fold(c.key) === name);
    const match: Match = own ? `custom:${own.key}` : (known.get(name) ?? '');
    if (!match || taken.has(match)) return '';
    taken.add(match);
    return match;
  });
  // If the address is in parts, its street may be called address, and its house, number.
  const address = matches.indexOf('address');
  if (address >= 0 && taken.has('city') && !taken.has('street')) matches[address] = 'street';
  return matches;
}

// looksLikeHeaders reports whether the first row names columns rather than being a task.
export function looksLikeHeaders(row: readonly string[]): boolean {
  return row.filter((cell) => known.has(fold(cell))).length >= Math.min(2, row.length);
}
