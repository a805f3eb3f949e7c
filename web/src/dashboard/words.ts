// The texts of the dashboard. English is the reference: a dictionary that lacks one of
// its keys does not compile. Only the chosen language is loaded.

import type { Language } from '../language.ts';
import type en from './words/en.ts';

export type Words = typeof en;
export { fill, isLanguage, languages, preferred, regional, type Language } from '../language.ts';

const load: Record<Language, () => Promise<{ default: Words }>> = {
  en: () => import('./words/en.ts'),
  es: () => import('./words/es.ts'),
  fr: () => import('./words/fr.ts'),
  de: () => import('./words/de.ts'),
  pt: () => import('./words/pt.ts'),
};

export const dictionary = async (language: Language): Promise<Words> => (await load[language]()).default;
