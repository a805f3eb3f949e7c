// Light, dark, or the system's preference. The style sheets depend only on the system's
// preference: choosing a theme rewrites the conditions of their rules. Paper is always light.

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const isTheme = (text: string): text is Theme => (themes as readonly string[]).includes(text);

const system = matchMedia('(prefers-color-scheme: dark)');
const wanted = 'screen and (prefers-color-scheme: dark)';
const rules = new Set<CSSMediaRule>();

// dark reports whether the page is dark.
export const dark = (theme: Theme): boolean => theme === 'dark' || (theme === 'system' && system.matches);

export function showTheme(theme: Theme) {
  collect(document.styleSheets);
  const condition = theme === 'system' ? wanted : theme === 'dark' ? 'screen' : 'not all';
  for (const rule of rules) rule.media.mediaText = condition;
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme;
}

function collect(sheets: StyleSheetList) {
  for (const sheet of sheets) {
    for (const rule of rulesOf(sheet)) {
      if (rule instanceof CSSMediaRule && /prefers-color-scheme:\s*dark/.test(rule.conditionText)) rules.add(rule);
    }
  }
}

// rulesOf returns the rules of a style sheet; none if it could not be loaded.
function rulesOf(sheet: CSSStyleSheet): Iterable<CSSRule> {
  try {
    return sheet.cssRules;
  } catch {
    return [];
  }
}
