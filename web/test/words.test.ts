import assert from 'node:assert/strict';
import { test } from 'node:test';
import { regional } from '../src/language.ts';
import { dictionary, english, fill, languages, preferred, type Language, type Words } from '../src/driver/words.ts';
import { later, same, type State } from '../src/track/state.ts';

test('every language has the same texts with the same values', async () => {
  const places = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  for (const language of Object.keys(languages) as Language[]) {
    const words = await dictionary(language);
    for (const name of Object.keys(english) as (keyof Words)[]) {
      assert.ok(words[name].trim(), `${language} ${name} is empty`);
      assert.deepEqual(places(words[name]), places(english[name]), `${language} ${name}`);
    }
  }
});

test('the language is the first one of the phone that the app supports', () => {
  assert.equal(preferred(['nl-NL', 'fr-CA', 'en']), 'fr');
  assert.equal(preferred(['PT-br']), 'pt');
  assert.equal(preferred(['ja']), 'en');
});

test('dates and numbers are formatted as in the country that the browser names', () => {
  assert.equal(regional('en', ['de-CH', 'en-GB', 'en-US']), 'en-GB');
  assert.equal(regional('es', ['est', 'de']), 'es');
});

test('values are inserted unchanged', () => {
  assert.equal(fill('{a} and {b}', { a: '{b}', b: '$&' }), '{b} and $&');
  assert.equal(fill('{unknown}', {}), '{unknown}');
});

test('the live region changes only when the words do', () => {
  const state: State = {
    stage: 'active',
    estimatedArrivalTime: 1,
    worker: { name: 'Ada', location: [1, 2], locationTime: 3, destination: null },
    feedback: { allowed: false, given: false },
  };
  assert.ok(same(state, { ...state, worker: { name: 'Ada', location: [4, 5], locationTime: 6, destination: null } }));
  assert.ok(!same(state, { ...state, stage: 'arrived' }));
  assert.ok(!same(state, { ...state, worker: null }));
  assert.deepEqual([later(0), later(2), later(20)], [3000, 12_000, 60_000]);
});

test('Portuguese texts are in the Portuguese of Portugal', async () => {
  const brazilian = /\b(equipe|senha|arquivo|planilha|planej|exclu|tela\b|câmera|andamento|aplicativo|esperando)/i;
  const dashboard = (await import('../src/dashboard/words.ts')).dictionary;
  for (const words of [await dictionary('pt'), await dashboard('pt')]) {
    for (const [name, text] of Object.entries(words)) assert.doesNotMatch(text, brazilian, name);
  }
});
