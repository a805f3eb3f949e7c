// The screens for people who are signed in: their positions in the navigation, and the
// functions that load them.

import type { Component } from 'svelte';
import { app } from './app.svelte.ts';
import type { IconName } from './ui/Icon.svelte';
import type { Words } from './words.ts';

export interface Page {
  path: string;
  title: keyof Words;
  icon: IconName;
  group: keyof Words | '';
  load: () => Promise<{ default: Component<any> }>; // screens of single records have a property id
  visible?: () => boolean; // whether the person may see it; default true
}

const manages = () => app.me?.type === 'super';

export const pages: Page[] = [
  { path: '', title: 'board', icon: 'board', group: '', load: () => import('./board/Board.svelte') },
  {
    path: 'exceptions',
    title: 'exceptions',
    icon: 'alert',
    group: '',
    load: () => import('./board/Exceptions.svelte'),
  },
  {
    path: 'dispatch',
    title: 'dispatch',
    icon: 'route',
    group: '',
    load: () => import('./dispatch/Dispatch.svelte'),
  },
  { path: 'table', title: 'table', icon: 'field', group: '', load: () => import('./board/TaskTable.svelte') },
  { path: 'replay', title: 'replay', icon: 'replay', group: '', load: () => import('./board/Replay.svelte') },
  { path: 'reports', title: 'reports', icon: 'chart', group: '', load: () => import('./pages/Reports.svelte') },
  {
    path: 'import',
    title: 'importTitle',
    icon: 'upload',
    group: '',
    load: () => import('./pages/Import.svelte'),
    visible: () => !app.me?.isReadOnly,
  },
  { path: 'today', title: 'today', icon: 'today', group: '', load: () => import('./pages/Today.svelte') },
  {
    path: 'fleet/workers',
    title: 'workers',
    icon: 'worker',
    group: 'fleet',
    load: () => import('./pages/Workers.svelte'),
  },
  { path: 'fleet/teams', title: 'teams', icon: 'team', group: 'fleet', load: () => import('./pages/Teams.svelte') },
  { path: 'fleet/hubs', title: 'hubs', icon: 'hub', group: 'fleet', load: () => import('./pages/Hubs.svelte') },
  {
    path: 'settings/fields',
    title: 'fields',
    icon: 'field',
    group: 'tasksAndRecipients',
    load: () => import('./pages/Fields.svelte'),
  },
  {
    path: 'settings/reasons',
    title: 'failureReasons',
    icon: 'alert',
    group: 'tasksAndRecipients',
    load: () => import('./pages/Reasons.svelte'),
    visible: manages,
  },
  {
    path: 'settings/branding',
    title: 'branding',
    icon: 'brush',
    group: 'tasksAndRecipients',
    load: () => import('./pages/Branding.svelte'),
    visible: manages,
  },
  {
    path: 'recipients/messages',
    title: 'messages',
    icon: 'message',
    group: 'tasksAndRecipients',
    load: () => import('./pages/Messages.svelte'),
  },
  {
    path: 'settings/messages',
    title: 'messageTexts',
    icon: 'audit',
    group: 'tasksAndRecipients',
    load: () => import('./pages/MessageTexts.svelte'),
    visible: manages,
  },
  {
    path: 'business/orders',
    title: 'orders',
    icon: 'book',
    group: 'business',
    load: () => import('./pages/Orders.svelte'),
    visible: manages,
  },
  {
    path: 'business/clients',
    title: 'clients',
    icon: 'client',
    group: 'business',
    load: () => import('./pages/Clients.svelte'),
    visible: manages,
  },
  {
    path: 'business/services',
    title: 'services',
    icon: 'service',
    group: 'business',
    load: () => import('./pages/Services.svelte'),
    visible: manages,
  },
  {
    path: 'settings/organization',
    title: 'settings',
    icon: 'settings',
    group: 'organization',
    load: () => import('./pages/Organization.svelte'),
    visible: manages,
  },
  {
    path: 'settings/people',
    title: 'people',
    icon: 'people',
    group: 'organization',
    load: () => import('./pages/People.svelte'),
    visible: manages,
  },
  {
    path: 'settings/audit',
    title: 'audit',
    icon: 'audit',
    group: 'organization',
    load: () => import('./pages/Audit.svelte'),
    visible: manages,
  },
  {
    path: 'settings/installation',
    title: 'installation',
    icon: 'server',
    group: 'organization',
    load: () => import('./pages/Installation.svelte'),
    visible: () => app.me?.isInstallationOwner ?? false,
  },
  {
    path: 'developers/keys',
    title: 'keys',
    icon: 'key',
    group: 'developers',
    load: () => import('./pages/Keys.svelte'),
    visible: manages,
  },
  {
    path: 'developers/webhooks',
    title: 'webhooks',
    icon: 'hook',
    group: 'developers',
    load: () => import('./pages/Webhooks.svelte'),
    visible: manages,
  },
  {
    path: 'developers/events',
    title: 'events',
    icon: 'event',
    group: 'developers',
    load: () => import('./pages/Events.svelte'),
  },
  {
    path: 'developers/triggers',
    title: 'triggers',
    icon: 'trigger',
    group: 'developers',
    load: () => import('./pages/Triggers.svelte'),
    visible: manages,
  },
];

// inner are screens that are not in the navigation, such as the user's account.
const inner: Page[] = [
  {
    path: 'start',
    title: 'start',
    icon: 'guide',
    group: '',
    load: () => import('./pages/Start.svelte'),
    visible: () => app.mayManage,
  },
  { path: 'account', title: 'account', icon: 'people', group: '', load: () => import('./pages/Account.svelte') },
];

// records are the screens of single records, by the path before the id.
const records: Record<string, Page['load']> = {
  tasks: () => import('./board/Board.svelte'),
  dispatch: () => import('./dispatch/Dispatch.svelte'),
  'dispatch/teams': () => import('./dispatch/Dispatch.svelte'),
  'dispatch/workers': () => import('./dispatch/Dispatch.svelte'),
  'fleet/workers': () => import('./pages/Worker.svelte'),
  'developers/webhooks': () => import('./pages/Webhook.svelte'),
};

const allowed = (p: Page): boolean => p.visible?.() ?? true;

export const seen = (): Page[] => pages.filter(allowed);

export interface Screen {
  path: string; // path of the entry in the navigation
  id: string;
  load: Page['load'];
}

// find returns the screen of a path, if the person may see it.
export function find(path: string[]): Screen | undefined {
  const whole = path.join('/');
  const page = [...pages, ...inner].find((p) => p.path === whole);
  if (page) return allowed(page) ? { path: page.path, id: '', load: page.load } : undefined;
  const folder = path.slice(0, -1).join('/');
  const load = records[folder];
  const under = pages.find((p) => p.path === folder) ?? pages.find((p) => p.path !== '' && p.path === path[0]);
  if (under && !allowed(under)) return undefined;
  return load && { path: under?.path ?? folder, id: path.at(-1)!, load };
}
