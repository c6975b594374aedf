import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { pod, readerOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createDefaultAccountWait } from "./await-default-account.ts";

const namespace = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const account = (inNamespace: string, name = "default"): KubeObject => {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: inNamespace } };
};
const MIRROR = { annotations: { "kubernetes.io/config.mirror": "hash" } };
const { kind: POD_KIND } = requestFor("pods", { object: pod() });
const { kind: SECRET_KIND } = requestFor("secrets");

function startWait(world: { serviceaccounts?: KubeObject[]; told?: KubeObject[] } = {}) {
  const clock = createFakeClock();
  const listeners = new Set<(event: ResourceEvent) => void>();
  const tell = (object: KubeObject, type: ResourceEvent["type"] = "ADDED") => {
    for (const listener of [...listeners]) listener({ type, object, previous: undefined });
  };
  const wait = createDefaultAccountWait({
    reader: readerOf({ namespaces: [namespace("a"), namespace("b")], serviceaccounts: world.serviceaccounts ?? [] }),
    clock,
    feed: {
      follow(_resource, listener) {
        for (const object of world.told ?? []) listener({ type: "ADDED", object, previous: undefined });
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  });
  const settled: string[] = [];
  const create = (name: string, body: unknown = pod(), kind = POD_KIND) => {
    const pending = wait({ kind, namespace: name, body });
    void pending?.then(() => settled.push(name));
    return pending !== undefined;
  };
  return { clock, listeners, tell, create, settled };
}

describe("a pod whose namespace has no default service account yet", () => {
  test("waits until its own namespace has it", async () => {
    const { create, tell, settled, listeners, clock } = startWait();
    expect([create("a"), create("a"), create("b")]).toEqual([true, true, true]);
    tell(account("a", "other"));
    tell(account("a"), "DELETED");
    await clock.advance(1);
    expect(settled).toEqual([]);
    tell(account("a"));
    await clock.advance(1);
    expect(settled).toEqual(["a", "a"]);
    expect(listeners.size).toBe(1);
    tell(account("b"));
    await clock.advance(1);
    expect(settled).toEqual(["a", "a", "b"]);
    expect(listeners.size).toBe(0);
  });

  test("waits a second and no longer, and the next one anew", async () => {
    const { create, settled, listeners, clock } = startWait();
    create("a");
    await clock.advance(999);
    expect(settled).toEqual([]);
    await clock.advance(1);
    expect(settled).toEqual(["a"]);
    expect(listeners.size).toBe(0);
    expect(create("a")).toBe(true);
    expect(listeners.size).toBe(1);
  });

  test("follows nothing any more when it is told at once", async () => {
    const { create, settled, listeners, clock } = startWait({ told: [account("a")] });
    create("a");
    await clock.advance(1);
    expect(settled).toEqual(["a"]);
    expect(listeners.size).toBe(0);
  });

  test("is refused at once where a thousand wait", async () => {
    const { create, clock } = startWait();
    const answers = Array.from({ length: 1_001 }, () => create("a"));
    expect(answers.filter((isWaiting) => isWaiting)).toHaveLength(1_000);
    expect(answers.at(-1)).toBe(false);
    await clock.advance(1_000);
    expect(create("a")).toBe(true);
  });
});

test.each([
  ["the account is there", "a", pod(), POD_KIND, [account("a")]],
  ["the namespace is not there", "nowhere", pod(), POD_KIND, []],
  ["the pod runs as another one", "a", pod({ serviceAccountName: "other" }), POD_KIND, []],
  ["the pod is a mirror", "a", pod({}, MIRROR), POD_KIND, []],
  ["it is no pod", "a", { metadata: { name: "s" } }, SECRET_KIND, []],
  ["it is nothing that could be read", "a", "pod", POD_KIND, []],
])("nobody waits where %s", (_why, name, body, kind, serviceaccounts) => {
  expect(startWait({ serviceaccounts }).create(name, body, kind)).toBe(false);
});

test.each([{}, { serviceAccountName: "" }, { serviceAccountName: "default" }])("a pod with %o waits", (spec) => {
  expect(startWait().create("a", pod(spec))).toBe(true);
});
