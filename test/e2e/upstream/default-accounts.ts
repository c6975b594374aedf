import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../contract/api/client.ts";

const LOOK_AGAIN_MS = 20;

/** Gives every namespace its service account, where no controller does: pods are taken then. Returns when it is told to. */
export async function keepDefaultAccounts(api: ApiClient, signal: AbortSignal): Promise<void> {
  const done = new Set<string>();
  while (!signal.aborted) {
    const { items } = await api.list("/api/v1/namespaces");
    for (const { uid = "", name = "" } of items.map(({ metadata }) => metadata)) {
      if (done.has(uid)) continue;
      // A namespace that is going takes nothing, and one that has it already says so.
      await api.json("POST", `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } });
      done.add(uid);
    }
    await delay(LOOK_AGAIN_MS);
  }
}
