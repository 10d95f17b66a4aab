/** The run as a case file, saved by the browser. */
import { byId, make } from "./dom.js";

export function wireCase(workbench) {
  const { store, api, queue, say } = workbench;
  byId("export-case").addEventListener("click", () => queue.run(async () => {
    workbench.closeExport();
    if (store.busy) return say("The run is being solved. Stop it first.");
    say("Packing the case …");
    const address = URL.createObjectURL(await api.file("/api/export/case.jigsaw"));
    make("a", { href: address, download: `${fileName(store.state.name)}.jigsaw` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    return say("The case file is saved.");
  }));
}

const fileName = (name) => name.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+|[._]+$/g, "").slice(0, 80) || "case";
