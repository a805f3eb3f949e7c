// The apps that can show the way to a task.

import type { Task } from './wire.ts';

export type NavigationApp = 'phone' | 'google' | 'apple' | 'waze';

export const appNames: Record<Exclude<NavigationApp, 'phone'>, string> = {
  google: 'Google Maps',
  apple: 'Apple Maps',
  waze: 'Waze',
};

const isApple = (agent: string): boolean => /iPhone|iPad|Macintosh/.test(agent);

// choices lists the apps that exist for a phone. "phone" is the one that the phone
// itself opens for a geo: URL, which Apple devices do not support.
export const choices = (agent: string): NavigationApp[] =>
  isApple(agent) ? ['apple', 'google', 'waze'] : ['phone', 'google', 'waze'];

// navigationLink opens directions to a task.
export function navigationLink(task: Task, chosen: NavigationApp | '', agent: string): string {
  const [lon, lat] = task.destination.location;
  const at = `${lat.toFixed(6)},${lon.toFixed(6)}`;
  switch (chosen || choices(agent)[0]) {
    case 'google':
      return `https://www.google.com/maps/dir/?api=1&destination=${at}&travelmode=driving`;
    case 'apple':
      return `https://maps.apple.com/?daddr=${at}`;
    case 'waze':
      return `https://waze.com/ul?ll=${at}&navigate=yes`;
    default:
      return `geo:${at}?q=${at}`;
  }
}
