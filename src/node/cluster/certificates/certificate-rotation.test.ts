import { describe, expect, it } from "vitest";
import { createMetrics } from "../../../base/metrics.ts";
import { KubeUnreachableError } from "../../../kube/port.ts";
import { createCertificateAuthority } from "../../../pki/issue-certificate.ts";
import { type CertificateFacts, readCertificate } from "../../../pki/read-certificate.ts";
import { createRigHost, settled, until } from "./__fixtures__/certificate-rig.ts";
import { createFakeRequestsApi } from "./__fixtures__/fake-requests-api.ts";
import { type CurrentCertificate, createCertificateRotation, type RotationOptions } from "./certificate-rotation.ts";
import { formatPair } from "./pem-pair.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The lifetime is short, so that the clock has few minutes to tick through. */
const LIFE = 10 * HOUR;
const LIFE_DAYS = LIFE / DAY;
const DIRECTORY = "/var/lib/kubelet/pki";
const away = async () => {
  throw new KubeUnreachableError("unreachable", "connect ECONNREFUSED");
};

async function createRig() {
  const rig = createRigHost();
  const { host, log } = rig;
  const api = await createFakeRequestsApi(host.clock);
  const metrics = createMetrics();
  const asked: { addresses: string[] | undefined } = { addresses: ["10.0.0.1"] };
  const told: CertificateFacts[] = [];
  let starts = 0;
  const start = (
    pairName: "kubelet-server" | "kubelet-client" = "kubelet-server",
    first: Pick<RotationOptions, "readFirst"> = {},
  ) => {
    const measured = starts++ === 0 ? metrics : undefined;
    const rotation = createCertificateRotation(
      { client: api.client, clock: host.clock, random: host.random, log, files: host.files, metrics: measured },
      {
        signerName: "kubernetes.io/kubelet-serving",
        usages: ["digital signature", "server auth"],
        subject: () => {
          const { addresses } = asked;
          const subject = { commonName: "system:node:node-1", organizations: ["system:nodes"] };
          return addresses && { ...subject, dnsNames: ["node-1"], ipAddresses: [...addresses] };
        },
        pairName,
        certDirectory: DIRECTORY,
        ...first,
      },
    );
    rotation.subscribe(({ certificatePem }) => told.push(readCertificate(certificatePem)));
    const stopping = new AbortController();
    const run = rotation.run(stopping.signal);
    return {
      rotation,
      async stop() {
        stopping.abort();
        await settled(host, run);
        return { timers: host.clock.pendingTimers, watches: api.watching() };
      },
    };
  };
  return {
    ...rig,
    api,
    metrics,
    asked,
    told,
    start,
    /** Waits for this number of requests in all, and for the watch of the last one. */
    async requested(count: number): Promise<string> {
      await until(host, () => api.stored.size === count && api.watching() === 1, `request ${count}`);
      return api.names().at(-1) ?? "";
    },
    issued: async (count: number) => await until(host, () => told.length === count, `certificate ${count}`),
    metric: async (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(await metrics.render())?.[1] ?? "none",
  };
}

type Rig = Awaited<ReturnType<typeof createRig>>;

/** Creates a rig that has its first certificate. */
async function createIssued() {
  const rig = await createRig();
  rig.api.hooks.created = (name) => rig.api.approveAndSign(name, LIFE_DAYS);
  const started = rig.start();
  await rig.issued(1);
  return { ...rig, ...started };
}

/** Lets time pass, a minute at a time, until a certificate is asked for. Returns the number of minutes. */
async function minutesUntilAsked({ host, api, logged }: Pick<Rig, "host" | "api" | "logged">): Promise<number> {
  const before = api.stored.size;
  const rotations = () => logged.filter((line) => line.startsWith("Rotating certificates")).length;
  const begun = rotations();
  for (let minutes = 1; minutes * MINUTE <= LIFE; minutes++) {
    await host.clock.advance(MINUTE);
    if (rotations() === begun) continue;
    // A new key takes real time, in which the clock must stand still; a request follows it.
    await until(host, () => api.stored.size > before, "a request");
    return minutes;
  }
  return Number.POSITIVE_INFINITY;
}

describe("a node without a certificate", () => {
  it("asks for one at once, and has it when it is issued", async () => {
    const { api, start, requested, issued, host } = await createRig();
    const { rotation, stop } = start();
    const name = await requested(1);
    expect(name).toMatch(/^csr-[a-z0-9]{5}$/);
    expect(rotation.current()).toBeUndefined();
    await api.approveAndSign(name, LIFE_DAYS);
    await issued(1);
    const current: CurrentCertificate | undefined = rotation.current();
    expect(current?.notAfter).toBe(host.clock.now() + LIFE);
    expect(readCertificate(current?.certificatePem ?? "")).toMatchObject({
      commonName: "system:node:node-1",
      dnsNames: ["node-1"],
      ipAddresses: ["10.0.0.1"],
    });
    expect(await stop()).toEqual({ timers: 0, watches: 0 });
  });

  it("asks for none as long as it does not know its addresses", async () => {
    const { api, asked, start, host, requested } = await createRig();
    asked.addresses = undefined;
    const { rotation, stop } = start();
    await host.clock.advance(HOUR);
    expect(api.calls()).toEqual([]);
    asked.addresses = ["10.0.0.1"];
    rotation.reconsider();
    await requested(1);
    expect(await stop()).toEqual({ timers: 0, watches: 0 });
  });

  it("that has one on disk takes that and asks for nothing", async () => {
    const first = await createIssued();
    await first.stop();
    first.api.calls();
    const { rotation, stop } = first.start("kubelet-server");
    await first.issued(2);
    await first.host.clock.advance(HOUR);
    expect(first.api.calls()).toEqual([]);
    expect(rotation.current()?.notAfter).toBe(first.told[0]?.notAfter);
    await stop();
  });

  it("that is given its first one keeps that on disk, and asks for nothing", async () => {
    const first = await createIssued();
    const { certificatePem = "", keyPem = "" } = first.rotation.current() ?? {};
    await first.stop();
    const { host, told, ...rig } = await createRig();
    const { rotation, stop } = rig.start("kubelet-client", { readFirst: async () => ({ certificatePem, keyPem }) });
    await until(host, () => told.length === 1, "the certificate");
    expect(host.files.text(`${DIRECTORY}/kubelet-client-current.pem`)).toBe(formatPair({ certificatePem, keyPem }));
    expect(rotation.current()?.keyPem).toBe(keyPem);
    await host.clock.advance(HOUR);
    expect(rig.api.calls()).toEqual([]);
    await stop();
  });

  it.each([
    ["is given none", async () => undefined],
    ["cannot read the one that it is given", away],
  ])("that %s asks for one", async (_, readFirst) => {
    const { start, requested } = await createRig();
    const { stop } = start("kubelet-client", { readFirst });
    await requested(1);
    await stop();
  });

  it("that has a torn one on disk asks for another", async () => {
    const rig = await createRig();
    rig.host.files.put(`${DIRECTORY}/kubelet-server-old.pem`, "torn");
    await rig.host.files.link(`${DIRECTORY}/kubelet-server-old.pem`, `${DIRECTORY}/kubelet-server-current.pem`);
    rig.api.hooks.created = (name) => rig.api.approveAndSign(name, LIFE_DAYS);
    const { stop } = rig.start();
    await rig.issued(1);
    await stop();
  });
});

describe("a certificate", () => {
  it("is renewed between 70 and 90 % of its life, with a new key", async () => {
    const rig = await createIssued();
    const before = rig.rotation.current();
    const minutes = await minutesUntilAsked(rig);
    expect((minutes * MINUTE) / LIFE).toBeGreaterThanOrEqual(0.7);
    expect((minutes * MINUTE) / LIFE).toBeLessThanOrEqual(0.91);
    await rig.issued(2);
    expect(rig.rotation.current()?.keyPem).not.toBe(before?.keyPem);
    expect(await rig.metric("kubelet_certificate_manager_server_rotation_seconds_count")).toBe("1");
    expect(await rig.stop()).toEqual({ timers: 0, watches: 0 });
  });

  it("stays in use while the next is not there, until it has expired", async () => {
    const rig = await createIssued();
    const { keyPem, notAfter } = rig.rotation.current() ?? { keyPem: "", notAfter: 0 };
    rig.api.hooks.before = away;
    await rig.host.clock.advance(0.95 * LIFE);
    for (let turn = 0; turn < 50; turn++) await rig.host.clock.settle();
    expect(rig.rotation.current()?.keyPem).toBe(keyPem);
    rig.host.clock.jumpWallClock(notAfter - rig.host.clock.now());
    expect(rig.rotation.current()).toBeUndefined();
    rig.api.hooks.before = async () => {};
    await rig.host.clock.advance(2 * MINUTE);
    await rig.issued(2);
    expect(rig.rotation.current()?.keyPem).not.toBe(keyPem);
    await rig.stop();
  });

  it("is renewed within a minute when the wall clock jumps past its time", async () => {
    const rig = await createIssued();
    await rig.host.clock.advance(HOUR);
    rig.host.clock.jumpWallClock(0.85 * LIFE);
    await rig.host.clock.advance(MINUTE);
    await rig.issued(2);
    await rig.stop();
  });

  it("is not renewed because the wall clock jumps back", async () => {
    const rig = await createIssued();
    rig.host.clock.jumpWallClock(-50 * DAY);
    await rig.host.clock.advance(0.95 * LIFE);
    expect(rig.told).toHaveLength(1);
    await rig.stop();
  });
});

describe("a subject that changes", () => {
  it("is asked for anew within a minute, at once when it is said", async () => {
    const rig = await createIssued();
    await rig.host.clock.advance(2 * SECOND);
    rig.asked.addresses = ["10.0.0.2"];
    rig.rotation.reconsider();
    await rig.issued(2);
    expect(rig.told.at(-1)?.ipAddresses).toEqual(["10.0.0.2"]);
    rig.asked.addresses = ["10.0.0.2", "10.0.0.3"];
    await rig.host.clock.advance(MINUTE);
    await rig.issued(3);
    expect(rig.told.at(-1)?.ipAddresses).toEqual(["10.0.0.2", "10.0.0.3"]);
    await rig.stop();
  });

  it("to less needs no other certificate", async () => {
    const rig = await createIssued();
    rig.asked.addresses = [];
    await rig.host.clock.advance(HOUR);
    expect(rig.told).toHaveLength(1);
    await rig.stop();
  });

  it("while its request waits gives that up for a new one", async () => {
    const rig = await createRig();
    const { rotation, stop } = rig.start();
    await rig.requested(1);
    rig.asked.addresses = ["10.0.0.9"];
    rotation.reconsider();
    await rig.host.clock.advance(2 * SECOND);
    const name = await rig.requested(2);
    await rig.api.approveAndSign(name, LIFE_DAYS);
    await rig.issued(1);
    expect(rig.told[0]?.ipAddresses).toEqual(["10.0.0.9"]);
    expect(await stop()).toEqual({ timers: 0, watches: 0 });
  });

  it("and that the signer leaves out is asked for once, not for ever", async () => {
    const rig = await createRig();
    const { stop } = rig.start();
    const name = await rig.requested(1);
    rig.api.approve(name);
    await rig.api.signWithoutNames(name, LIFE_DAYS);
    await rig.issued(1);
    await rig.host.clock.advance(HOUR);
    expect(rig.api.stored.size).toBe(1);
    expect(rig.logged.filter((line) => line.includes("issued without"))).toHaveLength(1);
    await stop();
  });
});

describe("a request", () => {
  it("that nobody answers is waited for again and again, and not made anew", async () => {
    const rig = await createRig();
    const { stop } = rig.start();
    const name = await rig.requested(1);
    const waits = () => rig.logged.filter((line) => line.includes("neither approved nor denied")).length;
    for (let second = 0; waits() < 6 || rig.api.watching() === 0; second++) {
      expect(second).toBeLessThan(7 * 15 * 60);
      await rig.host.clock.advance(SECOND);
      // Reading the request that is found takes real time.
      if (rig.api.watching() === 0) for (let turn = 0; turn < 20; turn++) await rig.host.clock.settle();
    }
    await rig.api.approveAndSign(name, LIFE_DAYS);
    await rig.issued(1);
    expect(rig.api.names()).toEqual([name]);
    await stop();
  });

  it("whose making was answered by silence is found, not made twice", async () => {
    const rig = await createRig();
    rig.api.hooks.after = async (verb) => {
      if (verb !== "create") return;
      rig.api.hooks.after = async () => {};
      await away();
    };
    const { stop } = rig.start();
    await until(rig.host, () => rig.logged.some((line) => line.includes("could not be renewed")));
    await rig.host.clock.advance(3 * SECOND);
    await rig.requested(1);
    await stop();
  });

  it("that is denied is made again after minutes, and later each time", async () => {
    const rig = await createRig();
    rig.api.hooks.created = async (name) => rig.api.deny(name);
    const { stop } = rig.start();
    const failures = () => rig.logged.filter((line) => line.includes("could not be renewed")).length;
    await until(rig.host, () => failures() === 1);
    await rig.host.clock.advance(4 * MINUTE);
    expect(rig.api.stored.size).toBe(1);
    await rig.host.clock.advance(2 * MINUTE);
    await until(rig.host, () => failures() === 2);
    await rig.host.clock.advance(9 * MINUTE);
    expect(rig.api.stored.size).toBe(2);
    expect(await rig.metric("kubelet_server_expiration_renew_errors")).toBe("2");
    await stop();
  });

  it("is tried every half a minute at most while the server is away, with one key", async () => {
    const rig = await createRig();
    rig.api.hooks.before = away;
    const { stop } = rig.start();
    await until(rig.host, () => rig.api.calls().length > 0);
    await rig.host.clock.advance(HOUR);
    const calls = rig.api.calls();
    expect(calls.length).toBeGreaterThan(90);
    expect(calls.length).toBeLessThan(125);
    expect(new Set(calls).size).toBe(1);
    await stop();
  });

  it("whose certificate cannot be written is found again when it can", async () => {
    const rig = await createRig();
    rig.api.hooks.created = (name) => rig.api.approveAndSign(name, LIFE_DAYS);
    const restore = rig.host.files.intercept(({ operation }) => {
      if (operation === "writeAtomically") throw new Error("ENOSPC");
    });
    const { stop, rotation } = rig.start();
    await until(rig.host, () => rig.logged.some((line) => line.includes("ENOSPC")));
    expect(rotation.current()).toBeUndefined();
    restore();
    await rig.host.clock.advance(3 * SECOND);
    await rig.issued(1);
    expect(rig.api.stored.size).toBe(1);
    await stop();
  });
});

/** Lets time pass, a second at a time, and gives the making of keys, which takes real time, its turns. */
async function pass(host: Rig["host"], ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND) {
    await host.clock.advance(SECOND);
    for (let turn = 0; turn < 200; turn++) await host.clock.settle();
  }
}

