// Tables as text, as spreadsheets save, copy and open them.

// decode returns the text of a file. A file that is neither UTF-16 nor UTF-8 is read as
// Windows-1252, which Excel saves in Western Europe and America.
export function decode(bytes: ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

const delimiters = [',', ';', '\t'];

// delimiterOf returns the delimiter of the cells: the most frequent one in the first line that
// contains any.
function delimiterOf(text: string): string {
  const counts = new Map(delimiters.map((d) => [d, 0]));
  let quoted = false;
  for (const c of text) {
    if (c === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (counts.has(c)) counts.set(c, counts.get(c)! + 1);
    else if (c === '\n' && [...counts.values()].some((n) => n > 0)) break;
  }
  return delimiters.reduce((best, d) => (counts.get(d)! > counts.get(best)! ? d : best));
}

// parse returns the rows of a table, without empty ones.
export const parse = (text: string): string[][] => read(text).rows;

// read returns the rows of a table, without empty ones, and the delimiter of their cells.
// Cells in quotes may contain delimiters, line breaks and doubled quotes.
export function read(text: string): { rows: string[][]; delimiter: string } {
  let at = text.startsWith('\ufeff') ? 1 : 0;
  const hint = /^sep=(.)\r?\n/i.exec(text.slice(at, at + 8)); // Excel writes it
  if (hint) at += hint[0].length;
  const delimiter = hint?.[1] ?? delimiterOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  const endCell = () => {
    row.push(cell.trim());
    cell = '';
  };
  const endRow = () => {
    endCell();
    if (row.some(Boolean)) rows.push(row);
    row = [];
  };
  for (; at < text.length; at++) {
    const c = text[at]!;
    if (c === '"' && cell.trim() === '') {
      cell = '';
      for (at++; at < text.length; at++) {
        if (text[at] === '"' && text[++at] !== '"') break;
        cell += text[at];
      }
      at--; // so that the character after the quotes is read next
    } else if (c === delimiter) endCell();
    else if (c === '\n') endRow();
    else if (c !== '\r') cell += c;
    else if (text[at + 1] !== '\n') endRow(); // a line break of old Macs
  }
  endRow();
  return { rows, delimiter };
}

// cell writes a value so that spreadsheets read it as text, and never as a formula.
export function cell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) && !/^[+-]?[\d\s().]+$/.test(value) ? `'${value}` : value;
  return /[",;\t\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// table writes rows as a file that spreadsheets open.
export const table = (rows: readonly (readonly string[])[], delimiter = ','): string =>
  rows.map((row) => row.map(cell).join(delimiter) + '\r\n').join('');

// download offers rows as a file.
export function download(name: string, rows: readonly (readonly string[])[], delimiter = ',') {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(['\ufeff', table(rows, delimiter)], { type: 'text/csv;charset=utf-8' }));
  link.download = `${name}.${delimiter === '\t' ? 'tsv' : 'csv'}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const secret = /secret|password|token/i; // in names of values
const apiKey = /^dray_/;
const [year1973, year2286] = [1e11, 1e13]; // in milliseconds

// flat returns the values of a record by their names, without secrets. The names in nested
// records are joined with a dot; lists become one text, and times are in ISO 8601.
export function flat(record: unknown, prefix = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(record as object)) {
    const path = prefix + name;
    if (value === undefined || secret.test(name) || apiKey.test(String(value))) continue;
    if (value === null || value === '') found.set(path, '');
    else if (Array.isArray(value)) {
      const plain = value.every((v) => typeof v !== 'object');
      found.set(path, plain ? value.join('; ') : JSON.stringify(value));
    } else if (typeof value === 'object') for (const [n, v] of flat(value, `${path}.`)) found.set(n, v);
    else if (typeof value === 'number' && value > year1973 && value < year2286)
      found.set(path, new Date(value).toISOString());
    else found.set(path, String(value));
  }
  return found;
}

// sheet returns records as the rows of a table. The first row has the names of their values.
export function sheet(records: readonly unknown[]): string[][] {
  const all = records.map((r) => flat(r));
  const names = [...new Set(all.flatMap((r) => [...r.keys()]))];
  return [names, ...all.map((r) => names.map((name) => r.get(name) ?? ''))];
}

const most = 20_000; // rows of an export after which no further page is read

// every reads pages of records, each after the last record of the page before, until one is
// not full or there are enough records.
export async function every<T extends { id: string }>(
  size: number,
  page: (last: string | undefined) => Promise<T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const some = await page(all.at(-1)?.id);
    all.push(...some);
    if (some.length < size || all.length >= most) return all;
  }
}
