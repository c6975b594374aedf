import { expect, it } from "vitest";
import type { Node } from "../../../api/gen/types.ts";
import { aborted } from "../../../base/abort.ts";
import { addressesOf, followAddresses } from "./follow-addresses.ts";

it("looks at the certificate at once when the node's addresses change, while it runs", async () => {
  const listeners = new Set<() => void>();
  let node: Node | undefined;
  let looks = 0;
  const ownNode = {
    node: () => node,
    follow(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const observe = (...addresses: string[]) => {
    node = { status: { addresses: addresses.map((address) => ({ type: "InternalIP", address })) } };
    for (const listener of listeners) listener();
    return looks;
  };
  const rotation = followAddresses(
    {
      run: async (signal) => await aborted(signal),
      current: () => undefined,
      subscribe: () => () => {},
      reconsider: () => void looks++,
    },
    ownNode,
  );
  const stopping = new AbortController();
  const running = rotation.run(stopping.signal);
  expect([observe("192.0.2.1"), observe("192.0.2.1"), observe("192.0.2.1", "192.0.2.2")]).toEqual([1, 1, 2]);
  expect(addressesOf(ownNode)).toHaveLength(2);
  stopping.abort();
  await running;
  expect(listeners.size).toBe(0);
});

it("has no addresses before the node is known", () => {
  expect(addressesOf(undefined)).toEqual([]);
  expect(addressesOf({ node: () => undefined })).toEqual([]);
});
