// Formats values of reports in the reader's language.

import { app } from '../app.svelte.ts';
import type { Metric, Unit } from './report.ts';

const format = (n: number, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(app.locale, options).format(n);

const options: Record<Unit, Intl.NumberFormatOptions> = {
  count: { maximumFractionDigits: 1 },
  share: { style: 'percent', maximumFractionDigits: 1 },
  minutes: { style: 'unit', unit: 'minute', unitDisplay: 'short', maximumFractionDigits: 1 },
  km: { style: 'unit', unit: 'kilometer', maximumFractionDigits: 1 },
  rating: { maximumFractionDigits: 1 },
};

export const show = (unit: Unit, value: number | null): string => (value === null ? '–' : format(value, options[unit]));

// showChange formats the change of a value, with its sign.
export function showChange(metric: Metric, by: number): string {
  if (metric.unit === 'rating') return format(by, { maximumFractionDigits: 1, signDisplay: 'exceptZero' });
  return format(by, { style: 'percent', maximumFractionDigits: metric.unit === 'share' ? 1 : 0, signDisplay: 'exceptZero' }); // prettier-ignore
}
