import { expect, it, vi } from "vitest";
import { callbackLog } from "./callback-log.ts";

it("hands over level, message and fields, its own and those that it was bound to", () => {
  const callback = vi.fn();
  const log = callbackLog(callback).with({ pod: "a" }).with({ uid: "1" });
  log.error("e", { pod: "b" });
  log.warn("w");
  log.info("i", { x: 1 });
  log.debug("d");
  expect(callback.mock.calls).toEqual([
    ["error", "e", { pod: "b", uid: "1" }],
    ["warn", "w", { pod: "a", uid: "1" }],
    ["info", "i", { pod: "a", uid: "1", x: 1 }],
    ["debug", "d", { pod: "a", uid: "1" }],
  ]);
});
