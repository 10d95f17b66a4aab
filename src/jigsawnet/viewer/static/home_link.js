/** On the workbench of a case: the way back to all cases. Elsewhere nothing. */
import { byId, make } from "./dom.js";

const PATH = /\/case\/[^/]+\/$/;
if (PATH.test(location.pathname)) {
  byId("run-name").closest(".bar").prepend(make("a", { href: "../../", class: "home-link" }, "‹ Cases"));
}
