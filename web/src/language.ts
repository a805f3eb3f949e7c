// The languages of the driver app and the dashboard.

export type Language = 'en' | 'es' | 'fr' | 'de' | 'pt';

export const languages: Record<Language, string> = {
  en: 'English',
  es: 'Español',
  fr: 'Français',
  de: 'Deutsch',
  pt: 'Português',
};

export function isLanguage(text: string): text is Language {
  return text in languages;
}

// preferred returns the first of the wanted languages that is supported.
export function preferred(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const short = tag.slice(0, 2).toLowerCase();
    if (isLanguage(short)) return short;
  }
  return 'en';
}

// regional returns the reader's variant of a language, such as en-GB: dates and numbers differ.
export const regional = (language: Language, wanted: readonly string[]): string =>
  wanted.find((tag) => tag.toLowerCase().split('-')[0] === language) ?? language;

// fill replaces the placeholders in braces with values.
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
