import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure, patiently } from '../src/dashboard/api.ts';
import { cell, decode, every, parse, read, sheet, table } from '../src/dashboard/csv.ts';
import { fields, looksLikeHeaders, matchColumns } from '../src/dashboard/import/fields.ts';
import { recall, remember } from '../src/dashboard/import/memory.ts';
import { each, fits, locate, remembering, type Search } from '../src/dashboard/import/places.ts';
import {
  draft,
  hashOf,
  keysOf,
  meanings,
  partOf,
  readFlag,
  readNumber,
  relate,
  wrongCells,
  type Options,
} from '../src/dashboard/import/rows.ts';
import { batchSize, existing, send, sort, type Item, type Report, type Result } from '../src/dashboard/import/send.ts';
import { orderOf, readClock, readDay, readTime, readWindow } from '../src/dashboard/import/times.ts';
import type { Found } from '../src/dashboard/wire.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text).buffer as ArrayBuffer;

test('files of every kind are read alike', () => {
  const want = [
    ['Name', 'Straße'],
    ['Müller, "Jo"', 'a\nb'],
  ];
  const csv = 'Name,Straße\r\n"Müller, ""Jo""","a\nb"\r\n\r\n';
  assert.deepEqual(parse(decode(bytesOf(csv))), want);
  assert.deepEqual(parse(decode(bytesOf('\ufeff' + csv))), want);
  assert.deepEqual(parse('Name;Straße\n"Müller, ""Jo""";"a\nb"'), want);
  assert.deepEqual(parse('Name\tStraße\r"Müller, ""Jo"""\t"a\nb"\r'), want);
  assert.deepEqual(parse('sep=;\r\nName;Straße\r\n"Müller, ""Jo""";"a\nb"'), want);
  const western = Uint8Array.from([...csv].map((c) => c.charCodeAt(0)));
  assert.deepEqual(parse(decode(western.buffer)), want);
  assert.deepEqual(parse(' a , "b" ,c"d\n,,\n'), [['a', 'b', 'c"d']]);
  assert.deepEqual(parse('"never ended\n,'), [['never ended\n,']]);
  assert.deepEqual(parse('one column\nof cells'), [['one column'], ['of cells']]);
  assert.deepEqual(parse(''), []);
});

