/** The server, as functions. Every answer that is not good becomes an `ApiError` with one sentence for a person. */

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class Api {
  /** Requests on their way; the page is not idle before it is 0. */
  pending = 0;

  get(path) {
    return this.#ask("GET", path);
  }

  post(path, body = {}) {
    return this.#ask("POST", path, body);
  }

  /** The picture of a piece, its longest side at most `size` px (null: full resolution). */
  async picture(idx, size) {
    const answer = await this.#fetch(pictureUrl(idx, size), {});
    if (!answer.ok) throw new ApiError(answer.status, `The picture of piece ${idx} could not be loaded.`);
    return createImageBitmap(await answer.blob());
  }

  async #ask(method, path, body) {
    const options = { method };
    if (body !== undefined) {
      options.headers = { "Content-Type": "application/json" };
      options.body = JSON.stringify(body);
    }
    const answer = await this.#fetch(path, options);
    const data = await answer.json().catch(() => null);
    if (!answer.ok) throw new ApiError(answer.status, data?.error ?? `The server answered ${answer.status}.`);
    return data;
  }

  async #fetch(path, options) {
    this.pending++;
    try {
      return await fetch(path, options);
    } catch {
      throw new ApiError(0, "The server does not answer. Is `jigsawnet view` still running?");
    } finally {
      this.pending--;
    }
  }
}

export function pictureUrl(idx, size) {
  return `/api/pieces/${idx}.png${size ? `?size=${size}` : ""}`;
}
