import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pod, PodCertificateProjection, PodCertificateRequest } from "../../../api/gen/types.ts";
import type { KubeResource } from "../../../api/kube-resource.ts";
import { formatTime, MINUTE, SECOND } from "../../../base/clock.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { createObjectServer, type ObjectServer } from "../refs/__fixtures__/object-server.ts";
import { declareCertificateGauge } from "./certificate-gauge.ts";
import { createPodCertificates, type PodCertificates } from "./pod-certificates.ts";

const HOUR = 60 * MINUTE;
const REQUESTS = "podcertificaterequests";
const SIGNER = "example.com/signer";

let clock: FakeClock;
let server: ObjectServer;
let created: PodCertificateRequest[];
let keys: number;
let refusal: Error | undefined;
let nodeUid: string | undefined;
let told: string[];
let events: string[];
let certificates: PodCertificates;
let controller: AbortController;
let running: Promise<void>;

const podOf = (uid: string, projection: Partial<PodCertificateProjection> = {}): Pod => ({
  metadata: { name: `pod-${uid}`, namespace: "a", uid },
  spec: {
    serviceAccountName: "builder",
    containers: [],
    volumes: [
      {
        name: "v",
        projected: {
          sources: [
            { configMap: { name: "c" } },
            { podCertificate: { signerName: SIGNER, keyType: "ED25519", maxExpirationSeconds: 3600, ...projection } },
          ],
        },
      },
    ],
  },
});
const credential = (podUid = "1") => certificates.credential({ podUid, volumeName: "v", sourceIndex: 1 });
const chainOf = (text: string) =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(text).toString("base64")}\n-----END CERTIFICATE-----\n`;

/** The signer's answer to the newest request. */
async function answer(type: string, status: PodCertificateRequest["status"] = {}) {
  const newest = created.at(-1) ?? expect.fail("no request");
  const because = { reason: "Because", message: "of that", lastTransitionTime: formatTime(clock.now()) };
  const conditions = [{ type, status: "True", ...because }];
  server.put(REQUESTS, { ...newest, metadata: newest.metadata ?? {}, status: { conditions, ...status } });
  await clock.settle();
}

const issue = async (text = "leaf") =>
  await answer("Issued", {
    certificateChain: `by hand\n${chainOf(text)}`,
    notBefore: formatTime(clock.now()),
    notAfter: formatTime(clock.now() + HOUR),
    beginRefreshAt: formatTime(clock.now() + HOUR / 2),
  });

function createClient() {
  const { get, list, watch } = server.client;
  return {
    get,
    list,
    watch,
    async create<T>(resource: KubeResource<T>, object: T): Promise<T> {
      await Promise.resolve();
      if (refusal !== undefined) throw refusal;
      const name = `req-${created.length + 1}`;
      const request = JSON.parse(JSON.stringify(object));
      const stored = { ...request, metadata: { ...request.metadata, name } };
      created.push(stored);
      server.put(resource.plural, stored);
      return resource.read(stored);
    },
  };
}

beforeEach(async () => {
  clock = createFakeClock();
  server = createObjectServer();
  [created, keys, refusal, nodeUid, told, events] = [[], 0, undefined, "node-uid", [], []];
  server.put("serviceaccounts", { metadata: { name: "builder", namespace: "a", uid: "account-uid" } });
  certificates = createPodCertificates({
    client: createClient(),
    clock,
    random: { next: () => 0.5 },
    log: silentLog,
    nodeName: "n",
    node: () => (nodeUid === undefined ? undefined : { metadata: { uid: nodeUid } }),
    createKey: async (type) => {
      const keyPem = `${type} key ${++keys}\n`;
      return await Promise.resolve({ request: Buffer.from(`request of ${keys}`), keyPem });
    },
    record: (pod, { reason, message }) => void events.push(`${pod.metadata?.uid} ${reason}: ${message}`),
  });
  certificates.subscribe((uid) => void told.push(uid));
  controller = new AbortController();
  running = certificates.run(controller.signal);
  await clock.settle();
});

afterEach(async () => {
  controller.abort();
  await clock.settle();
  await running;
  expect(server.watched).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});

const register = async (pod: Pod) => {
  certificates.registerPod(pod);
  await clock.settle();
};

describe("a pod that shows a certificate", () => {
  it("asks its signer with a key of its own, in its own name", async () => {
    await register(podOf("1", { userAnnotations: { "example.com/a": "b" } }));
    expect(created).toEqual([
      {
        apiVersion: "certificates.k8s.io/v1beta1",
        kind: "PodCertificateRequest",
        metadata: {
          name: "req-1",
          generateName: "req-",
          namespace: "a",
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "pod-1", uid: "1" }],
        },
        spec: {
          signerName: SIGNER,
          podName: "pod-1",
          podUID: "1",
          serviceAccountName: "builder",
          serviceAccountUID: "account-uid",
          nodeName: "n",
          nodeUID: "node-uid",
          maxExpirationSeconds: 3600,
          stubPKCS10Request: Buffer.from("request of 1").toString("base64"),
          unverifiedUserAnnotations: { "example.com/a": "b" },
        },
      },
    ]);
    expect(server.watched).toEqual([`${REQUESTS} spec.nodeName=n`]);
  });

  it("waits, and complains only where its signer takes long", async () => {
    await register(podOf("1"));
    const message = "credential bundle is not issued yet";
    expect(credential()).toEqual({ kind: "waiting", message, isUsual: true });
    await clock.advance(10 * SECOND);
    expect(credential()).toEqual({ kind: "waiting", message, isUsual: false });
    expect(certificates.health()).toEqual([{ signerName: SIGNER, state: "not_yet_issued" }]);
  });

  it("is shown key and certificates as soon as they are there", async () => {
    await register(podOf("1"));
    await issue();
    expect(credential()).toEqual({ kind: "issued", keyPem: "ED25519 key 1\n", chainPem: chainOf("leaf") });
    expect(told).toEqual(["1"]);
    expect(certificates.health()).toEqual([{ signerName: SIGNER, state: "fresh" }]);
  });

  it("has two keys where it has two sources", async () => {
    const pod = podOf("1");
    const volumes = pod.spec?.volumes ?? [];
    await register({
      ...pod,
      spec: { ...pod.spec, containers: [], volumes: [...volumes, { ...volumes[0], name: "w" }] },
    });
    expect([created.length, keys]).toEqual([2, 2]);
  });

  it.each([
    ["Denied", "was denied", "denied"],
    ["Failed", "failed", "failed"],
  ])("stays without one when its signer says %s", async (type, words, state) => {
    await register(podOf("1"));
    await answer(type);
    const why = 'reason="Because" message="of that"';
    expect(credential()).toEqual({
      kind: "refused",
      message: `PodCertificateRequest was permanently ${state}: ${why}`,
    });
    expect(events).toEqual([`1 ${type}: PodCertificateRequest a/req-1 ${words}, reason="Because", message="of that"`]);
    await clock.advance(2 * HOUR);
    expect([created.length, told, certificates.health()]).toEqual([1, ["1"], [{ signerName: SIGNER, state }]]);
  });

  it("tries again, less and less often, while the API server refuses", async () => {
    refusal = new Error("not now");
    await register(podOf("1"));
    expect(credential()).toMatchObject({ message: "credential bundle is not issued yet: not now", isUsual: false });
    await clock.advance(749);
    refusal = undefined;
    expect(created).toEqual([]);
    await clock.advance(1);
    expect(created).toHaveLength(1);
    await issue();
    expect(credential().kind).toBe("issued");
  });

  it("waits for the node's registration", async () => {
    nodeUid = undefined;
    await register(podOf("1"));
    expect(credential()).toMatchObject({ message: expect.stringContaining("the node is not registered yet") });
    nodeUid = "node-uid";
    await clock.advance(SECOND);
    expect(created).toHaveLength(1);
  });

  it("asks anew when its request was deleted", async () => {
    await register(podOf("1"));
    server.remove(REQUESTS, "a", "req-1");
    await clock.advance(12 * MINUTE);
    expect(created).toHaveLength(1);
    await clock.advance(2 * MINUTE);
    expect(created.map(({ metadata }) => metadata?.name)).toEqual(["req-1", "req-2"]);
    await issue();
    expect(credential()).toMatchObject({ kind: "issued", keyPem: "ED25519 key 2\n" });
  });

  it("is forgotten with its key, and nothing is watched after the last one", async () => {
    await register(podOf("1"));
    await issue();
    certificates.unregisterPod("1");
    await clock.settle();
    expect([credential().kind, certificates.health(), server.watched]).toEqual(["waiting", [], []]);
  });

  it("that has ended asks for nothing", async () => {
    await register({ ...podOf("1"), status: { phase: "Succeeded" } });
    expect([created, keys]).toEqual([[], 0]);
  });
});

describe("the renewal of a certificate", () => {
  beforeEach(async () => {
    await register(podOf("1"));
    await issue("first");
    told = [];
  });

  /** Half of the jitter. */
  const DUE = HOUR / 2 + 2.5 * MINUTE;

  it("begins when the signer said, a little later by chance, with another key", async () => {
    await clock.advance(DUE - SECOND);
    expect(created).toHaveLength(1);
    await clock.advance(SECOND);
    expect(created).toHaveLength(2);
    expect(credential()).toMatchObject({ keyPem: "ED25519 key 1\n", chainPem: chainOf("first") });
    await issue("second");
    expect(credential()).toMatchObject({ keyPem: "ED25519 key 2\n", chainPem: chainOf("second") });
    expect(told).toEqual(["1"]);
    await clock.advance(DUE);
    expect(created).toHaveLength(3);
  });

  it("that takes long is an event, once, and so is the end of the certificate", async () => {
    await clock.advance(DUE + 12 * MINUTE);
    expect(events).toEqual(["1 CertificateOverdueForRefresh: PodCertificate refresh overdue"]);
    expect(certificates.health()).toEqual([{ signerName: SIGNER, state: "overdue_for_refresh" }]);
    server.remove(REQUESTS, "a", "req-2");
    await clock.advance(20 * MINUTE);
    expect(events.slice(1)).toEqual(["1 CertificateExpired: PodCertificate expired"]);
    expect(certificates.health()).toEqual([{ signerName: SIGNER, state: "expired" }]);
    expect(credential().kind).toBe("issued");
    expect(created.length).toBeGreaterThan(2);
  });

  it("that is denied ends in what the pod has no more", async () => {
    await clock.advance(DUE);
    await answer("Denied");
    expect([credential().kind, told]).toEqual(["refused", ["1"]]);
  });

  it("is not begun for a pod that has ended", async () => {
    await register({ ...podOf("1"), status: { phase: "Failed" } });
    await clock.advance(2 * HOUR);
    expect(created).toHaveLength(1);
  });
});

it("a gauge counts them by signer and state", async () => {
  const metrics = createMetrics();
  declareCertificateGauge(metrics, certificates);
  for (const uid of ["1", "2"]) await register(podOf(uid));
  await issue();
  const page = await metrics.render();
  expect(page.split("\n").filter((line) => line.startsWith("kubelet_podcertificate_states{"))).toEqual([
    'kubelet_podcertificate_states{signer_name="example.com/signer",state="not_yet_issued"} 1',
    'kubelet_podcertificate_states{signer_name="example.com/signer",state="fresh"} 1',
  ]);
});