test('written tables can be read again, and contain no formulas', () => {
  const rows = [['a,b', 'c"d', 'e\nf', '', '+1 (212) 555', '-3.5']];
  for (const delimiter of [',', ';', '\t']) {
    const again = read(table([['x', 'y', 'z', '', '', ''], ...rows], delimiter));
    assert.deepEqual(again, { rows: [['x', 'y', 'z', '', '', ''], ...rows], delimiter });
  }
  for (const formula of ['=1+1', '+cmd|x', '-2+3', '@SUM(A1)', '\tx']) assert.match(cell(formula), /^"?'/);
});

test('records are exported with their times, and without secrets', async () => {
  const records = [
    {
      id: 'a',
      timeCreated: 1_800_000_000_000,
      key: 'dray_x',
      webhookSecret: 'x',
      at: { city: 'X', teams: ['T', 'U'] },
    },
    { id: 'b', at: null, list: [{ n: 1 }], on: true, skip: undefined },
  ];
  assert.deepEqual(sheet(records), [
    ['id', 'timeCreated', 'at.city', 'at.teams', 'at', 'list', 'on'],
    ['a', '2027-01-15T08:00:00.000Z', 'X', 'T; U', '', '', ''],
    ['b', '', '', '', '', '[{"n":1}]', 'true'],
  ]);
  const of = (...ids: string[]) => ids.map((id) => ({ id }));
  const pages = [of('a', 'b'), of('c', 'd'), of('e')];
  const asked: (string | undefined)[] = [];
  const all = await every(2, async (last) => {
    asked.push(last);
    return pages.shift()!;
  });
  assert.deepEqual([all, asked], [of('a', 'b', 'c', 'd', 'e'), [undefined, 'b', 'd']]);
});

test('columns are matched by their names in five languages', () => {
  for (const [headers, want] of [
    ['Order ID|Customer name|Phone Number|Address|Notes', 'reference|name|phone|address|notes'],
    [
      'Bestellnummer|Empfänger|Telefon|Straße|Hausnummer|PLZ|Ort|Land',
      'reference|name|phone|street|number|postalCode|city|country',
    ],
    ['Auftrags-Nr.|Empfänger|Straße|Nr.', 'reference|name|street|number'],
    ['Referencia|Destinatario|Teléfono|Dirección|Fecha|Desde|Hasta', 'reference|name|phone|address|day|from|until'],
    ['Référence|Destinataire|Téléphone|Adresse|Créneau horaire|Colis', 'reference|name|phone|address|window|quantity'],
    ['Pedido|Nome|Telefone|Endereço|Observações|Entregador', 'reference|name|phone|address|notes|worker'],
    ['recipientPhone|completeBefore|serviceTime|LAT|lng', 'phone|until|service|latitude|longitude'],
    ['Address|City|Zip', 'street|city|postalCode'],
    ['Name|Name|Floor plan', 'name||'],
  ] as const) {
    assert.equal(matchColumns(headers.split('|'), []).join('|'), want, headers); // prettier-ignore
  }
  assert.deepEqual(matchColumns(['Order number'], [{ key: 'orderNumber', name: 'Order number' }]), [
    'custom:orderNumber',
  ]);
  assert.ok(looksLikeHeaders(['Name', 'Adresse', 'x']));
  assert.ok(!looksLikeHeaders(['Mary Seacole', '350 5th Avenue', 'x']));
  assert.equal(new Set(fields).size, fields.length);
});

test('dates and times are read as people write them', () => {
  assert.equal(orderOf(['01/02/2026', '03/25/2026']), 'month');
  assert.equal(orderOf(['25/03/2026']), 'day');
  assert.equal(orderOf(['1.2.2026']), 'day');
  assert.equal(orderOf(['01/02/2026', '2026-03-25']), undefined);
  for (const [text, order, want] of [
    ['2026-11-16', 'month', '2026-11-16'],
    ['16.11.2026', 'day', '2026-11-16'],
    ['4/5/26', 'day', '2026-05-04'],
    ['4/5/26', 'month', '2026-04-05'],
    ['31/02/2026', 'day', undefined],
    ['tomorrow', 'day', undefined],
    ['1/1/1926', 'day', undefined],
  ] as const) {
    assert.equal(readDay(text, order), want, text);
  }
  for (const [text, want] of Object.entries({
    '9': '09:00',
    '9:30': '09:30',
    '09:30:00': '09:30',
    '9.30': '09:30',
    '9h30': '09:30',
    '14h': '14:00',
    '9 AM': '09:00',
    '12:15 am': '00:15',
    '12 pm': '12:00',
    '9:30 p.m.': '21:30',
    '14 Uhr': '14:00',
    '14:00 Uhr': '14:00',
    '24:00': undefined,
    '9:75': undefined,
    '13 pm': undefined,
    noon: undefined,
    '930x': undefined,
  })) {
    // prettier-ignore
    assert.equal(readClock(text), want, text);
  }
  const zone = 'Europe/Berlin';
  const nine = Date.parse('2026-11-16T08:00:00Z');
  for (const text of [
    '9:00',
    '16.11.2026 09:00',
    '2026-11-16 9:00',
    '2026-11-16T09:00',
    '2026-11-16T08:00:00Z',
    '2026-11-16T10:00+02:00',
    '16/11/2026, 9 am',
  ]) {
    assert.equal(readTime(text, '2026-11-16', zone, 'day'), nine, text);
  }
  assert.equal(readTime('soon', '2026-11-16', zone, 'day'), undefined);
  for (const text of [
    '9:00-12:00',
    '9 – 12',
    '9:00 to 12:00',
    '9:00 bis 12:00',
    '9h à 12h',
    '9:00 às 12:00',
    '9 am-12 pm',
  ]) {
    assert.ok(readWindow(text), text);
  }
  assert.equal(readWindow('9:00'), undefined);
});

test('numbers and flags are read as several countries write them', () => {
  for (const [text, want] of Object.entries({
    '1,5': 1.5,
    '1.5': 1.5,
    '1.234,5': 1234.5,
    '1,234.5': 1234.5,
    '1 000': 1000,
    '1,000,000': 1000000,
    '1.000.000': 1000000,
    '-3': -3,
    x: undefined,
    '1-2': undefined,
  })) {
    assert.equal(readNumber(text), want, text);
  }
  for (const [text, want] of Object.entries({
    Yes: true,
    Abholung: true,
    'Pick-up': true,
    nein: false,
    Delivery: false,
    '': false,
    perhaps: undefined,
  })) {
    assert.equal(readFlag(text), want, text);
  }
});

const options = (headers: string, more: Partial<Options> = {}): Options => ({
  headers: headers.split('|'),
  matches: matchColumns(headers.split('|'), more.custom ?? []),
  custom: [],
  teams: [{ id: 'T1', name: 'Red' }, { id: 'T2', name: 'red' }, { id: 'T3', name: 'Blue' }],
  workers: [{ id: 'W1', name: 'Ada Löv', phone: '+12125550142' }],
  day: '2026-11-16',
  order: 'day',
  zone: 'UTC',
  country: 'US',
  ...more,
}); // prettier-ignore

test('a row becomes a task', () => {
  const o = options(
    'Ref|Name|Phone|Street|Number|City|Date|From|Until|Service time|Qty|Notes|Pickup|Team|Driver|After|Fragile|Colour',
    {
      custom: [{ key: 'fragile', name: 'Fragile', type: 'boolean' }],
    },
  );
  const matches = [...o.matches.slice(0, -1), 'metadata' as const];
  const d = draft(
    'S-1|Mary|2125550199|5th Avenue|350|New York|17.11.2026|9:00|12:00|0:10|2,5|Ring.|x|blue|(212) 555-0142|S-0; S-2|yes|teal'.split(
      '|',
    ),
    { ...o, matches },
  );
  assert.deepEqual(d.problems, []);
  assert.deepEqual(
    { ...d, problems: undefined },
    {
      reference: 'S-1',
      recipient: { name: 'Mary', phone: '2125550199', notes: '' },
      line: '350 5th Avenue, New York, US',
      parts: { number: '350', street: '5th Avenue', city: 'New York' },
      location: undefined,
      day: '',
      from: Date.parse('2026-11-17T09:00Z'),
      until: Date.parse('2026-11-17T12:00Z'),
      after: ['S-0', 'S-2'],
      team: 'T3',
      worker: 'W1',
      body: {
        completeAfter: Date.parse('2026-11-17T09:00Z'),
        completeBefore: Date.parse('2026-11-17T12:00Z'),
        notes: 'Ring.',
        quantity: 2.5,
        serviceTime: 10,
        pickupTask: true,
        customFields: [{ key: 'fragile', value: true }],
        metadata: [{ name: 'Colour', type: 'string', value: 'teal' }],
      },
      problems: undefined,
    },
  );
  const day = draft(['X', '17.11.2026'], options('Address|Date'));
  assert.deepEqual([day.from, day.until], [Date.parse('2026-11-17T00:00Z'), Date.parse('2026-11-17T23:59Z')]);
  for (const [headers, cells] of [
    ['Address|Date|Window', 'X|17.11.2026|22:00-02:00'],
    ['Address|Date|From|Until', 'X|17.11.2026|22:00|02:00'],
  ] as const) {
    const night = draft(cells.split('|'), options(headers));
    assert.deepEqual(night.problems, [], cells);
    assert.deepEqual([night.from, night.until], [Date.parse('2026-11-17T22:00Z'), Date.parse('2026-11-18T02:00Z')]);
  }
});

test('a number with a separator before three digits is not guessed', () => {
  assert.deepEqual(meanings('1,000'), { whole: '1000', decimal: '1' });
  assert.deepEqual(meanings('-12.250'), { whole: '-12250', decimal: '-12.25' });
  for (const clear of ['0.500', '1,00', '1000.250', '1,000.5', '1000', '1.000.000'])
    assert.equal(meanings(clear), undefined, clear);
  const custom = [{ key: 'weight', name: 'Weight', type: 'decimal' }];
  const { problems } = draft(['X', '1.250', '40.750', '-73.980'], options('Address|Weight|Lat|Lon', { custom }));
  const values = { column: 'Weight', value: '1.250', whole: '1250', decimal: '1.25' };
  assert.deepEqual(problems, [{ code: 'importTwoNumbers', values, at: ['custom:weight'] }]);
});

test('every bad cell has its own message', () => {
  for (const [headers, cells, code] of [
    ['Notes|City', 'Ring.|', 'importNoAddress'],
    ['Name|Address', 'Mary|X', 'importNoPhone'],
    ['Phone|Address', '2125550142|X', 'importNoName'],
    ['Name|Phone|Address', 'Mary|n/a|X', 'importBadValue'],
    ['Address|Date', 'X|someday', 'importBadValue'],
    ['Address|From|Until', 'X|14:00|12:00', 'importWindowEnds'],
    ['Address|From|Until', 'X|14:00|14:00', 'importWindowEnds'],
    ['Address|From|Until', 'X|17.11.2026 22:00|17.11.2026 02:00', 'importWindowEnds'],
    ['Address|Window', 'X|morning', 'importBadValue'],
    ['Lat|Lon', '91|2', 'importBadValue'],
    ['Lat|Lon', '1|', 'importBadValue'],
    ['Lat|Lon', '0|0', 'importNoAddress'],
    ['Address|Qty', 'X|1,000', 'importTwoNumbers'],
    ['Address|Qty', 'X|1.000', 'importTwoNumbers'],
    ['Address|Service time', 'X|1.250 min', 'importTwoNumbers'],
    ['Address|Qty', 'X|-1', 'importBadValue'],
    ['Address|Pickup', 'X|perhaps', 'importBadValue'],
    ['Address|Team', 'X|Green', 'importNoTeam'],
    ['Address|Team', 'X|RED', 'importNotUnique'],
    ['Address|Driver', 'X|Bob', 'importNoWorker'],
    ['Address|Ref', `X|${'é'.repeat(101)}`, 'importLongReference'],
  ] as const) {
    const { problems } = draft(cells.split('|'), options(headers));
    assert.deepEqual(problems.map((p) => p.code), [code], `${headers} ${cells}`); // prettier-ignore
  }
});

test('wrong cells are found', () => {
  const o = options('Name|Phone|Address|From|Until|Team');
  const { problems } = draft('Mary|7|X|14:00|12:00|Green'.split('|'), o);
  const cells = wrongCells(problems, o.matches);
  assert.deepEqual(cells.map((c) => [c.column, partOf(c.match), c.problem.code]), [[1, 'recipient', 'importBadValue'], [3, 'time', 'importWindowEnds'], [4, 'time', 'importWindowEnds'], [5, 'other', 'importNoTeam']]); // prettier-ignore
});

test('columns mean what they meant the last time, in any order', () => {
  let kept = remember(null, ['Kd.', 'Ort', 'X', 'X'], ['name', 'city', 'metadata', 'custom:gate']);
  assert.deepEqual(recall(kept, ['ort', 'X', 'KD', 'x'], [{ key: 'gate' }]), ['city', 'metadata', 'name', 'custom:gate']); // prettier-ignore
  assert.deepEqual(recall(kept, ['Kd.', 'Ort', 'X', 'X'], []), ['name', 'city', 'metadata', '']); // the field is gone
  assert.equal(recall(kept, ['Kd.', 'Ort', 'X'], []), undefined);
  kept = remember(kept, ['Ort', 'Kd', 'X', 'X'], ['', 'name', '', '']);
  assert.deepEqual(recall(kept, ['Kd.', 'Ort', 'X', 'X'], []), ['name', '', '', '']);
  for (let i = 0; i < 100; i++) kept = remember(kept, [`Column ${i}`], ['notes']);
  assert.deepEqual([recall(kept, ['Column 99'], []), recall(kept, ['Column 9'], [])], [['notes'], undefined]);
  for (const broken of ['', '{', '{}', '[1]', 'null']) assert.equal(recall(broken, ['Name'], []), undefined);
});

test('the key of a row is stable, and equal rows have different keys', () => {
  const rows = [['a', 'b'], ['a', 'b'], ['ab', ''], ['a', 'b', '']]; // prettier-ignore
  const keys = keysOf(rows, []);
  assert.deepEqual(keysOf(rows, []), keys);
  assert.equal(new Set(keys).size, 4);
  assert.ok(keys.every((k) => k.length <= 100));
  assert.equal(new Set(Array.from({ length: 20_000 }, (_, i) => hashOf(`row ${i}`))).size, 20_000);
});

test('rows without a date are other tasks on another day', () => {
  const rows = [
    ['X', '', '9:00', ''],
    ['X', '', '', ''],
    ['X', '', '9:00', '2026-11-17 12:00'],
    ['X', '2026-11-16', '9:00', ''],
    ['X', '', '2026-11-16 9:00', '2026-11-16 12:00'],
    ['X', '', '2026-11-16', ''],
  ];
  const on = (day: string) => {
    const o = { ...options('Address|Date|From|Until'), day };
    return keysOf(rows, rows.map((cells) => draft(cells, o).day)); // prettier-ignore
  };
  assert.deepEqual(on('2026-11-16'), on('2026-11-16'));
  const [before, after] = [on('2026-11-16'), on('2026-11-17')];
  assert.deepEqual(before.map((key, i) => key !== after[i]), [true, true, true, false, false, false]); // prettier-ignore
});

test('dependencies are created before the tasks that depend on them', () => {
  const o = options('Ref|After|Address');
  const rows = ['c|b|X', 'a||X', 'b|a|X', 'a||X', 'd|zz|X', 'e|f|X', 'f|e|X', 'g|d|X'].map((r) =>
    draft(r.split('|'), o),
  );
  const { problems, waves } = relate(rows);
  assert.deepEqual(waves, [[1, 3, 7], [2], [0]]);
  assert.deepEqual(problems.map((p) => p[0]?.code ?? ''), ['', '', '', 'importReferenceTwice', 'importNoReference', 'importCircle', 'importCircle', '']); // prettier-ignore
});

const house = (number: string, street: string): Found => ({
  location: [1, 2],
  address: { number, street, city: 'Alderbrook', country: 'United States' },
  line: `${number} ${street}, Alderbrook`,
  precision: 'house',
  warnings: [],
});

test('an address is exact only if it matches that of the row', async () => {
  assert.ok(fits('12 Elm St, Alderbrook', house('12', 'Elm Street')));
  assert.ok(fits('Elm Street 12b, Alderbrook', house('12b', 'Elm Street')));
  assert.ok(!fits('1 Elm Street', house('12', 'Elm Street')));
  assert.ok(!fits('12 Oak Street', { ...house('12', 'Elm Road'), line: '' }));
  assert.ok(!fits('12 Elm Street', { ...house('12', 'Elm Street'), warnings: ['APPROXIMATE'] }));
  const asked: string[] = [];
  const search: Search = remembering(async (q) => {
    asked.push(JSON.stringify(q));
    if ('location' in q) return [house('5', 'Oak Road')];
    if (q.q.startsWith('12 Elm')) return [house('12', 'Elm Street')];
    return q.q.startsWith('99 Elm') ? [{ ...house('', 'Elm Street'), precision: 'street' }] : [];
  });
  const at = (headers: string, cells: string) => locate(draft(cells.split('|'), options(headers)), 'US', search);
  const exact = await at('Address|Apt', '12 Elm Street|4A');
  assert.equal(exact.state, 'exact');
  assert.deepEqual(exact.destination, {
    address: { number: '12', street: 'Elm Street', city: 'Alderbrook', country: 'United States', apartment: '4A' },
    location: [1, 2],
  });
  assert.deepEqual(await at('Address', '99 Elm Street'), {
    state: 'approximate',
    line: ' Elm Street, Alderbrook',
    destination: { address: { unparsed: '99 Elm Street' } },
  });
  assert.equal((await at('Address', 'Nowhere')).state, 'unknown');
  // The number of an unknown house is kept.
  for (const [headers, cells] of [
    ['Street|Number|City', 'Elm Street|99|Alderbrook'],
    ['Street|City', '99 Elm Street|Alderbrook'],
    ['Street|City', 'Elm Street 99|Alderbrook'],
  ]) {
    const { address } = (await at(headers!, cells!)).destination;
    assert.deepEqual(address, { number: '99', street: 'Elm Street', city: 'Alderbrook', country: 'US' });
  }
  const parts = await at('Street|City|Lat|Lon', 'Elm|Alderbrook|40,5|-73.5');
  assert.deepEqual(parts.destination, {
    address: { street: 'Elm', city: 'Alderbrook', country: 'US' },
    location: [-73.5, 40.5],
  });
  const near = await at('Address|Lat|Lon', 'The red door|40.5|-73.5');
  assert.deepEqual(near.destination, {
    address: { number: '', street: 'The red door', city: 'Alderbrook', country: 'United States' },
    location: [-73.5, 40.5],
  });
  await at('Address', '12 Elm Street');
  assert.equal(asked.filter((q) => q.includes('12 Elm')).length, 1); // asked once
});

test('searches run a few at a time, until they are stopped', async () => {
  let now = 0;
  let most = 0;
  const done: number[] = [];
  const stop = new AbortController();
  await each([...Array(50).keys()], async (i) => {
    most = Math.max(most, ++now);
    await Promise.resolve();
    now--;
    done.push(i);
    if (done.length === 20) stop.abort();
  }, stop.signal); // prettier-ignore
  assert.equal(most, 6);
  assert.ok(done.length >= 20 && done.length < 30);
});

test('a request is repeated if the server is busy, but not after other errors', async () => {
  const { signal } = new AbortController();
  let asked = 0;
  const value = await patiently(async () => {
    if (++asked < 3) throw new Failure(429, '', 0, undefined, '', 0.001);
    return 'there';
  }, signal);
  assert.deepEqual([value, asked], ['there', 3]);
  asked = 0;
  await assert.rejects(patiently(async () => { asked++; throw new Failure(400, 'no'); }, signal)); // prettier-ignore
  assert.equal(asked, 1);
});

const item = (key: string, more: Partial<Item> = {}): Item => ({ key, after: [], worker: '', body: {}, ...more });
const used = (key: string, id: string) => ({
  errorCode: 1004,
  message: 'used',
  cause: `duplicateKey: importKey ${key}, id ${id}`,
  taskData: { importKey: key },
});

test('the results of a batch are matched with its rows', () => {
  const report: Report = {
    status: 'completedWithErrors',
    tasksCreated: 2,
    tasksErrored: 2,
    errors: [used('b, id x', 'T0'), { errorCode: 1000, message: 'no.', cause: 'why', taskData: { importKey: 'd' } }],
    newTasks: [{ id: 'T1' }, { id: 'T2' }],
  };
  const items = ['a', 'b, id x', 'c', 'd'].map((key) => item(key));
  assert.deepEqual(sort(items, report), [
    { state: 'created', task: 'T1' },
    { state: 'there', task: 'T0' },
    { state: 'created', task: 'T2' },
    { state: 'failed', message: 'no: why' },
  ]);
  assert.deepEqual(sort(items, { ...report, newTasks: [{ id: 'T2' }] })[0], { state: 'created', task: '' });
  assert.equal(existing({ ...used('k', 'T'), errorCode: 1000 }), undefined);
});

test('batches are within the limit, wait for each other, and contain dependencies', async () => {
  const sent: Record<string, unknown>[][] = [];
  const assigned: [string, string[]][] = [];
  let polls = 0;
  const server = {
    submit: async (tasks: Record<string, unknown>[]) => String(sent.push(tasks) - 1),
    report: async (job: string): Promise<Report> => {
      const tasks = sent[Number(job)]!;
      if (polls++ === 0) return { status: 'inProgress', tasksCreated: 1, tasksErrored: 0, errors: [], newTasks: [] };
      const bad = tasks.filter((t) => t['importKey'] === 'bad');
      return {
        status: 'succeeded',
        tasksCreated: tasks.length - bad.length,
        tasksErrored: bad.length,
        errors: bad.map(() => ({ errorCode: 1000, message: 'bad', cause: '', taskData: { importKey: 'bad' } })),
        newTasks: tasks.filter((t) => t['importKey'] !== 'bad').map((t) => ({ id: `T ${t['importKey']}` })),
      };
    },
    assign: async (worker: string, tasks: string[]) => {
      assigned.push([worker, tasks]);
      if (worker === 'W2') throw new Failure(400, 'gone');
    },
    obstacle: async () => '',
    wait: async () => {},
    newKey: () => 'key',
    explain: (e: unknown) => (e as Failure).message,
  };
  const first = [...Array(batchSize + 1).keys()].map((i) => item(`r${i}`, { worker: i < 2 ? 'W1' : '' }));
  const second = [item('x', { after: ['r0'], worker: 'W2' }), item('y', { after: ['bad'] })];
  const results = new Map<string, Result>();
  const steps: number[] = [];
  await send([[...first, item('bad')], second], server, (i, r) => results.set(i.key, r), (n) => steps.push(n), new AbortController().signal); // prettier-ignore
  assert.deepEqual(sent.map((s) => s.length), [batchSize, 2, 1]); // prettier-ignore
  assert.deepEqual(sent[2], [{ importKey: 'x', dependencies: ['T r0'] }]);
  assert.deepEqual(assigned, [['W1', ['T r0', 'T r1']], ['W2', ['T x']]]); // prettier-ignore
  assert.deepEqual(results.get('bad'), { state: 'failed', message: 'bad' });
  assert.deepEqual(results.get('y'), { state: 'orphan' });
  assert.deepEqual(results.get('x'), { state: 'created', task: 'T x', warning: 'gone' });
  assert.equal(results.size, batchSize + 4);
  assert.equal(steps[0], 1);

  // What was not sent before a stop is not reported as an error.
  const stop = new AbortController();
  const stopped: string[] = [];
  const wave = [item('p'), item('q')];
  await send([wave, [item('z', { after: ['q'] })]], { ...server, submit: async (tasks) => (stop.abort(), server.submit(tasks)) }, (i) => stopped.push(i.key), () => {}, stop.signal); // prettier-ignore
  assert.deepEqual(stopped, ['p', 'q']);
  const early: string[] = [];
  await send([wave, [item('z', { after: ['q'] })]], server, (i) => early.push(i.key), () => {}, stop.signal); // prettier-ignore
  assert.deepEqual(early, []);
});

test('tasks are assigned after each batch, also those of an import that was interrupted', async () => {
  const assigned: [string, string[]][] = [];
  const sent: string[][] = [];
  const obstacles: Record<string, string | undefined> = { T1: '', T2: undefined, T3: 'taken' };
  const server = {
    submit: async (tasks: Record<string, unknown>[]) => {
      sent.push(tasks.map((t) => String(t['importKey'])));
      if (sent.length === 3) throw new TypeError('the page is closed');
      return String(sent.length - 1);
    },
    report: async (job: string): Promise<Report> => {
      const there = sent[Number(job)]!.filter((key) => key.startsWith('T'));
      return {
        status: 'succeeded',
        tasksCreated: 1,
        tasksErrored: there.length,
        errors: there.map((importKey) => ({
          errorCode: 1004,
          message: 'used',
          cause: `duplicateKey: importKey ${importKey}, id ${importKey}`,
          taskData: { importKey },
        })),
        newTasks: sent[Number(job)]!.filter((key) => !there.includes(key)).map((id) => ({ id })),
      };
    },
    assign: async (worker: string, tasks: string[]) => void assigned.push([worker, tasks]),
    obstacle: async (task: string) => {
      if (!(task in obstacles)) throw new Failure(404, 'gone');
      return obstacles[task];
    },
    wait: async () => {},
    newKey: () => 'key',
    explain: (e: unknown) => (e as Failure).message,
  };
  const results = new Map<string, Result>();
  const all = ['new', 'T1', 'T2', 'T3', 'T4'].map((key) => item(key, { worker: 'w' }));
  const waves = [[...all, item('T5')], [item('next', { worker: 'w' })], [item('last', { worker: 'w' })]];
  await assert.rejects(
    send(waves, server, (i, r) => results.set(i.key, r), () => {}, new AbortController().signal), // prettier-ignore
    TypeError,
  );
  assert.deepEqual(assigned, [['w', ['new', 'T1']], ['w', ['next']]]); // prettier-ignore
  assert.deepEqual(results.get('T1'), { state: 'there', task: 'T1' });
  assert.deepEqual(results.get('T2'), { state: 'there', task: 'T2' }, 'the worker has it');
  assert.deepEqual(results.get('T3'), { state: 'there', task: 'T3', warning: 'taken' });
  assert.deepEqual(results.get('T4'), { state: 'there', task: 'T4', warning: 'gone' });
  assert.deepEqual(results.get('T5'), { state: 'there', task: 'T5' });
  assert.deepEqual(results.get('new'), { state: 'created', task: 'new' });
});

test('the names of workers are prepared once for all rows', () => {
  let read = 0;
  const worker = {
    id: 'w',
    phone: '',
    get name() {
      read++;
      return 'Zoë';
    },
  };
  const o: Options = {
    headers: ['Driver'],
    matches: ['worker'],
    custom: [],
    teams: [],
    workers: [worker],
    day: '2026-11-18',
    order: 'day',
    zone: 'UTC',
    country: 'US',
  };
  for (const name of ['zoe', 'ZOË', 'Zoe']) assert.equal(draft([name], o).worker, 'w');
  assert.equal(read, 1);
});
