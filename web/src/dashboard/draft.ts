// Drafts: values that a person has typed into a form.

// renewed returns the values of a form after its record was read again: the new ones, unless
// the person has changed something.
export const renewed = <T>(draft: T, before: T, now: T): T =>
  JSON.stringify(draft) === JSON.stringify(before) ? now : draft;

// renewedFields does so for each field of an object.
export const renewedFields = <T extends object>(draft: T, before: T, now: T): T => {
  const names = Object.keys(now) as (keyof T)[];
  return Object.fromEntries(names.map((n) => [n, renewed(draft[n], before[n], now[n])])) as T;
};
