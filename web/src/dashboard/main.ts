import { mount } from 'svelte';
import App from './App.svelte';
import { app } from './app.svelte.ts';
import './dashboard.css';

await app.open();
mount(App, { target: document.getElementById('app')! });
