import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { createStopOrder } from "./stop-order.ts";

const pod: Pod = {
  spec: {
    initContainers: [
      { name: "setup" },
      { name: "first", restartPolicy: "Always" },
      { name: "second", restartPolicy: "Always" },
    ],
    containers: [{ name: "a" }, { name: "b" }],
    ephemeralContainers: [{ name: "debug" }],
  },
};
const ALL = ["setup", "first", "second", "a", "b", "debug"];

/** Whose turn it is, as far as they have to wait. */
async function whoseTurn(order: ReturnType<typeof createStopOrder>, names: readonly string[]): Promise<string[]> {
  const turns: string[] = [];
  for (const name of names) void order.turnOf(name)?.then(() => turns.push(name));
  await new Promise((resolve) => setImmediate(resolve));
  return turns;
}

it("only sidecars wait", () => {
  const order = createStopOrder(pod, ALL);
  expect(ALL.filter((name) => order.turnOf(name) !== undefined)).toEqual(["first", "second"]);
  expect(createStopOrder(undefined, ALL).turnOf("first")).toBeUndefined();
});

it("a sidecar waits for the main containers and for the sidecars after it, and for nothing else", async () => {
  const order = createStopOrder(pod, ALL);
  const sidecars = ["first", "second"];
  order.leave("a");
  expect(await whoseTurn(order, sidecars)).toEqual([]);
  order.leave("b");
  expect(await whoseTurn(order, sidecars)).toEqual(["second"]);
  order.leave("second");
  expect(await whoseTurn(order, sidecars)).toEqual(["first", "second"]);
});

it("nobody waits for what does not run", async () => {
  expect(await whoseTurn(createStopOrder(pod, ["first"]), ["first"])).toEqual(["first"]);
});
