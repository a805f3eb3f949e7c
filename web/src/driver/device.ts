// What the app reports about the phone it runs on.

export interface Device {
  appVersion: string;
  deviceDescription: string;
  platform: 'IOS' | 'ANDROID' | 'WEB';
}

// describe derives the phone from the browser's user agent and the version of the
// app from the URL of its script, which contains a content hash.
export function describe(agent: string, script: string): Device {
  const apple = /iPhone|iPad|iPod/.test(agent);
  return {
    appVersion: /-([\w-]{6,})\.js/.exec(script)?.[1] ?? '',
    deviceDescription: (/\(([^)]*)\)/.exec(agent)?.[1] ?? '').slice(0, 200),
    platform: apple ? 'IOS' : /Android/.test(agent) ? 'ANDROID' : 'WEB',
  };
}

// battery returns the charge of the phone from 0 to 1; null if the browser does not
// expose it.
export async function battery(): Promise<number | null> {
  const phone = navigator as Navigator & { getBattery?: () => Promise<{ level: number }> };
  try {
    return (await phone.getBattery?.())?.level ?? null;
  } catch {
    return null;
  }
}
