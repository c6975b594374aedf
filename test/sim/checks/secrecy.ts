import { DRIVER_SECRET } from "../storage/storage-plan.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/** What storage drivers are given to log in with is neither logged nor told to the API. */
export function createSecrecyCheck(world: World): Check {
  const check = (where: string, text: string) => {
    if (!text.includes(DRIVER_SECRET)) return;
    world.fail("secrets stay secret", `${where}: ${text.replaceAll(DRIVER_SECRET, "***").slice(0, 300)}`);
  };
  return {
    logged: (line) => check("log", line),
    wrote({ verb, plural }, answer) {
      if (verb === "get" || verb === "list" || verb === "watch") return;
      check(plural, JSON.stringify(answer) ?? "");
    },
  };
}
