import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, type FakeHost } from "../../../host/fake/create-fake-host.ts";
import { createCertificateAuthority } from "../../../pki/issue-certificate.ts";
import type { KeyedCertificate } from "../../../pki/read-certificate.ts";
import { createCertificateStore } from "./certificate-store.ts";
import { formatPair } from "./pem-pair.ts";

const DIRECTORY = "/var/lib/kubelet/pki";
const CURRENT = `${DIRECTORY}/kubelet-server-current.pem`;
const pairs: KeyedCertificate[] = [];
let host: FakeHost;

beforeAll(async () => {
  for (const commonName of ["a", "b"]) {
    pairs.push(await createCertificateAuthority({ commonName, days: 1, now: Date.UTC(2026, 0, 1) }));
  }
});
beforeEach(() => {
  host = createFakeHost();
});

const pairAt = (index: number) => pairs[index] ?? { certificatePem: "", keyPem: "" };
const createStore = () => createCertificateStore(host, { directory: DIRECTORY, pairName: "kubelet-server" });
const names = async () => (await host.files.list(DIRECTORY)).map(({ name }) => name);

describe("a store of certificates", () => {
  it("is empty at first, and makes its directory when something is written", async () => {
    expect(await createStore().read()).toBeUndefined();
    await createStore().write(pairAt(0));
    expect((await host.files.stat(DIRECTORY))?.mode).toBe(0o755);
  });

  it("leaves the mode of a directory that is there", async () => {
    await host.files.makeDirectory(DIRECTORY, 0o700);
    await createStore().write(pairAt(0));
    expect((await host.files.stat(DIRECTORY))?.mode).toBe(0o700);
  });

  it("keeps each pair in a file of its time, for its owner only, and points to the last", async () => {
    await createStore().write(pairAt(0));
    await host.clock.advance(61_000);
    await createStore().write(pairAt(1));
    expect(await createStore().read()).toEqual(pairAt(1));
    expect(await host.files.readLink(CURRENT)).toBe(`${DIRECTORY}/kubelet-server-2026-01-01-00-01-01.pem`);
    expect(host.files.text(`${DIRECTORY}/kubelet-server-2026-01-01-00-00-00.pem`)).toBe(formatPair(pairAt(0)));
    expect((await host.files.stat(CURRENT))?.mode).toBe(0o600);
  });

  it("has one file for two pairs of the same second, and the later is whole in it", async () => {
    await createStore().write(pairAt(0));
    await createStore().write(pairAt(1));
    expect(await createStore().read()).toEqual(pairAt(1));
    expect(await names()).toEqual(["kubelet-server-2026-01-01-00-00-00.pem", "kubelet-server-current.pem"]);
  });

  it("keeps the last five", async () => {
    host.files.put(`${DIRECTORY}/kubelet-client-2020-01-01-00-00-00.pem`, "of another");
    for (let day = 0; day < 9; day++) {
      await createStore().write(pairAt(day % 2));
      await host.clock.advance(86_400_000);
    }
    expect(await names()).toEqual([
      "kubelet-client-2020-01-01-00-00-00.pem",
      ...[5, 6, 7, 8, 9].map((day) => `kubelet-server-2026-01-0${day}-00-00-00.pem`),
      "kubelet-server-current.pem",
    ]);
  });

  it.each([
    ["torn", "-----BEGIN CERTIFICATE-----\nabc"],
    ["empty", ""],
    ["no certificate at all", "-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n"],
  ])("has nothing when what is there is %s", async (_what, text) => {
    host.files.put(CURRENT, text);
    expect(await createStore().read()).toBeUndefined();
  });

  it("has nothing when the key is another's", async () => {
    host.files.put(CURRENT, formatPair({ ...pairAt(0), keyPem: pairAt(1).keyPem }));
    expect(await createStore().read()).toBeUndefined();
  });

  it("finds what a Go kubelet left that died while it moved its link", async () => {
    host.files.put(`${DIRECTORY}/kubelet-server-2025-01-01-00-00-00.pem`, formatPair(pairAt(0)));
    await host.files.link(
      `${DIRECTORY}/kubelet-server-2025-01-01-00-00-00.pem`,
      `${DIRECTORY}/kubelet-server-updated.pem`,
    );
    expect(await createStore().read()).toEqual(pairAt(0));
  });

  it("says so when a file stands where its link belongs", async () => {
    host.files.put(CURRENT, "mine");
    await expect(createStore().write(pairAt(0))).rejects.toThrow(
      `expected "${CURRENT}" to be a symlink but it is a file`,
    );
    expect(host.files.text(CURRENT)).toBe("mine");
  });
});
