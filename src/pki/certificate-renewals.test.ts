import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Log, silentLog } from "../base/log.ts";
import { createFakeHost, type FakeHost } from "../host/fake/create-fake-host.ts";
import type { CertificateFiles } from "./certificate-folder.ts";
import { type CertificateRenewals, createCertificateRenewals } from "./certificate-renewals.ts";
import { type ClusterCertificates, ensureClusterCertificates } from "./cluster-certificates.ts";
import { isIssuedBy, isUsablePair, type KeyedCertificate, readCertificate } from "./read-certificate.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const PKI = "/pki";
const LEAVES = {
  apiserver: "serving",
  admin: "admin",
  "apiserver-kubelet-client": "nodeClient",
  "front-proxy-client": "frontProxy",
  node: "node",
  proxy: "proxy",
} as const;

let host: FakeHost;
let logged: [level: string, message: string][];
let log: Log;
let stop: AbortController;
beforeEach(() => {
  host = createFakeHost();
  logged = [];
  const record = (level: string) => (message: string) => void logged.push([level, message]);
  log = { ...silentLog, error: record("error"), warn: record("warn"), info: record("info") };
  stop = new AbortController();
});

const wanted = { hosts: [], nodeName: "n" };
const ensure = (files: CertificateFiles = host.files) => {
  return ensureClusterCertificates(PKI, { files, now: host.clock.now(), ...wanted });
};

async function start(files: CertificateFiles = host.files) {
  const first = await ensure();
  const renewals = createCertificateRenewals({ files, clock: host.clock, log }, { directory: PKI, first, ...wanted });
  return { first, renewals, run: () => renewals.run(stop.signal) };
}

/** So much time passes, most of it while the machine sleeps: a look each minute of a year would take long. */
async function pass(ms: number) {
  host.clock.jumpWallClock(ms - HOUR);
  await advance(HOUR);
}

/** Keys are made in real time: time goes on when the next look is waited for. */
const untilIdle = () => vi.waitFor(() => expect(host.clock.pendingTimers).toBe(1), { interval: 1, timeout: 60_000 });
async function advance(ms: number) {
  await host.clock.advance(ms);
  await untilIdle();
}

function expectValid(certificates: ClusterCertificates) {
  for (const name of Object.values(LEAVES)) {
    const leaf: KeyedCertificate | undefined = certificates[name];
    if (leaf === undefined || !isUsablePair(leaf)) throw new Error(`${name} is no pair`);
    const { notBefore, notAfter } = readCertificate(leaf.certificatePem);
    const now = host.clock.now();
    if (now < notBefore || now > notAfter - 30 * DAY) throw new Error(`${name} is not valid at ${new Date(now)}`);
  }
}

async function readPair(file: string): Promise<KeyedCertificate> {
  const text = async (name: string) => (await host.files.read(`${PKI}/${name}`, 100_000)).toString();
  return { certificatePem: await text(`${file}.crt`), keyPem: await text(`${file}.key`) };
}

describe("the certificates of a control plane", () => {
  it("are valid at every moment of three years, in use and on disk, without a new start", async () => {
    const { first, renewals, run } = await start();
    const published: ClusterCertificates[] = [];
    renewals.subscribe((renewed) => void published.push(renewed));
    const running = run();
    await untilIdle();
    for (let day = 0; day < 3 * 365; day += 5) {
      await pass(5 * DAY);
      expectValid(renewals.current());
    }
    for (const [file, name] of Object.entries(LEAVES)) {
      expect(await readPair(file)).toEqual(renewals.current()[name]);
      expect(new Set([first, ...published].map((one) => one[name]?.certificatePem)).size).toBeGreaterThan(3);
    }
    expect(published.at(-1)).toBe(renewals.current());
    expect(isIssuedBy(renewals.current().admin.certificatePem, first.authority.certificatePem)).toBe(true);
    expect(logged.filter(([level]) => level !== "info")).toEqual([]);
    stop.abort();
    await running;
    expect(host.clock.pendingTimers).toBe(0);
  });

  it("are renewed soon after the machine slept, and after its clock went back", async () => {
    const { renewals, run } = await start();
    const running = run();
    await untilIdle();
    for (const jump of [300 * DAY, -400 * DAY]) {
      host.clock.jumpWallClock(jump);
      await advance(MINUTE);
      expectValid(renewals.current());
    }
    stop.abort();
    await running;
  });

  it("tell how long they last, by their files", async () => {
    const { renewals, first } = await start();
    const expirations = renewals.expirations();
    expect([...expirations.keys()]).toEqual(["ca", "front-proxy-ca", ...Object.keys(LEAVES)]);
    expect(expirations.get("apiserver")).toBe(readCertificate(first.serving.certificatePem).notAfter);
  });
});

