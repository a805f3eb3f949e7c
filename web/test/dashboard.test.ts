import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { browser } from '../src/dashboard/agent.ts';
import { renewed, renewedFields } from '../src/dashboard/draft.ts';
import { doorOf } from '../src/dashboard/places.ts';
import { follow, paged, renew } from '../src/dashboard/rows.ts';
import { clock, instant, isSame, merge, monday, next, toDay, toEntry } from '../src/dashboard/schedule.ts';
import { bytes, check, headersOf } from '../src/dashboard/signature.ts';
import { triggerName } from '../src/dashboard/triggers.ts';
import { dictionary, languages, type Language, type Words } from '../src/dashboard/words.ts';

test('every language has the same texts with the same values', async () => {
  const english = await dictionary('en');
  const places = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  for (const language of Object.keys(languages) as Language[]) {
    const words = await dictionary(language);
    let same = 0;
    for (const name of Object.keys(english) as (keyof Words)[]) {
      assert.ok(words[name].trim(), `${language} ${name} is empty`);
      assert.deepEqual(places(words[name]), places(english[name]), `${language} ${name}`);
      if (language !== 'en' && words[name] === english[name] && english[name].split(' ').length > 3) same++;
    }
    assert.equal(same, 0, `${language} has sentences in English`);
    assert.deepEqual(Object.keys(words).sort(), Object.keys(english).sort());
  }
});

test('shifts are in the local time of the zone, even when clocks change', () => {
  const zone = 'America/New_York';
  assert.equal(new Date(instant('2026-11-16', '08:00', zone)).toISOString(), '2026-11-16T13:00:00.000Z');
  assert.equal(new Date(instant('2026-03-08', '08:00', zone)).toISOString(), '2026-03-08T12:00:00.000Z');
  assert.equal(new Date(instant('2026-11-01', '00:30', zone)).toISOString(), '2026-11-01T04:30:00.000Z');
  assert.equal(new Date(instant('2026-03-08', '02:30', zone)).toISOString(), '2026-03-08T07:30:00.000Z');
  assert.equal(clock(instant('2026-07-01', '23:45', zone), zone), '23:45');
  // Days that begin at 1:00.
  assert.equal(new Date(instant('2026-09-06', '00:00', 'America/Santiago')).toISOString(), '2026-09-06T04:00:00.000Z');
  assert.equal(new Date(instant('2026-04-24', '00:00', 'Africa/Cairo')).toISOString(), '2026-04-23T22:00:00.000Z');
  const day = { date: '2026-10-31', shifts: [{ from: '22:00', to: '06:00' }] };
  const entry = toEntry(day, zone);
  assert.equal(entry.shifts[0]![1] - entry.shifts[0]![0], 9 * 3600_000); // the night is an hour longer
  assert.deepEqual(toDay(entry), { ...day, timezone: zone });
  assert.deepEqual(toEntry(toDay(entry), 'Asia/Tokyo'), entry); // an entry keeps its zone
  assert.ok(isSame(day, { ...day, shifts: day.shifts.toReversed() }) && !isSame(day, undefined));
  assert.equal(monday('2026-11-15'), '2026-11-09');
  assert.equal(monday('2026-11-16'), '2026-11-16');
  assert.equal(next('2026-02-28', 1), '2026-03-01');
});

test('a week replaces its own days, and keeps the others', () => {
  const zone = 'UTC';
  const shifts = [{ from: '08:00', to: '16:00' }];
  const stored = ['2026-11-10', '2026-11-17', '2026-11-24'].map((date) => toEntry({ date, shifts }, zone));
  const week = [
    { date: '2026-11-16', shifts },
    { date: '2026-11-17', shifts: [] },
  ];
  assert.deepEqual(
    merge(stored, week, zone, '2026-11-16').map((e) => e.date),
    ['2026-11-16', '2026-11-24'],
  );
});

test('signatures are compared with those of the body', async () => {
  const secret = Buffer.from('00ff10'.repeat(8), 'hex');
  const body = '{"text":"ä"}';
  const classic = createHmac('sha512', secret).update(body).digest('hex');
  const standard = `v1,${createHmac('sha256', secret).update(`id.12.${body}`).digest('base64')}`;
  const headers = [
    `< X-Onfleet-Signature: ${classic.toUpperCase()}`,
    'webhook-id: id',
    'Webhook-Timestamp: 12',
    `webhook-signature: v1,old ${standard}`,
  ].join('\r\n');
  const key = bytes(' 00FF10'.repeat(8))!;
  assert.deepEqual(
    (await check(key, headers, body)).map((v) => [v.header, v.matches]),
    [
      ['X-Onfleet-Signature', true],
      ['webhook-signature', true],
    ],
  );
  assert.deepEqual(
    (await check(key, headers, body + ' ')).map((v) => v.matches),
    [false, false],
  );
  assert.deepEqual(await check(key, 'Content-Type: text/plain', body), []);
  assert.equal(headersOf(headers).get('webhook-timestamp'), '12');
  for (const wrong of ['', 'abc', 'zz', '0']) assert.equal(bytes(wrong), undefined);
});

test('browsers and triggers have names', () => {
  assert.equal(
    browser('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36'),
    'Chrome, Linux',
  );
  assert.equal(
    browser('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1'),
    'Safari, iOS',
  );
  assert.equal(browser('curl/8.9'), 'curl');
  assert.equal(triggerName(17), 'SMSRecipientOptOut');
  assert.equal(triggerName(99), '99');
});

test('the street and number of a typed address are known if it has a number', () => {
  assert.deepEqual(doorOf('350 5th Avenue, New York'), { number: '350', street: '5th Avenue' });
  assert.deepEqual(doorOf('Lange Straße 12a, Berlin'), { number: '12a', street: 'Lange Straße' });
  for (const none of ['New York', '5th Avenue, New York', 'Brooklyn, New York', '']) assert.deepEqual(doorOf(none), {});
});

test('a list that is read again keeps as many rows as were shown', async () => {
  const asked: (string | undefined)[] = [];
  let ids = Array.from({ length: 7 }, (_, i) => `id${i}`);
  const read = async (last?: string) => {
    asked.push(last);
    const from = last === undefined ? 0 : ids.indexOf(last) + 1;
    return paged(ids.slice(from, from + 3).map((id) => ({ id })), 3); // prettier-ignore
  };
  let shown = await renew(undefined, read);
  assert.deepEqual([shown.rows.length, shown.last], [3, 'id2']);
  shown = await follow(shown, read);
  assert.deepEqual([shown.rows.length, shown.last], [6, 'id5']);
  ids = ['new', ...ids];
  asked.length = 0;
  shown = await renew(shown, read);
  assert.deepEqual(shown.rows.map((r) => r.id), ids.slice(0, 6)); // prettier-ignore
  assert.deepEqual(asked, [undefined, 'id1']);
  ids = ids.slice(0, 4); // fewer are left
  shown = await renew(shown, read);
  assert.deepEqual([shown.rows.length, shown.last], [4, null]);
});

test('a form shows new values of its record, unless something was changed in it', () => {
  const [before, now] = [
    { name: 'Ada', teams: ['a'] },
    { name: 'Ada', teams: ['a', 'b'] },
  ];
  assert.deepEqual(renewed({ ...before }, before, now), now);
  const begun = { name: 'Ada L', teams: ['a'] };
  assert.deepEqual(renewed(begun, before, now), begun);
  assert.deepEqual(renewedFields(begun, before, now), { name: 'Ada L', teams: ['a', 'b'] });
});
