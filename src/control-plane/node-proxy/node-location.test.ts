import { describe, expect, it } from "vitest";
import type { NodeStatus } from "../../api/gen/types.ts";
import { findNode } from "./node-location.ts";

const NAMED = { type: "Hostname", address: "n.example.com" };
const INNER = { type: "InternalIP", address: "10.0.0.1" };
const OUTER = { type: "ExternalIP", address: "192.0.2.1" };
const PORT = { daemonEndpoints: { kubeletEndpoint: { Port: 10_260 } } };

function find(status: NodeStatus, localNode?: { name: string; address: string }) {
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, status };
  const get = ({ name }: { name: string }) => (name === "n" ? node : undefined);
  return findNode({ reader: { get }, localNode }, "n");
}

describe("where a node is reached", () => {
  it.each([
    ["at an address rather than by its name", { addresses: [NAMED, OUTER, INNER] }, { host: "10.0.0.1", port: 10_250 }],
    ["by its name where it has nothing else", { addresses: [NAMED] }, { host: "n.example.com", port: 10_250 }],
    ["at the port that it tells", { addresses: [OUTER], ...PORT }, { host: "192.0.2.1", port: 10_260 }],
  ])("is %s", (_how, status, location) => expect(find(status)).toEqual({ ...location, features: [] }));

  it("is elsewhere for the one that serves nobody but this API server", () => {
    const local = { name: "n", address: "127.0.0.1" };
    expect(find({ addresses: [INNER], ...PORT }, local)).toMatchObject({ host: "127.0.0.1", port: 10_260 });
    expect(find({ addresses: [INNER], ...PORT }, { ...local, name: "other" }).host).toBe("10.0.0.1");
  });

  it("is nowhere for one that tells no address, or none that is known", () => {
    const message = "no preferred addresses found; known addresses: [{Odd x}]";
    expect(() => find({ addresses: [{ type: "Odd", address: "x" }] })).toThrow(message);
    const reader = { get: () => undefined };
    expect(() => findNode({ reader, localNode: undefined }, "m")).toThrow('nodes "m" not found');
  });
});
