// Asks for confirmation before actions that cannot be undone.

export interface Question {
  title: string;
  text: string;
  action: string;
  danger: boolean;
  keep: string; // label of the button that closes the dialog; '' for the default
  run: () => Promise<unknown>;
}

class Asked {
  question = $state.raw<Question>();
}

export const asked = new Asked();

// confirm asks before it runs an action. The dialog stays open, with the error, if the
// action fails.
export function confirm(
  title: string,
  text: string,
  action: string,
  run: () => Promise<unknown>,
  danger = true,
  keep = '',
) {
  asked.question = { title, text, action, run, danger, keep };
}
