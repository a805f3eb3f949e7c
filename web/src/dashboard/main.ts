import { mount } from 'svelte';
import { account, prefetch } from './api.ts';
import App from './App.svelte';
import { app } from './app.svelte.ts';
import { find } from './pages.ts';
import { here } from './route.svelte.ts';
import './dashboard.css';

// A person who was signed in most probably still is: everything that the first screen needs is
// loaded at the same time.
if (app.familiar && here.path[0] !== 'link') {
  prefetch(`${account}/me`);
  void import('./Shell.svelte');
  const page = find(here.path);
  void page?.load();
  if (page?.path === '') prefetch('/board');
}
const target = document.getElementById('app')!;
const retry = 5000; // ms
app.open().then(
  () => {
    target.replaceChildren(); // the logo
    mount(App, { target });
  },
  (error: unknown) => {
    console.error(error); // without its words, the page cannot show the error
    setTimeout(() => location.reload(), retry);
  },
);
