/** One serial queue for everything a person does: an action starts when the one before has been answered and taken in.
 *
 * So a key pressed while an edit is on its way is never lost, and acts on what the edit left behind. An action that another
 * action asks for while it starts comes right after it, before all that wait.
 */
export class ActionQueue {
  #tasks = [];
  #nested = null; // where the next task goes that the starting action asks for
  #working = false;

  /** `onError(error)` is told of actions that fail; the queue goes on. */
  constructor(onError) {
    this.onError = onError;
  }

  get empty() {
    return !this.#working && this.#tasks.length === 0;
  }

  run(action) {
    return new Promise((resolve) => {
      if (this.#nested === null) this.#tasks.push({ action, resolve });
      else this.#tasks.splice(this.#nested++, 0, { action, resolve });
      this.#work();
    });
  }

  async #work() {
    if (this.#working) return;
    this.#working = true;
    for (let task = this.#tasks.shift(); task; task = this.#tasks.shift()) {
      try {
        await this.#start(task.action);
      } catch (error) {
        await this.#report(error);
      }
      task.resolve();
    }
    this.#working = false;
  }

  /** Even telling may fail, when the server is gone; the queue goes on. */
  async #report(error) {
    try {
      await this.onError(error);
    } catch (second) {
      console.warn(error, second);
    }
  }

  #start(action) {
    this.#nested = 0;
    try {
      return action();
    } finally {
      this.#nested = null;
    }
  }
}
