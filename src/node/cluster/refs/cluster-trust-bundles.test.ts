import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { notFoundError } from "../../../api/api-error.ts";
import type { ClusterTrustBundleProjection, Pod } from "../../../api/gen/types.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { createObjectServer, type ObjectServer } from "./__fixtures__/object-server.ts";
import {
  type ClusterTrustBundles,
  createClusterTrustBundles,
  type TrustBundleSelection,
} from "./cluster-trust-bundles.ts";

let clock: FakeClock;
let server: ObjectServer;
/** The versions that the server has. */
let served: string[];
let asked: string[];
let bundles: ClusterTrustBundles;
let told: string[][];
let controller: AbortController;
let running: Promise<void>;

const put = (name: string, signerName: string, trustBundle: string, labels: Record<string, string> = {}) => {
  server.put("clustertrustbundles", { metadata: { name, labels }, spec: { signerName, trustBundle } });
};
const podOf = (uid: string, ...projections: Array<Partial<ClusterTrustBundleProjection>>): Pod => ({
  metadata: { uid },
  spec: {
    containers: [],
    volumes: projections.map((projection, index) => ({
      name: `v${index}`,
      projected: { sources: [{ clusterTrustBundle: { path: "ca", ...projection } }] },
    })),
  },
});
const get = async (selection: TrustBundleSelection) => {
  const answer = bundles.bundles(selection, new AbortController().signal).catch((error: unknown) => String(error));
  await clock.settle();
  return await answer;
};

beforeEach(async () => {
  clock = createFakeClock();
  server = createObjectServer();
  served = ["v1beta1"];
  [asked, told] = [[], []];
  const { list, watch } = server.client;
  const refuseUnserved = (version: string) => {
    asked.push(version);
    if (!served.includes(version)) throw notFoundError({ group: "", resource: "the server has no such" }, "resource");
  };
  bundles = createClusterTrustBundles({
    client: {
      async list(resource, options) {
        refuseUnserved(resource.version);
        return await list(resource, options);
      },
      watch,
    },
    clock,
    random: { next: () => 0.5 },
    log: silentLog,
  });
  bundles.subscribe((podUids) => void told.push([...podUids]));
  controller = new AbortController();
  running = bundles.run(controller.signal);
  put("one", "", "PEM one");
  put("web", "example.com/s", "PEM web", { for: "web" });
  put("all", "example.com/s", "PEM all");
  await clock.settle();
});

afterEach(async () => {
  controller.abort();
  await clock.settle();
  await running;
  expect(server.watched).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});

it("are followed from when the first pod needs some until the last is gone", async () => {
  bundles.registerPod({ metadata: { uid: "plain" }, spec: { containers: [] } });
  await clock.settle();
  expect(asked).toEqual([]);
  for (const uid of ["a", "b", "a"]) bundles.registerPod(podOf(uid, { name: "one" }));
  await clock.settle();
  expect([asked, server.watched.length]).toEqual([["v1beta1"], 1]);
  bundles.unregisterPod("a");
  bundles.registerPod({ metadata: { uid: "b" }, spec: { containers: [] } });
  await clock.settle();
  expect(server.watched).toEqual([]);
  bundles.registerPod(podOf("c", { name: "one" }));
  await clock.settle();
  expect(await get({ name: "one" })).toEqual(["PEM one"]);
});

describe("with a pod that needs some", () => {
  beforeEach(async () => {
    bundles.registerPod(podOf("a", { name: "one" }));
    bundles.registerPod(podOf("b", { signerName: "example.com/s" }));
    await clock.settle();
    told = [];
  });

  it.each<[TrustBundleSelection, unknown]>([
    [{ name: "one" }, ["PEM one"]],
    [{ name: "none" }, expect.stringContaining('clustertrustbundle.certificates.k8s.io "none" not found')],
    [{ signerName: "example.com/s", labelSelector: {} }, ["PEM all", "PEM web"]],
    [{ signerName: "example.com/s", labelSelector: { matchLabels: { for: "web" } } }, ["PEM web"]],
    [{ signerName: "example.com/s", labelSelector: undefined }, []],
    [{ signerName: "example.com/none", labelSelector: {} }, []],
  ])("%j gives %j", async (selection, expected) => {
    expect(await get(selection)).toEqual(expected);
  });

  it.each<[string, () => void, string[][]]>([
    ["a bundle that it names", () => put("one", "", "PEM new"), [["a"]]],
    ["a bundle of a signer that it names", () => put("more", "example.com/s", "PEM more"), [["b"]]],
    ["the end of one", () => server.remove("clustertrustbundles", "", "web"), [["b"]]],
    ["another bundle", () => put("other", "example.com/t", "PEM other"), []],
  ])("a pod hears of %s", async (_what, change, expected) => {
    change();
    await clock.settle();
    expect(told).toEqual(expected);
  });

  it("goes on with what is known while the server is away", async () => {
    server.goAway();
    await clock.settle();
    expect(await get({ name: "one" })).toEqual(["PEM one"]);
  });
});

it("who asks while they are being read waits for a moment, and is told what is wrong", async () => {
  server.hold();
  bundles.registerPod(podOf("a", { name: "one" }));
  const early = bundles.bundles({ name: "one" }, new AbortController().signal);
  server.release();
  expect(await early).toEqual(["PEM one"]);
});

it("a server that does not answer is named after a second", async () => {
  server.failure = new Error("connect ECONNREFUSED");
  bundles.registerPod(podOf("a", { name: "one" }));
  const answer = bundles
    .bundles({ name: "one" }, new AbortController().signal)
    .catch((error: unknown) => String(error));
  await clock.advance(1_000);
  expect(await answer).toBe("Error: ClusterTrustBundle informer has not yet synced: connect ECONNREFUSED");
});

describe("a server of another version", () => {
  it("is asked for the older one", async () => {
    served = ["v1alpha1"];
    bundles.registerPod(podOf("a", { name: "one" }));
    await clock.advance(1_000);
    expect(await get({ name: "one" })).toEqual(["PEM one"]);
    expect(asked).toEqual(["v1beta1", "v1alpha1"]);
  });

  it("that has none is asked again after a while", async () => {
    served = [];
    bundles.registerPod(podOf("a", { name: "one" }));
    await clock.advance(1_000);
    expect(await get({ name: "one" })).toContain("the API server does not serve that kind");
    served = ["v1beta1"];
    await clock.advance(299_000);
    await clock.advance(2_000);
    expect(await get({ name: "one" })).toEqual(["PEM one"]);
    expect(asked).toEqual(["v1beta1", "v1alpha1", "v1beta1"]);
  });
});
