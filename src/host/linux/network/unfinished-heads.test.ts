import { expect, it } from "vitest";
import { findGreedyHeads, type HeadReader } from "./unfinished-heads.ts";

const LIMITS = { maxHeadBytes: 1_000, maxHeaderBytes: 100 };

const connections = (count: number, more: Partial<HeadReader> & { readonly bytesRead?: number } = {}) =>
  Array.from({ length: count }, (_, index): HeadReader & { readonly name: string } => {
    const { bytesRead = 100, ...rest } = more;
    const socket = { bytesRead };
    return {
      name: `${index}`,
      address: "192.0.2.1",
      user: undefined,
      open: { size: 0 },
      socket,
      readBefore: 0,
      ...rest,
    };
  });

const find = (...all: readonly HeadReader[][]) => findGreedyHeads(new Set(all.flat()), LIMITS);

it("finds nobody where all heads together are not too long", () => {
  expect(find(connections(10))).toEqual([]);
  expect(find(connections(100, { bytesRead: 10 }))).toEqual([]);
});

it("finds the longest heads of the address that has most", () => {
  const modest = connections(3, { address: "192.0.2.2" });
  const short = connections(2, { bytesRead: 50 });
  const found = find(modest, short, connections(10));
  expect(found).toHaveLength(4);
  expect(found.every(({ address, socket }) => address === "192.0.2.1" && socket.bytesRead === 100)).toBe(true);
});

it("counts known clients by their user", () => {
  const jane = connections(4, { user: "jane" });
  const joe = connections(8, { user: "joe" });
  expect(find(jane, joe).map(({ user }) => user)).toEqual(["joe", "joe"]);
});

it("counts neither the bytes of a request that is open nor those of former ones", () => {
  expect(
    find(connections(50, { open: { size: 1 } }), connections(50, { bytesRead: 9_100, readBefore: 9_090 })),
  ).toEqual([]);
});

it("counts no more of a connection than a head may have", () => {
  expect(find(connections(1, { bytesRead: 5_000 }), connections(9), connections(1, { bytesRead: 1 }))).toHaveLength(1);
});
