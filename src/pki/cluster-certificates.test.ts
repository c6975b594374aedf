import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { parseYaml } from "../api/yaml.ts";
import { createFakeHost, type FakeHost } from "../host/fake/create-fake-host.ts";
import { ensureClusterCertificates } from "./cluster-certificates.ts";
import { createCertificateAuthority, issueCertificate } from "./issue-certificate.ts";
import { formatKubeconfig } from "./kubeconfig.ts";
import { isIssuedBy, readCertificate } from "./read-certificate.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-03-01T12:00:00Z");
/** The leaves of the cluster's own authority. */
const OWN_LEAVES = ["admin", "apiserver-kubelet-client", "apiserver"];
const LEAVES = [...OWN_LEAVES, "front-proxy-client"];
const FILES = [
  ...[...LEAVES, "ca", "front-proxy-ca"].flatMap((name) => [`${name}.crt`, `${name}.key`]),
  "sa.key",
  "sa.pub",
];

let host: FakeHost;
beforeEach(() => {
  host = createFakeHost();
});

const ensure = (now = START, hosts: readonly string[] = []) =>
  ensureClusterCertificates("/pki", { files: host.files, now, hosts });
const read = async (name: string) => (await host.files.read(`/pki/${name}`, 100_000)).toString();
const damage = (name: string) => host.files.writeAtomically(`/pki/${name}`, "torn", 0o600);

