// Browsers that can install the app fire an event once, early.

interface Prompt extends Event {
  prompt(): Promise<unknown>;
}

class Installer {
  offer = $state(false);
  private kept: Prompt | undefined;

  constructor() {
    addEventListener('beforeinstallprompt', (event) => {
      event.preventDefault();
      this.kept = event as Prompt;
      this.offer = true;
    });
    addEventListener('appinstalled', () => (this.offer = false));
  }

  async install() {
    this.offer = false;
    await this.kept?.prompt();
  }
}

export const installer = new Installer();
