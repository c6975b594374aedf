import { describe, expect, test } from "vitest";
import type { PolicyRule } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { createClusterRoleAggregation } from "./cluster-role-aggregation.ts";
import { createBootstrapTokenCleaner, createEventCleaner } from "./expired-objects.ts";
import { createLegacyTokenController } from "./legacy-tokens.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("aggregated cluster roles", () => {
  const RESOURCE = "clusterroles.rbac.authorization.k8s.io";
  const rule = (resource: string): PolicyRule => ({ apiGroups: [""], resources: [resource], verbs: ["get"] });
  const role = (name: string, labels: Record<string, string>, rules: PolicyRule[]) =>
    untyped({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name, labels }, rules });
  const TO_VIEW = { "rbac.example.com/aggregate-to-view": "true" };
  const view = (rules: PolicyRule[] = []) =>
    untyped({
      ...typed("ClusterRole", role("view", {}, rules)),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: TO_VIEW }] },
    });
  const setUp = async () => {
    const bench = createControllerBench();
    bench.start(createClusterRoleAggregation(bench.deps));
    await bench.create(RESOURCE, view());
    const rulesOfView = () => {
      const found = bench.reader.get({ resource: RESOURCE, namespace: "", name: "view" });
      return found && typed("ClusterRole", found).rules;
    };
    return Object.assign(bench, { rulesOfView });
  };

  test("have the rules of those they select, without repetition", async () => {
    const { create, clock, rulesOfView } = await setUp();
    await create(RESOURCE, role("b", TO_VIEW, [rule("pods"), rule("services")]));
    await create(RESOURCE, role("a", TO_VIEW, [rule("services")]));
    await create(RESOURCE, role("other", {}, [rule("secrets")]));
    await clock.settle();
    expect(rulesOfView()).toEqual([rule("services"), rule("pods")]);
  });

  test("follow what is changed, removed and written into them by hand", async () => {
    const { create, writer, clock, rulesOfView } = await setUp();
    await create(RESOURCE, role("a", TO_VIEW, [rule("pods")]));
    await clock.settle();
    await writer.update(RESOURCE, role("a", TO_VIEW, [rule("nodes")]));
    await clock.settle();
    expect(rulesOfView()).toEqual([rule("nodes")]);
    await writer.update(RESOURCE, view([rule("secrets")]));
    await clock.settle();
    expect(rulesOfView()).toEqual([rule("nodes")]);
    await writer.remove({ resource: RESOURCE, namespace: "", name: "a" });
    await clock.settle();
    expect(rulesOfView()).toEqual([]);
  });

  test("are written only when something changed", async () => {
    const { create, clock, writes } = await setUp();
    await create(RESOURCE, role("other", {}, [rule("secrets")]));
    await clock.advance(60_000);
    expect(writes).toEqual([`create ${RESOURCE}/view`, `create ${RESOURCE}/other`]);
  });

  test.each([
    [{ key: "tier", operator: "In", values: ["x", "y"] }, ["x", "y"]],
    [{ key: "tier", operator: "NotIn", values: ["x"] }, ["none", "y"]],
    [{ key: "tier", operator: "Exists" }, ["x", "y"]],
    [{ key: "tier", operator: "DoesNotExist" }, ["none"]],
  ])("select by expressions: %j", async (requirement, expected) => {
    const bench = createControllerBench();
    bench.start(createClusterRoleAggregation(bench.deps));
    for (const tier of ["x", "y"]) await bench.create(RESOURCE, role(tier, { tier }, [rule(tier)]));
    await bench.create(RESOURCE, role("none", {}, [rule("none")]));
    const aggregationRule = { clusterRoleSelectors: [{ matchExpressions: [requirement] }] };
    await bench.create(RESOURCE, untyped({ ...typed("ClusterRole", role("all", {}, [])), aggregationRule }));
    await bench.clock.settle();
    const found = bench.reader.get({ resource: RESOURCE, namespace: "", name: "all" });
    expect(found?.["rules"]).toEqual(expected.map(rule));
  });
});