describe("the first start", () => {
  it("makes everything, readable by its owner only", async () => {
    const made = await ensure(START, ["node.example", "192.0.2.1", "2001:DB8:0::1"]);
    expect(made.notes).toEqual([]);
    const entries = await host.files.list("/pki");
    expect(entries.map(({ name }) => name).sort()).toEqual(FILES.toSorted());
    for (const name of FILES) expect((await host.files.stat(`/pki/${name}`))?.mode).toBe(0o600);
    expect((await host.files.stat("/pki"))?.mode).toBe(0o700);
    expect(readCertificate(made.serving.certificatePem)).toMatchObject({
      commonName: "kube-apiserver",
      dnsNames: [
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "localhost",
        "node.example",
      ],
      ipAddresses: ["10.96.0.1", "127.0.0.1", "::1", "192.0.2.1", "2001:db8::1"],
      isAuthority: false,
    });
    expect(readCertificate(made.admin.certificatePem)).toMatchObject({
      commonName: "kubernetes-admin",
      organizations: ["system:masters"],
    });
    expect(readCertificate(made.nodeClient.certificatePem)).toMatchObject({
      commonName: "kube-apiserver-kubelet-client",
      organizations: [],
    });
    const { keyUsage } = new X509Certificate(made.admin.certificatePem);
    expect(keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  });
});

describe("a later start", () => {
  it("reads what is there", async () => {
    const first = await ensure();
    expect(await ensure(START + 30 * DAY)).toEqual(first);
  });

  it("loads nothing that only making certificates needs", async () => {
    const script = `
      const { createFakeHost } = await import("./src/host/fake/create-fake-host.ts");
      const { ensureClusterCertificates } = await import("./src/pki/cluster-certificates.ts");
      const { files } = createFakeHost();
      const given = JSON.parse(process.env.GIVEN);
      await files.makeDirectory("/pki", 0o700);
      for (const [name, text] of Object.entries(given)) await files.writeAtomically("/pki/" + name, text, 0o600);
      const { notes } = await ensureClusterCertificates("/pki", { files, now: ${START}, hosts: [] });
      console.log(JSON.stringify({ notes, isLoaded: "getMetadata" in Reflect }));`;
    await ensure();
    const given = Object.fromEntries(await Promise.all(FILES.map(async (name) => [name, await read(name)] as const)));
    const output = execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
      env: { ...process.env, GIVEN: JSON.stringify(given) },
    });
    expect(JSON.parse(output.toString())).toEqual({ notes: [], isLoaded: false });
  });

  it.each([
    ["a leaf is torn", "apiserver.crt", "apiserver.crt was damaged or not of its key: made a new one"],
    ["a leaf's key is torn", "admin.key", "admin.crt was damaged or not of its key: made a new one"],
    [
      "the token key is torn",
      "sa.key",
      "sa.key was damaged or missing: made a new one, service account tokens issued before are void",
    ],
  ])("repairs when %s, and says so", async (_what, name, note) => {
    const first = await ensure();
    await damage(name);
    const repaired = await ensure();
    expect(repaired.notes).toEqual([note]);
    expect(repaired.authority).toEqual(first.authority);
    expect(isIssuedBy(repaired.serving.certificatePem, first.authority.certificatePem)).toBe(true);
    expect((await ensure()).notes).toEqual([]);
  });

  it("writes the public half of the token key anew without a word, because it follows from the private one", async () => {
    const first = await ensure();
    await damage("sa.pub");
    expect(await ensure()).toEqual(first);
    expect(await read("sa.pub")).toBe(first.tokenKey.publicPem);
  });

  it.each([
    ["with more than 30 % of its life left stays", 250, []],
    ["with less is renewed", 260, LEAVES.map((name) => `${name}.crt was near its end: made a new one`)],
    ["that expired is renewed", 400, LEAVES.map((name) => `${name}.crt had expired: made a new one`)],
  ])("a leaf %s", async (_what, days, notes) => {
    const first = await ensure();
    const later = await ensure(START + days * DAY);
    expect(later.notes.toSorted()).toEqual(notes.toSorted());
    expect(later.authority).toEqual(first.authority);
    expect(readCertificate(later.admin.certificatePem).notAfter).toBeGreaterThan(START + days * DAY);
  });

  it("makes a serving certificate that covers a new host, and keeps it when the host is gone again", async () => {
    await ensure();
    const renewed = await ensure(START, ["new.example"]);
    expect(renewed.notes).toEqual(["apiserver.crt did not cover new.example: made a new one"]);
    expect(await ensure(START, [])).toEqual({ ...renewed, notes: [] });
  });

  it("replaces the API server's certificate for nodes that made it an administrator", async () => {
    const { authority } = await ensure();
    const period = { notBefore: START, notAfter: START + 365 * DAY };
    const subject = { commonName: "kube-apiserver-kubelet-client", organizations: ["system:masters"] };
    const before = await issueCertificate({ ...subject, ...period, authority, usages: ["client"] });
    await host.files.writeAtomically("/pki/apiserver-kubelet-client.crt", before.certificatePem, 0o600);
    await host.files.writeAtomically("/pki/apiserver-kubelet-client.key", before.keyPem, 0o600);
    const { notes, nodeClient } = await ensure(START + DAY);
    expect(notes).toEqual(["apiserver-kubelet-client.crt was somebody else's: made a new one"]);
    expect(readCertificate(nodeClient.certificatePem).organizations).toEqual([]);
  });

  it("does not renew at every start when the authority itself is near its end", async () => {
    await ensure();
    const late = START + 3600 * DAY;
    expect((await ensure(late)).notes).toHaveLength(LEAVES.length);
    expect((await ensure(late + 10 * DAY)).notes).toEqual([]);
  });
});

