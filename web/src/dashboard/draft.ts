// What a person types into a form.

// renewed returns what a form shows once its record is read again: the new values, unless
// something was changed.
export const renewed = <T>(draft: T, before: T, now: T): T =>
  JSON.stringify(draft) === JSON.stringify(before) ? now : draft;
