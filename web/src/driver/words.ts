// What the app says, in each language it speaks. English is the measure: the
// compiler refuses a dictionary that lacks a line of it.

const en = {
  appName: 'Dray Driver',
  signIn: 'Sign in',
  signInLead: 'Use the phone number your dispatcher knows, and the password from the text message.',
  phone: 'Phone number',
  password: 'Password',
  showPassword: 'Show',
  hidePassword: 'Hide',
  wrongPassword: 'Phone number or password is wrong, or the temporary password has expired.',
  noSignal: 'No connection. Check your signal and try again.',
  choosePassword: 'Choose your password',
  choosePasswordLead: 'The one you were sent is temporary. Use 8 characters or more.',
  newPassword: 'New password',
  savePassword: 'Save password',
  tooShort: 'Use 8 characters or more.',
  onDuty: 'On duty',
  offDuty: 'Off duty',
  list: 'Tasks',
  map: 'Map',
  outbox: 'Outbox',
  account: 'Account',
  hello: 'Hello, {name}',
  stopsLeft: '{n} stops left',
  stopLeft: '1 stop left',
  nothingLeft: 'Nothing left to do',
  nothingLeftLead: 'New tasks appear here by themselves.',
  goOnDuty: 'Go on duty to start your first task.',
  now: 'Now',
  next: 'Next',
  doneWaiting: 'Done, waiting to be sent',
  pickup: 'Pickup',
  dropoff: 'Drop-off',
  between: '{from} – {to}',
  from: 'from {from}',
  until: 'until {to}',
  late: 'Late',
  arriving: 'Arrival {time}',
  notSent: 'Not sent yet',
  navigate: 'Navigate',
  call: 'Call',
  text: 'Text',
  address: 'Address',
  recipient: 'Recipient',
  notes: 'Notes',
  addressNotes: 'About the address',
  recipientNotes: 'About the recipient',
  details: 'Details',
  needed: 'You will need',
  needSignature: 'a signature',
  needPhoto: 'a photo',
  needNotes: 'a note',
  needAge: 'to check that the recipient is {age} or older',
  needBarcodes: 'to scan {n} barcodes',
  quantity: 'Quantity',
  swipeToStart: 'Swipe to start',
  start: 'Start task',
  arrived: 'I have arrived',
  arrivedAlready: 'Arrived',
  complete: 'Complete',
  fail: 'Could not be done',
  whyOffDuty: 'Go on duty to start this task.',
  whyOtherActive: 'Complete the task you are on first.',
  whyBlocked: 'Another task has to be done before this one.',
  gone: 'This task is no longer on your list.',
  back: 'Back',
  close: 'Close',
  signature: 'Signature',
  signHere: 'Sign here',
  clear: 'Clear',
  signedBy: 'Name of the person who signed',
  signedByAlone: 'Or type the name instead',
  photos: 'Photos',
  takePhoto: 'Take a photo',
  removePhoto: 'Remove photo {n}',
  photoNumber: 'Photo {n}',
  badPhoto: 'That file is not a picture this phone can read.',
  barcodes: 'Barcodes',
  scan: 'Scan',
  scanning: 'Point the camera at the barcode',
  noCamera: 'The camera cannot be used. Type the code instead.',
  typeCode: 'Barcode',
  addCode: 'Add',
  anyCode: 'Any barcode',
  notOnTask: 'This barcode does not belong to the task.',
  scanned: 'Scanned',
  removeCode: 'Remove barcode {code}',
  ageCheck: 'I checked an identity document: the recipient is {age} or older',
  age: 'Age',
  addNote: 'Note',
  required: 'required',
  optional: 'optional',
  missing: 'Still missing: {what}',
  completeTask: 'Complete task',
  failTask: 'Report as failed',
  failLead: 'What happened? Your dispatcher is told at once.',
  reasonUNABLE_TO_LOCATE: 'Could not find the address',
  reasonRECIPIENT_UNAVAILABLE: 'Nobody was there',
  reasonREFUSED_BY_RECIPIENT: 'Recipient refused it',
  reasonWRONG_ADDRESS: 'Address is wrong',
  reasonNO_ACCESS: 'Could not get in',
  reasonAGE_NOT_VERIFIED: 'Age could not be checked',
  reasonDAMAGED: 'Goods are damaged',
  reasonOTHER: 'Something else',
  sayMore: 'Say more in the note.',
  outboxLead: 'Everything you do is kept on this phone until the server has answered.',
  allSent: 'Everything is sent',
  waitingToSend: '{n} waiting',
  refused: 'Refused',
  tryAgain: 'Try again',
  dismiss: 'Dismiss',
  waits: 'Waiting to be sent',
  sending: 'Sending …',
  didstart: 'Started',
  didarrive: 'Arrived',
  diddepart: 'Departed',
  didcomplete: 'Completed',
  didfail: 'Reported as failed',
  didclaim: 'Taken',
  didonDuty: 'Went on duty',
  didoffDuty: 'Went off duty',
  positionsWaiting: '{n} positions waiting',
  offline: 'No signal',
  live: 'Live',
  updated: 'Updated {time}',
  updating: 'Updating',
  sessionEnded: 'You were signed out. Sign in again; nothing you did is lost.',
  language: 'Language',
  languageOfPhone: 'Language of the phone',
  signOut: 'Sign out',
  signOutWaiting: '{n} actions were not sent yet. They stay on this phone and are sent when you sign in again.',
  signOutAnyway: 'Sign out anyway',
  cancel: 'Cancel',
  install: 'Install the app',
  installLead: 'Put it on your home screen. It opens without signal.',
  locationOff: 'Location is off. Allow it so that your dispatcher and recipients can see where you are.',
  version: 'Times are those of this phone.',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  showAll: 'Show everything',
  mapLabel: 'Map of your stops. Use the list to reach them by keyboard.',
  openTask: 'Open task',
  credits: 'Coasts and borders: Natural Earth',
};

export type Words = typeof en;
export type Language = 'en';

export const languages: Record<Language, string> = {
  en: 'English',
};

const load: Record<Language, () => Promise<Words>> = {
  en: () => Promise.resolve(en),
};

export function isLanguage(text: string): text is Language {
  return text in languages;
}

// preferred is the first language of the phone that the app speaks.
export function preferred(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const short = tag.slice(0, 2).toLowerCase();
    if (isLanguage(short)) return short;
  }
  return 'en';
}

export const dictionary = (language: Language): Promise<Words> => load[language]();
export const english: Words = en;

// fill puts values into the places in braces.
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
