import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complaint } from '../src/dashboard/complaint.ts';
import { dictionary, fill, languages, type Language } from '../src/dashboard/words.ts';

const read = async (language: Language, message: string, cause?: unknown) => {
  const words = await dictionary(language);
  const { word, values } = complaint(message, cause, words);
  return fill(words[word], values);
};

test('errors of a field contain its label in the form', async () => {
  for (const [message, want] of [
    ['address.country is required', 'Land: Bitte ausfüllen.'],
    ['new must have 10 to 200 characters', 'Neues Passwort: 10 bis 200 Zeichen.'],
    ['name must have at most 200 characters', 'Name: höchstens 200 Zeichen.'],
    [
      'geofence.radius must be between 1 and 5000 meters, not 9000',
      'Radius in Metern: muss zwischen 1 und 5000 m liegen.',
    ],
    ['quantity must be an integer between 1 and 10, not 11', 'Stücke: muss zwischen 1 und 10 liegen.'],
    ['limit must be a whole number from 1 to 20, not 21', 'limit: muss zwischen 1 und 20 liegen.'],
    ['recipients[0].phone "12" is not a valid phone number', '„12“ ist keine Telefonnummer.'],
    ['name must be unique, and "Nord" is already in use', 'Name: „Nord“ ist schon vergeben.'],
    ['phone "+1 "2"" is already in use', 'Telefon: „+1 "2"“ ist schon vergeben.'],
    ['completeAfter must be before completeBefore', 'Nicht vor: muss vor „'],
    ['teams has 201 ids; at most 200 are allowed', 'Teams: höchstens 200 Einträge.'],
    ['old is not the current password', 'Das aktuelle Passwort ist falsch.'],
    ['code is not the one that the authenticator app shows now; check that', 'Das ist nicht der Code'],
    ['destination.address cannot be geocoded', 'Die Adresse wurde nicht gefunden.'],
    ['The worker "x" does not exist.', 'Das gibt es nicht mehr.'],
    ['url is required', 'URL: Bitte ausfüllen.'],
    ['url must begin with https://', 'URL: muss mit https:// beginnen.'],
    ['the webhook could not be validated: could not connect', 'Der Webhook wurde nicht gespeichert. Keine Verbindung.'],
  ] as const) {
    assert.ok((await read('de', message)).startsWith(want), `${message}: ${await read('de', message)}`);
  }
});

test('denials are explained by their cause', async () => {
  assert.match(await read('fr', 'administrators with read-only access …', 'readOnly'), /lecture seule/);
  assert.match(await read('es', '{id}: the task X belongs to a team', 'foreignTeam'), /equipo/);
});

test('other messages follow a sentence in the language, except in English', async () => {
  const message = 'an organization has at most 50 templates';
  assert.equal(await read('en', message), message);
  for (const language of Object.keys(languages) as Language[]) {
    const text = await read(language, message, { type: 'other' });
    assert.ok(text.endsWith(message) && (language === 'en' || text.length > message.length + 8), text);
  }
});
