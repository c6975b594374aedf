import { beforeAll, expect, it } from "vitest";
import { createCertificateAuthority } from "../../../pki/issue-certificate.ts";
import type { KeyedCertificate } from "../../../pki/read-certificate.ts";
import { createRigHost, settled } from "./__fixtures__/certificate-rig.ts";
import { createClientAuthority } from "./client-authority.ts";
import { createFollowedCertificate, createRotatedCertificate, readPairFiles } from "./serving-certificate.ts";

const FILES = { certificateFile: "/pki/tls.crt", keyFile: "/pki/tls.key" };
const CA = "/pki/ca.crt";
let first: KeyedCertificate;
let second: KeyedCertificate;
beforeAll(async () => {
  const now = Date.UTC(2026, 0, 1);
  first = await createCertificateAuthority({ commonName: "first", days: 9, now });
  second = await createCertificateAuthority({ commonName: "second", days: 9, now });
});

async function createRig() {
  const rig = createRigHost();
  const { files, clock } = rig.host;
  await files.makeDirectory("/pki", 0o755);
  const write = async (path: string, text: string) => await files.writeAtomically(path, text, 0o600);
  await write(FILES.certificateFile, first.certificatePem);
  await write(FILES.keyFile, first.keyPem);
  await write(CA, first.certificatePem);
  return { ...rig, files, clock, write, deps: { files, clock, log: rig.log } };
}

it("follows its files, and goes on with the old pair until both are there", async () => {
  const { host, deps, clock, write } = await createRig();
  const options = { ...FILES, first: await readPairFiles(deps.files, FILES) };
  const certificate = createFollowedCertificate(deps, options);
  const told: unknown[] = [];
  certificate.subscribe(() => told.push(certificate.current()));
  const stopping = new AbortController();
  const run = certificate.run(stopping.signal);
  await clock.advance(1_000);
  await write(FILES.keyFile, second.keyPem);
  await clock.advance(1_000);
  expect(certificate.current()).toEqual(first);
  await write(FILES.certificateFile, second.certificatePem);
  await clock.advance(1_000);
  expect(told).toEqual([second]);
  stopping.abort();
  await settled(host, run);
  expect(clock.pendingTimers).toBe(0);
});

it.each([
  ["is not there", { ...FILES, keyFile: "/pki/none" }, "open /pki/none: no such file or directory"],
  ["is no pair", { ...FILES, keyFile: CA }, "are not a certificate and its private key"],
])("does not begin with what %s", async (_, files, message) => {
  const { deps } = await createRig();
  await expect(readPairFiles(deps.files, files)).rejects.toThrow(message);
});

it("takes the files' pair until the cluster has signed one", () => {
  let signed: (KeyedCertificate & { notAfter: number }) | undefined;
  const rotation = { current: () => signed, subscribe: () => () => undefined, run: async () => undefined };
  const { log } = createRigHost();
  const certificate = createRotatedCertificate(rotation, { fallback: first, log });
  expect(certificate.current()).toEqual(first);
  signed = { ...second, notAfter: 1 };
  expect(certificate.current()).toEqual(signed);
  expect(
    createRotatedCertificate({ ...rotation, current: () => undefined }, { fallback: undefined, log }).current(),
  ).toBe(undefined);
});

it("follows the client authorities, and never believes less or more than a file that can be read says", async () => {
  const { host, deps, clock, write } = await createRig();
  const authority = await createClientAuthority(deps, CA);
  let changes = 0;
  authority.subscribe(() => changes++);
  const stopping = new AbortController();
  const run = authority.run(stopping.signal);
  await clock.advance(1_000);
  for (const broken of ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]) {
    await write(CA, broken);
    await clock.advance(1_000);
  }
  await deps.files.remove(CA);
  await clock.advance(60_000);
  expect(authority.current()).toBe(first.certificatePem);
  expect(changes).toBe(0);
  await write(CA, first.certificatePem + second.certificatePem);
  await clock.advance(60_000);
  expect(authority.current()).toBe(first.certificatePem + second.certificatePem);
  expect(changes).toBe(1);
  stopping.abort();
  await settled(host, run);
  expect(clock.pendingTimers).toBe(0);
});

it.each([
  ["/pki/none", "unable to load client CA file /pki/none: no such file or directory"],
  ["/pki/tls.key", "unable to load client CA file /pki/tls.key: data does not contain any valid"],
])("does not begin without authorities: %s", async (path, message) => {
  const { deps } = await createRig();
  await expect(createClientAuthority(deps, path)).rejects.toThrow(message);
});