describe("events", () => {
  const HOUR = 3_600_000;
  const event = (name: string, more: object = {}): KubeObject => {
    return { apiVersion: "v1", kind: "Event", metadata: { name, namespace: "a" }, ...more };
  };
  const setUp = () => {
    const bench = createControllerBench();
    bench.start(createEventCleaner(bench.deps));
    return bench;
  };

  test("go an hour after they were written, with one timer for all of them", async () => {
    const { create, clock, names } = setUp();
    for (const name of ["a", "b", "c"]) await create("events", event(name));
    await clock.advance(HOUR / 2);
    await create("events", event("later"));
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(HOUR / 2 + 1_000);
    expect(names("events")).toEqual(["later"]);
    await clock.advance(HOUR / 2 + 10_000);
    expect(names("events")).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("stay as long as they recur", async () => {
    const { create, writer, clock, names } = setUp();
    await create("events", event("e"));
    await clock.advance(HOUR / 2);
    await writer.update("events", event("e", { count: 2, lastTimestamp: "2026-01-01T00:30:00Z" }));
    await clock.advance(HOUR / 2 + 60_000);
    expect(names("events")).toEqual(["e"]);
    await clock.advance(HOUR / 2);
    expect(names("events")).toEqual([]);
  });

  test("gain nothing from a time that lies ahead", async () => {
    const { create, clock, names } = setUp();
    await create("events", event("e", { lastTimestamp: "2030-01-01T00:00:00Z" }));
    await clock.advance(HOUR + 10_000);
    expect(names("events")).toEqual([]);
  });

  test("go at the right time although the wall clock was set", async () => {
    const { create, clock, names } = setUp();
    await create("events", event("e"));
    clock.jumpWallClock(-HOUR);
    await clock.advance(HOUR + 10_000);
    expect(names("events")).toEqual(["e"]);
    await clock.advance(HOUR);
    expect(names("events")).toEqual([]);
  });

  test("of before the start are looked at, too", async () => {
    const bench = createControllerBench();
    await bench.create("events", event("old"));
    await bench.clock.advance(2 * HOUR);
    bench.start(createEventCleaner(bench.deps));
    await bench.clock.settle();
    expect(bench.names("events")).toEqual([]);
  });
});

describe("bootstrap tokens", () => {
  const token = (name: string, expiration?: string, more: Partial<KubeObject["metadata"]> = {}): KubeObject => {
    const data = expiration === undefined ? {} : { expiration: base64(expiration) };
    const metadata = { name, namespace: "kube-system", ...more };
    return { apiVersion: "v1", kind: "Secret", metadata, type: "bootstrap.kubernetes.io/token", data };
  };

  test("go when they say so", async () => {
    const { create, start, deps, clock, names } = createControllerBench();
    start(createBootstrapTokenCleaner(deps));
    await create("secrets", token("soon", "2026-01-01T01:00:00Z"));
    await create("secrets", token("never"));
    await create("secrets", token("broken", "tomorrow"));
    await create("secrets", token("elsewhere", "2025-01-01T00:00:00Z", { namespace: "a" }));
    await create("secrets", { ...token("other", "2025-01-01T00:00:00Z"), type: "Opaque" });
    await clock.advance(1_000);
    expect(names("secrets")).toEqual(["elsewhere", "never", "other", "soon"]);
    await clock.advance(3_610_000);
    expect(names("secrets")).toEqual(["elsewhere", "never", "other"]);
  });
});

describe("legacy token secrets", () => {
  const account = (more: object = {}): KubeObject => {
    return {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "builder", namespace: "a", uid: "first" },
      ...more,
    };
  };
  const secret = (
    name: string,
    annotations: Record<string, string> = { "kubernetes.io/service-account.name": "builder" },
  ) => {
    const metadata = { name, namespace: "a", annotations };
    return { apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/service-account-token" };
  };
  const setUp = () => {
    const bench = createControllerBench();
    const issueLegacyToken = ({ name }: { name: string }) => `token of ${name}`;
    bench.start(createLegacyTokenController({ ...bench.deps, issueLegacyToken }, { rootCa: "PEM" }));
    return bench;
  };
  const target = { resource: "secrets", namespace: "a", name: "s" };

  test("are filled", async () => {
    const { create, clock, reader } = setUp();
    await create("serviceaccounts", account());
    await create("secrets", secret("s"));
    await clock.settle();
    const filled = reader.get(target);
    expect(filled?.["data"]).toEqual({
      "ca.crt": base64("PEM"),
      namespace: base64("a"),
      token: base64("token of builder"),
    });
    expect(filled?.metadata.annotations?.["kubernetes.io/service-account.uid"]).toBe("first");
  });

  test("are filled again when somebody empties them, and written once otherwise", async () => {
    const { create, clock, reader, writer, writes } = setUp();
    await create("serviceaccounts", account());
    await create("secrets", secret("s"));
    await clock.advance(60_000);
    expect(writes.filter((write) => write === "update secrets/s")).toHaveLength(1);
    await writer.update("secrets", secret("s"));
    await clock.settle();
    expect(reader.get(target)?.["data"]).toMatchObject({ token: base64("token of builder") });
  });

  test("go with their account, and with one that only has its name", async () => {
    const { create, clock, writer, names } = setUp();
    await create("serviceaccounts", account());
    await create("secrets", secret("s"));
    await create("secrets", { ...secret("unrelated"), type: "Opaque" });
    await clock.settle();
    await writer.remove({ resource: "serviceaccounts", namespace: "a", name: "builder" });
    await clock.settle();
    expect(names("secrets")).toEqual(["unrelated"]);
    await create("serviceaccounts", account());
    const uid = { "kubernetes.io/service-account.name": "builder", "kubernetes.io/service-account.uid": "other" };
    await create("secrets", secret("stale", uid));
    await clock.settle();
    expect(names("secrets")).toEqual(["unrelated"]);
  });

  test("that are deleted are forgotten by their account", async () => {
    const { create, clock, writer, reader } = setUp();
    await create("serviceaccounts", account({ secrets: [{ name: "s" }, { name: "mine" }] }));
    await create("secrets", secret("s"));
    await clock.settle();
    await writer.remove(target);
    await clock.settle();
    const left = reader.get({ resource: "serviceaccounts", namespace: "a", name: "builder" });
    expect(left?.["secrets"]).toEqual([{ name: "mine" }]);
  });
});
