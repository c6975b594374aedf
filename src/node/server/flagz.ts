import { createComponentPage } from "./component-page.ts";
import type { NodeEndpoint } from "./node-api.ts";

/** Creates the page `/flagz` (KEP-4828, the feature ComponentFlagz): every flag with its value. */
export function createFlagz(flags: Readonly<Record<string, string>>): NodeEndpoint {
  const sorted = Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = sorted.map(([name, value]) => `${name}=${value}\n`).join("");
  return createComponentPage({ path: "/flagz", kind: "Flagz" }, { text: () => text, fields: () => ({ flags }) });
}
