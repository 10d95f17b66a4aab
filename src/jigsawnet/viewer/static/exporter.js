/** The dialog that saves the pages as files for archives, in one zip. */
import { byId, make } from "./dom.js";

export function wireExporter(workbench) {
  const { store, api, say } = workbench;
  const dialog = byId("exporter");
  const open = () => {
    const { pages, dpi } = store.state;
    const chosen = workbench.actions.pageOfSelection();
    const options = pages.map((page, k) => make("option", { value: k + 1 }, page.title));
    byId("exporter-pages").replaceChildren(make("option", { value: "" }, "All pages"), ...options);
    if (chosen && pages.length > 1) byId("exporter-pages").value = "";
    byId("exporter-dpi").value ||= dpi ?? "";
    fail(null);
    dialog.showModal();
  };
  byId("export-pages").addEventListener("click", () => {
    byId("export").open = false;
    open();
  });
  byId("exporter-close").addEventListener("click", () => dialog.close());
  byId("exporter-form").addEventListener("submit", (event) => {
    event.preventDefault();
    save(api, say, dialog);
  });
}

function fail(sentence) {
  byId("exporter-error").hidden = !sentence;
  byId("exporter-error").textContent = sentence ?? "";
}

const ticked = (name) => [...document.querySelectorAll(`#exporter [name=${name}]:checked`)].map((box) => box.value).join(",");

async function save(api, say, dialog) {
  const dpi = byId("exporter-dpi").value;
  const query = new URLSearchParams({
    formats: ticked("formats"), drawn: ticked("drawn"), pages: byId("exporter-pages").value, paper: byId("exporter-paper").value,
    ...(dpi && { dpi }),
  });
  byId("exporter-save").disabled = true;
  fail(null);
  try {
    const address = URL.createObjectURL(await api.file(`/api/export/pages.zip?${query}`));
    make("a", { href: address, download: "pages.zip" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    dialog.close();
    say("Pages saved.");
  } catch (error) {
    fail(error.message);
  } finally {
    byId("exporter-save").disabled = false;
  }
}