/** Files that fail at the write of that number, as on a full disk, or by the end of the process. */
function failingFiles(failsAt: number): CertificateFiles {
  let writes = 0;
  const { files } = host;
  return {
    read: (path, maxBytes) => files.read(path, maxBytes),
    makeDirectory: (path, mode) => files.makeDirectory(path, mode),
    async writeAtomically(path, data, mode) {
      writes += 1;
      if (writes >= failsAt) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      await files.writeAtomically(path, data, mode);
    },
  };
}

describe("a renewal that is cut short", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "at write %d leaves what is there in use, and a start finds usable pairs",
    async (at) => {
      const { first, renewals, run } = await start(failingFiles(at));
      const running = run();
      await untilIdle();
      await pass(300 * DAY);
      expect(renewals.current()).toBe(first);
      expect(logged).toContainEqual(["error", "Certificates could not be renewed, those that are there stay in use"]);
      stop.abort();
      await running;

      const restarted = await ensure();
      expectValid(restarted);
      expect(restarted.authority).toEqual(first.authority);
      for (const [file, name] of Object.entries(LEAVES)) expect(await readPair(file)).toEqual(restarted[name]);
    },
  );

  it("is made up for when there is room again", async () => {
    let isFull = true;
    const { files } = host;
    const { renewals, run } = await start({
      read: (path, maxBytes) => files.read(path, maxBytes),
      makeDirectory: (path, mode) => files.makeDirectory(path, mode),
      async writeAtomically(path, data, mode) {
        if (isFull) throw new Error("no space left on device");
        await files.writeAtomically(path, data, mode);
      },
    });
    const running = run();
    await untilIdle();
    await pass(300 * DAY);
    isFull = false;
    await advance(HOUR);
    expectValid(renewals.current());
    stop.abort();
    await running;
  });

  it("is told again to who could not take it", async () => {
    const { renewals, run } = await start();
    let failures = 2;
    const taken: ClusterCertificates[] = [];
    const other = vi.fn<Parameters<CertificateRenewals["subscribe"]>[0]>();
    renewals.subscribe(async (renewed) => {
      if (failures-- > 0) throw new Error("the kubeconfig cannot be written");
      taken.push(renewed);
    });
    renewals.subscribe(other);
    const running = run();
    await untilIdle();
    await pass(300 * DAY);
    await advance(3 * HOUR);
    expect(taken).toEqual([renewals.current()]);
    expect(other).toHaveBeenCalledTimes(1);
    expect(logged.filter(([level]) => level === "error")).toHaveLength(2);
    stop.abort();
    await running;
  });
});

it("an authority that ends within 30 days is warned of, each day", async () => {
  const { run } = await start();
  const running = run();
  await untilIdle();
  const warnings = () => logged.filter(([level]) => level === "warn").length;
  host.clock.jumpWallClock(3650 * DAY - 32 * DAY);
  await advance(HOUR);
  expect(warnings()).toBe(0);
  await advance(3 * DAY);
  expect(warnings()).toBeGreaterThan(0);
  const before = warnings();
  await advance(3 * DAY);
  expect(warnings() - before).toBe(3);
  stop.abort();
  await running;
});