describe("an authority", () => {
  it.each([
    ["ca.crt", "is torn", damage],
    ["ca.key", "is torn", damage],
    ["ca.key", "is gone", (name: string) => host.files.remove(`/pki/${name}`)],
    ["ca.crt", "is gone", (name: string) => host.files.remove(`/pki/${name}`)],
  ])("whose %s %s is not replaced while certificates of it exist", async (name, _what, harm) => {
    await ensure();
    const admin = await read("admin.crt");
    await harm(name);
    await expect(ensure()).rejects.toMatchObject({ code: "AuthorityLost", message: expect.stringContaining("backup") });
    expect(await read("admin.crt")).toBe(admin);
  });

  it("of which a crash left only the key is made again", async () => {
    await host.files.makeDirectory("/pki", 0o700);
    const { keyPem } = await createCertificateAuthority({ commonName: "kubernetes", days: 1, now: START });
    await host.files.writeAtomically("/pki/ca.key", keyPem, 0o600);
    const made = await ensure();
    expect(made.notes).toEqual([
      "the certificate authority was incomplete and nothing was issued by it: made a new one",
    ]);
    expect((await ensure()).notes).toEqual([]);
  });

  it("that expired is of use to nobody and replaced with its leaves", async () => {
    const first = await ensure();
    const later = await ensure(START + 4000 * DAY);
    expect(later.notes[0]).toBe("the certificate authority expired: made a new one, earlier kubeconfigs are void");
    expect(later.authority.certificatePem).not.toBe(first.authority.certificatePem);
    expect(isIssuedBy(later.admin.certificatePem, later.authority.certificatePem)).toBe(true);
    expect(isIssuedBy(later.serving.certificatePem, later.authority.certificatePem)).toBe(true);
  });
});

it.each(["1970-01-01", "2002-04-10", "2041-01-01"])(
  "an authority made by a clock that says %s is valid when the clock is right",
  async (wrong) => {
    const first = await ensure(Date.parse(wrong));
    const later = await ensure();
    expect(later.authority).toEqual(first.authority);
    for (const { certificatePem } of [later.authority, later.frontAuthority, later.serving, later.admin]) {
      const { notBefore, notAfter } = readCertificate(certificatePem);
      expect(notBefore <= START && START + 300 * DAY < notAfter).toBe(true);
    }
  },
);

describe("an authority that takes the place of another", () => {
  const write = (name: string, text: string) => host.files.writeAtomically(`/pki/${name}`, text, 0o600);

  it("is believed beside it first, signs then, and is alone at last", async () => {
    const old = await ensure();
    const next = await createCertificateAuthority({ commonName: "kubernetes", days: 3650, now: START });
    const oldPem = old.authority.certificatePem;
    await write("ca.crt", oldPem + next.certificatePem);
    const both = await ensure();
    expect(both).toEqual({ ...old, trustedPem: oldPem + next.certificatePem });

    // The order in the file does not matter: the key says which certificate signs.
    await write("ca.key", next.keyPem);
    const signing = await ensure();
    expect(signing).toMatchObject({ authority: next, trustedPem: next.certificatePem + oldPem });
    expect(signing.notes.toSorted()).toEqual(
      OWN_LEAVES.map((name) => `${name}.crt was of another authority: made a new one`),
    );
    expect(isIssuedBy(signing.admin.certificatePem, next.certificatePem)).toBe(true);

    await write("ca.crt", next.certificatePem);
    expect(await ensure()).toEqual({ ...signing, trustedPem: next.certificatePem, notes: [] });
  });

  it("is not taken without its key", async () => {
    await ensure();
    const next = await createCertificateAuthority({ commonName: "kubernetes", days: 3650, now: START });
    await write("ca.crt", next.certificatePem);
    await expect(ensure()).rejects.toMatchObject({ code: "AuthorityLost" });
  });
});

it("a kubeconfig holds everything that kubectl needs", async () => {
  const { authority, admin } = await ensure();
  const text = formatKubeconfig({
    server: "https://127.0.0.1:6443",
    caPem: authority.certificatePem,
    ...admin,
    user: "kubernetes-admin",
    cluster: "yes",
    context: "a: b",
  });
  const base64 = (pem: string) => Buffer.from(pem).toString("base64");
  expect(parseYaml(text)[0]?.value).toEqual({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "yes",
        cluster: { server: "https://127.0.0.1:6443", "certificate-authority-data": base64(authority.certificatePem) },
      },
    ],
    contexts: [{ name: "a: b", context: { cluster: "yes", user: "kubernetes-admin" } }],
    "current-context": "a: b",
    preferences: {},
    users: [
      {
        name: "kubernetes-admin",
        user: {
          "client-certificate-data": base64(admin.certificatePem),
          "client-key-data": base64(admin.keyPem),
        },
      },
    ],
  });
});
