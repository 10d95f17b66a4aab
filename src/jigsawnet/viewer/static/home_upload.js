/** Files that are dropped or chosen go to the server in pieces; folders are opened here. */

const CHUNK = 512 * 1024;
const PASSED_OVER = /^(\.|thumbs\.db$|desktop\.ini$)/i;

/** All files of a drop as `{file, folder}`; folders in folders count by their own name. */
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean); // before anything is waited for
  if (entries.length === 0) return [...transfer.files].map((file) => ({ file, folder: "" }));
  const found = [];
  for (const entry of entries) await walk(entry, "", found);
  return found.filter(({ file }) => !PASSED_OVER.test(file.name));
}

async function walk(entry, folder, found) {
  if (entry.isFile) {
    found.push({ file: await new Promise((done, fail) => entry.file(done, fail)), folder });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return;
    for (const inner of some) await walk(inner, entry.name, found);
  }
}

/** The files of an input; those of a chosen folder know where they lay. */
export function chosenFiles(input) {
  return [...input.files].filter((file) => !PASSED_OVER.test(file.name)).map((file) => {
    const way = (file.webkitRelativePath || "").split("/");
    return { file, folder: way.length > 1 ? way[way.length - 2] : "" };
  });
}

/** Upload one after the other; a new case is made by the first that is taken. Gives `{name, refused: [sentences]}`. */
export async function upload(api, files, name, onProgress) {
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  const refused = [];
  let sent = 0;
  for (const { file, folder } of files) {
    const before = sent;
    try {
      const begun = await api.post("/api/files", { name: file.name, size: file.size, folder, case: name });
      for (let at = 0; at < file.size; at += CHUNK) {
        const part = file.slice(at, at + CHUNK);
        await api.send(`/api/files/${encodeURIComponent(begun.case)}/${begun.ticket}?at=${at}`, part);
        onProgress(file.name, (sent = before + at + part.size), total);
      }
      name = begun.case;
    } catch (error) {
      if (error.status === 0) throw error;
      refused.push(error.message);
    }
    sent = before + file.size;
  }
  return { name, refused };
}
