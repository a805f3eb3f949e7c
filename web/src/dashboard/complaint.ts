// Translates errors, which the server reports in English: the label of the field, and what is
// wrong with it. Messages about a field begin with its name; messages of another form are
// shown as they are.

import type { Words } from './words.ts';

type Word = keyof Words;

// Labels of fields in forms, by the last part of their name.
const labels: Record<string, Word> = {
  address: 'address',
  amount: 'amount',
  city: 'city',
  code: 'code',
  color: 'color',
  completeAfter: 'notBefore',
  completeBefore: 'dueBy',
  country: 'country',
  currency: 'currency',
  description: 'description',
  displayName: 'name',
  dueIn: 'dueIn',
  email: 'email',
  hub: 'hub',
  leadTime: 'leadTime',
  licensePlate: 'licensePlate',
  location: 'location',
  managers: 'managers',
  name: 'name',
  new: 'newPassword',
  notes: 'notes',
  number: 'houseNumber',
  old: 'oldPassword',
  password: 'password',
  phone: 'phone',
  postalCode: 'postalCode',
  price: 'price',
  quantity: 'quantity',
  radius: 'geofenceRadius',
  reason: 'reason',
  recipients: 'recipient',
  serviceTime: 'serviceTime',
  state: 'stateOrRegion',
  street: 'street',
  team: 'team',
  teams: 'teams',
  text: 'text',
  timezone: 'timezone',
  trigger: 'trigger',
  unparsed: 'address',
  vehicle: 'vehicle',
  weight: 'weightKg',
  worker: 'worker',
  workers: 'workers',
};

// Forms of messages: the word to show, and a pattern with the field and the values.
const forms: [Word, RegExp][] = [
  ['errorRequired', /^(?<field>[\w.[\]]+) (is required|must not be blank)$/],
  ['errorLong', /^(?<field>[\w.[\]]+) must (have|be) at most (?<max>\d+) characters$/],
  ['errorLong', /^(?<field>[\w.[\]]+) has \d+ characters; at most (?<max>\d+) are allowed$/],
  ['errorLength', /^(?<field>[\w.[\]]+) must have (?<min>\d+) to (?<max>\d+) characters\b/],
  [
    'errorBetween',
    /^(?<field>[\w.[\]]+) must be (?:an? [a-z ]+ )?(?:between|from) (?<min>-?[\d.]+) (?:and|to) (?<max>-?[\d.]+)(?: (?<unit>seconds|minutes|hours|days|met(?:er|re)s))?(?:,|$)/,
  ],
  ['errorMany', /^(?<field>[\w.[\]]+) has \d+ [a-z]+; at most (?<max>\d+) are allowed$/],
  ['errorMany', /^(?<field>[\w.[\]]+) must have at most (?<max>\d+) entries\b/],
  ['errorPhone', /^(?<field>[\w.[\]]+) "(?<value>.*)" is not a valid phone number/],
  ['errorEmail', /^(?<field>[\w.[\]]+) "(?<value>.*)" is not an e-mail address$/],
  ['errorTaken', /^(?<field>[\w.[\]]+) "(?<value>.*)" is already in use$/],
  ['errorTaken', /^(?<field>[\w.[\]]+) must be unique, and "(?<value>.*)" is already in use$/],
  ['errorFuture', /^(?<field>[\w.[\]]+) must be in the future$/],
  ['errorBefore', /^(?<field>[\w.[\]]+) must be before (?<other>[\w.[\]]+)$/],
  ['errorAfter', /^(?<field>[\w.[\]]+) must be after (?<other>[\w.[\]]+)$/],
  ['errorNegative', /^(?<field>[\w.[\]]+) must not be negative$/],
  ['errorNumber', /^(?<field>[\w.[\]]+) must be a number\b/],
  ['errorSecret', /^(?<field>\w+) is not the current password$/],
  ['errorWeak', /^(?<field>\w+) must not (be the e-mail address|repeat one character)$/],
  ['errorCode', /^code is not the one that the authenticator app shows now/],
  ['errorAddress', /\baddress cannot be geocoded$/],
  ['errorHttps', /^url must (begin with https:|be an https address)/],
  ['errorHook', /^the webhook could not be validated: (?<reason>.*)$/],
  ['errorGone', /^The [\w ]+ ".*" does not exist\.$/],
];

const units: Record<string, string> = { seconds: 's', minutes: 'min', hours: 'h', days: 'd', meters: 'm', metres: 'm' };

const denials: Record<string, Word> = {
  readOnly: 'errorreadOnly',
  superRequired: 'errorsuperRequired',
  foreignTeam: 'errorforeignTeam',
};

// labelOf returns the word for a field, such as address.country or recipients[0].phone.
function labelOf(field: string, words: Words): string {
  const last = field
    .replace(/\[\d*\]/g, '')
    .split('.')
    .pop()!;
  const label = labels[last];
  return label ? words[label] : last === 'url' ? 'URL' : field;
}

// complaint returns the words for an error and the values to fill in.
export function complaint(
  message: string,
  cause: unknown,
  words: Words,
): { word: Word; values: Record<string, string> } {
  const denial = typeof cause === 'string' && denials[cause];
  if (denial) return { word: denial, values: {} };
  for (const [word, form] of forms) {
    const found = form.exec(message);
    if (!found) continue;
    const values: Record<string, string> = { ...found.groups };
    if (values.field) values.field = labelOf(values.field, words);
    if (values.other) values.other = labelOf(values.other, words);
    if (values.reason) values.reason = (words as Record<string, string>)[`hook ${values.reason}`] ?? values.reason;
    if (values.unit) values.max += ` ${units[values.unit]}`;
    return { word, values };
  }
  return { word: 'errorOther', values: { message } };
}
