// What the app tells of the phone it runs on.

export interface Device {
  appVersion: string;
  deviceDescription: string;
  platform: 'IOS' | 'ANDROID' | 'WEB';
}

// describe reads a phone out of how its browser calls itself, and the version of
// the app out of the address of its script, which changes with what is in it.
export function describe(agent: string, script: string): Device {
  const apple = /iPhone|iPad|iPod/.test(agent);
  return {
    appVersion: /-([\w-]{6,})\.js/.exec(script)?.[1] ?? '',
    deviceDescription: (/\(([^)]*)\)/.exec(agent)?.[1] ?? '').slice(0, 200),
    platform: apple ? 'IOS' : /Android/.test(agent) ? 'ANDROID' : 'WEB',
  };
}

// battery is how far the phone is charged, from 0 to 1; null where browsers keep
// it to themselves.
export async function battery(): Promise<number | null> {
  const phone = navigator as Navigator & { getBattery?: () => Promise<{ level: number }> };
  try {
    return (await phone.getBattery?.())?.level ?? null;
  } catch {
    return null;
  }
}