describe("an answer that lies", () => {
  const damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  it.each<[string, (rig: Rig, name: string) => Promise<void>]>([
    ["is nothing that can be read", ({ api }, name) => api.answerWith(name, () => "no certificate")],
    ["is damaged", ({ api }, name) => api.answerWith(name, () => damaged)],
    ["is for another key", ({ api }, name) => api.answerWith(name, () => api.authority.certificatePem)],
    ["has expired", ({ api }, name) => api.approveAndSign(name, -1)],
    ["comes with one that is damaged", ({ api }, name) => api.answerWith(name, (pem) => pem + damaged)],
    ["comes with thousands", ({ api }, name) => api.answerWith(name, (pem) => pem.repeat(10_000))],
    [
      "is for somebody else",
      async ({ api }, name) => {
        api.approve(name);
        await api.signWithoutNames(name, 100, "O=system:nodes, CN=system:node:node-2");
      },
    ],
  ])("because it %s leaves what works in its place, and is asked for again more and more rarely", async (_, lie) => {
    const rig = await createRig();
    rig.api.hooks.created = (name) => rig.api.approveAndSign(name, LIFE_DAYS);
    const { rotation, stop } = rig.start("kubelet-client");
    await rig.issued(1);
    const { host, api } = rig;
    const path = `${DIRECTORY}/kubelet-client-current.pem`;
    const before = { pair: rotation.current(), text: host.files.text(path) };
    const failures = () => rig.logged.filter((line) => line.includes("could not be renewed")).length;
    api.hooks.created = async (name) => await lie(rig, name);
    await host.clock.advance(0.9 * LIFE);
    for (let failed = 1; failed <= 8; failed++) {
      await until(host, () => failures() >= failed, `failure ${failed}`);
      await host.clock.advance(2 ** failed * 1.1 * SECOND + SECOND);
    }
    expect(rotation.current()).toEqual(before.pair);
    expect(host.files.text(path)).toBe(before.text);
    const asked = api.stored.size;
    await pass(host, 2 * MINUTE);
    expect(api.stored.size - asked).toBeLessThan(2);
    api.hooks.created = (name) => api.approveAndSign(name, LIFE_DAYS);
    await host.clock.advance(HOUR);
    await rig.issued(2);
    await stop();
  });

  it("because it ends after three seconds is asked for again every ten seconds", async () => {
    const rig = await createRig();
    rig.api.hooks.created = (name) => rig.api.approveAndSign(name, (3 * SECOND) / DAY);
    const { stop } = rig.start("kubelet-client");
    await rig.issued(1);
    await pass(rig.host, 30 * SECOND);
    expect(rig.api.stored.size).toBeGreaterThan(1);
    expect(rig.api.stored.size).toBeLessThan(6);
    await stop();
  });
});

describe("the time that is left", () => {
  it("is a metric, infinite where there is no certificate", async () => {
    const rig = await createRig();
    const { stop } = rig.start("kubelet-client");
    const name = await rig.requested(1);
    const ttl = "kubelet_certificate_manager_client_ttl_seconds";
    expect(await rig.metric(ttl)).toBe("+Inf");
    await rig.api.approveAndSign(name, LIFE_DAYS);
    await rig.issued(1);
    await rig.host.clock.advance(HOUR);
    expect(Number(await rig.metric(ttl))).toBeCloseTo((LIFE - HOUR) / SECOND, -3);
    await stop();
  });
});

it("no key is ever logged", async () => {
  const rig = await createIssued();
  await minutesUntilAsked(rig);
  await rig.issued(2);
  await rig.stop();
  expect(rig.leaks()).toEqual([]);
  const authority = await createCertificateAuthority({ commonName: "x", days: 1, now: 0 });
  expect(rig.leaks(formatPair(rig.rotation.current() ?? authority))).not.toEqual([]);
});
