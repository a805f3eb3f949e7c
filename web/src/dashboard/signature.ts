// Checks the signatures of a webhook request in the browser. The secret stays in the
// page.

const text = new TextEncoder();

// bytes decodes a secret, which is written in hexadecimal digits.
export function bytes(hex: string): Uint8Array<ArrayBuffer> | undefined {
  const plain = hex.replace(/\s/g, '');
  if (plain.length < 2 || plain.length % 2 !== 0 || /[^0-9a-f]/i.test(plain)) return undefined;
  return Uint8Array.from(plain.match(/../g)!, (pair) => parseInt(pair, 16));
}

async function mac(hash: 'SHA-256' | 'SHA-512', secret: Uint8Array<ArrayBuffer>, message: string): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(message)));
}

// classic returns the X-Onfleet-Signature of a body.
export async function classic(secret: Uint8Array<ArrayBuffer>, body: string): Promise<string> {
  return [...(await mac('SHA-512', secret, body))].map((b) => b.toString(16).padStart(2, '0')).join('');
}

// standard returns the webhook-signature of Standard Webhooks.
export async function standard(
  secret: Uint8Array<ArrayBuffer>,
  id: string,
  timestamp: string,
  body: string,
): Promise<string> {
  return 'v1,' + btoa(String.fromCharCode(...(await mac('SHA-256', secret, `${id}.${timestamp}.${body}`))));
}

export interface Verdict {
  header: string;
  matches: boolean;
  expected: string;
}

// headersOf reads headers as a log or curl prints them, one on each line.
export function headersOf(lines: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of lines.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0)
      found.set(
        line
          .slice(0, colon)
          .replace(/^[<>\s]+/, '')
          .trim()
          .toLowerCase(),
        line.slice(colon + 1).trim(),
      );
  }
  return found;
}

// check compares the signatures among the headers with those of the body.
export async function check(secret: Uint8Array<ArrayBuffer>, headers: string, body: string): Promise<Verdict[]> {
  const sent = headersOf(headers);
  const verdicts: Verdict[] = [];
  const old = sent.get('x-onfleet-signature');
  if (old) {
    const expected = await classic(secret, body);
    verdicts.push({ header: 'X-Onfleet-Signature', matches: old.toLowerCase() === expected, expected });
  }
  const all = sent.get('webhook-signature');
  if (all) {
    const expected = await standard(secret, sent.get('webhook-id') ?? '', sent.get('webhook-timestamp') ?? '', body);
    verdicts.push({ header: 'webhook-signature', matches: all.split(/\s+/).includes(expected), expected });
  }
  return verdicts;
}
