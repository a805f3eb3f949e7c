import { mount } from 'svelte';
import App from './App.svelte';
import { app } from './app.svelte.ts';
import './driver.css';

mount(App, { target: document.getElementById('app')! });
void app.open();

if (import.meta.env.PROD && 'serviceWorker' in navigator) {
  navigator.serviceWorker.register('/driver/sw.js', { scope: '/driver' }).catch(() => {
    // Without the service worker, the app works, but does not open offline.
  });
  // Pending actions must not be evicted when the phone is low on storage.
  void navigator.storage?.persist?.();
}
