/** The server, as functions. Every answer that is not good becomes an `ApiError` with one sentence for a person. */

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Where a path of the server is: below the page, whose own path is a secret. */
export const at = (path) => new URL(`.${path}`, document.baseURI).href;

export class Api {
  /** Requests not yet answered and read; the page is not idle before it is 0. */
  pending = 0;
  /** Name of the pictures of this run, so that the browser may keep them; comes with the state. */
  images = "";

  get(path) {
    return this.#counted(() => ask(path, {}));
  }

  post(path, body = {}) {
    const headers = { "Content-Type": "application/json" };
    return this.#counted(() => ask(path, { method: "POST", headers, body: JSON.stringify(body) }));
  }

  /** Some bytes of a file. */
  send(path, blob) {
    return this.#counted(() => ask(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: blob }));
  }

  /** The picture of a piece, its longest side at most `size` px (null: full resolution). */
  picture(idx, size) {
    return this.#counted(async () => {
      const answer = await reach(this.pictureUrl(idx, size), {});
      if (!answer.ok) throw new ApiError(answer.status, `The picture of piece ${idx} could not be loaded.`);
      return createImageBitmap(await answer.blob());
    });
  }

  /** A file, as a blob. */
  file(path) {
    return this.#counted(async () => {
      const answer = await reach(at(path), {});
      if (answer.ok) return answer.blob();
      const data = await answer.json().catch(() => null);
      throw new ApiError(answer.status, data?.error ?? `The server answered ${answer.status}.`);
    });
  }

  pictureUrl(idx, size) {
    const query = new URLSearchParams({ ...(size && { size }), ...(this.images && { v: this.images }) });
    return at(`/api/pieces/${idx}.png?${query}`);
  }

  /** A small picture of the page of a piece, as it lies at this revision. */
  pageUrl(idx, revision) {
    return at(`/api/pages/${idx}.png?v=${revision}`);
  }

  async #counted(work) {
    this.pending++;
    try {
      return await work();
    } finally {
      this.pending--;
    }
  }
}

async function ask(path, options) {
  const answer = await reach(at(path), options);
  const data = await answer.json().catch(() => null);
  if (!answer.ok) throw new ApiError(answer.status, data?.error ?? `The server answered ${answer.status}.`);
  return data;
}

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new ApiError(0, "The server does not answer. Is jigsawnet still running?");
  }
}
