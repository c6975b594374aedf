import { createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { isIssuedBy, readCertificate, splitCertificates } from "../../../pki/read-certificate.ts";
import { createRigHost, until } from "./__fixtures__/certificate-rig.ts";
import { ensureServingCertificate } from "./ensure-serving-certificate.ts";
import { createOwnCertificate } from "./serving-certificate.ts";

const DIRECTORY = "/var/lib/kubelet/pki";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function createRig() {
  const rig = createRigHost();
  const { host, log } = rig;
  const ensure = (hostName = "node-1") =>
    ensureServingCertificate({ files: host.files, clock: host.clock, log }, { certDirectory: DIRECTORY, hostName });
  return { ...rig, ensure };
}

describe("the self-signed serving certificate", () => {
  it("is made with its authority, and a TLS server takes it", async () => {
    const { host, ensure, leaks } = createRig();
    const pair = await ensure();
    const [leaf = "", authority = ""] = splitCertificates(pair.certificatePem);
    expect(isIssuedBy(leaf, authority)).toBe(true);
    expect(readCertificate(leaf)).toMatchObject({ commonName: "node-1@1767225600", dnsNames: ["node-1"] });
    createServer({ cert: pair.certificatePem, key: pair.keyPem }).close();
    expect(host.files.text(`${DIRECTORY}/kubelet.crt`)).toBe(pair.certificatePem);
    expect((await host.files.stat(`${DIRECTORY}/kubelet.key`))?.mode).toBe(0o600);
    expect(leaks()).toEqual([]);
  });

  it("names an address where the host has no name", async () => {
    const pair = await createRig().ensure("10.0.0.1");
    expect(readCertificate(pair.certificatePem)).toMatchObject({ dnsNames: [], ipAddresses: ["10.0.0.1"] });
  });

  it("is kept, and made anew when it is near its end", async () => {
    const { host, ensure } = createRig();
    const first = await ensure();
    host.clock.jumpWallClock(250 * DAY);
    expect(await ensure()).toEqual(first);
    host.clock.jumpWallClock(10 * DAY);
    const second = await ensure();
    expect(second.keyPem).not.toBe(first.keyPem);
    expect(readCertificate(second.certificatePem).notAfter).toBeGreaterThan(host.clock.now());
  });

  it("is valid for three years without a new start, and whoever serves it is told", async () => {
    const { host, ensure, log } = createRig();
    const certificate = await createOwnCertificate({ clock: host.clock, log }, ensure);
    let told = 0;
    certificate.subscribe(() => told++);
    const stopping = new AbortController();
    const run = certificate.run(stopping.signal);
    for (let day = 0; day < 3 * 365; day += 5) {
      host.clock.jumpWallClock(5 * DAY);
      await host.clock.advance(HOUR);
      await until(host, () => host.clock.pendingTimers === 1);
      const { notAfter } = readCertificate(certificate.current()?.certificatePem ?? "");
      expect(notAfter - host.clock.now()).toBeGreaterThan(30 * DAY);
    }
    expect(told).toBe(4);
    expect(host.files.text(`${DIRECTORY}/kubelet.crt`)).toBe(certificate.current()?.certificatePem);
    stopping.abort();
    await run;
    expect(host.clock.pendingTimers).toBe(0);
  });

  it("is made anew after a crash between its two files", async () => {
    const { host, ensure } = createRig();
    const first = await ensure();
    host.files.put(`${DIRECTORY}/kubelet.key`, (await createRig().ensure()).keyPem);
    const second = await ensure();
    expect(second.certificatePem).not.toBe(first.certificatePem);
    expect(await ensure()).toEqual(second);
  });
});
