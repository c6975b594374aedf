import { beforeAll, describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { createCertificateAuthority, issueCertificate } from "../../../pki/issue-certificate.ts";
import { CERTIFICATES_KINDS } from "./certificates-kinds.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const row = CERTIFICATES_KINDS.find(({ kind }) => kind === "ClusterTrustBundle") ?? expect.fail("no row");

interface Parts {
  readonly signerName?: string;
  readonly trustBundle?: string;
  readonly metadata?: KubeObject["metadata"];
}

function bundle(name: string, { metadata, ...spec }: Parts): KubeObject {
  const header = { apiVersion: "certificates.k8s.io/v1beta1", kind: "ClusterTrustBundle" };
  return { ...header, metadata: { name, ...metadata }, spec: { trustBundle: "", ...spec } };
}

describe("a cluster trust bundle", () => {
  let root: string;
  let other: string;
  let leaf: string;
  beforeAll(async () => {
    const create = async (commonName: string) => await createCertificateAuthority({ commonName, days: 1, now: NOW });
    const [authority, another] = [await create("root"), await create("other")];
    root = authority.certificatePem;
    other = another.certificatePem;
    const terms = { authority, notBefore: NOW, notAfter: NOW + 60_000, usages: ["server"] as const };
    leaf = (await issueCertificate({ ...terms, commonName: "leaf" })).certificatePem;
  });

  const problemsOf = (object: KubeObject) => (row.strategy.validate?.(object) ?? []).map(formatFieldError);
  const OMITTED = 'spec.trustBundle: Invalid value: "<value omitted>":';

  it("belongs to no namespace, and is found by its signer", () => {
    expect(row).toMatchObject({ namespaced: false, version: "v1beta1", shortNames: [], subresources: [] });
    const signerOf = row.strategy.fields?.["spec.signerName"];
    expect(signerOf?.(bundle("a", { signerName: "example.com/s" }))).toBe("example.com/s");
    expect(signerOf?.(bundle("a", {}))).toBe("");
  });

  it.each<[string, () => string, unknown[]]>([
    ["authorities, with words between them", () => `Root:\n${root}\nOther:\n${other}`, []],
    ["nothing", () => "", [`${OMITTED} at least one trust anchor must be provided`]],
    ["words alone", () => "trust me", [`${OMITTED} at least one trust anchor must be provided`]],
    [
      "a key",
      () => root.replaceAll("CERTIFICATE", "PRIVATE KEY"),
      [`${OMITTED} entry 0 has bad block type: PRIVATE KEY`],
    ],
    [
      "headers, and then something broken",
      () => root.replace("-----\n", "-----\nSubject: root\n\n") + root.replace(/\n.*\n/, "\nAAAA\n"),
      [`${OMITTED} entry 0 has PEM block headers`, `${OMITTED} entry 1 does not parse as X.509`],
    ],
    ["somebody who is no authority", () => root + leaf, [`${OMITTED} entry 1 does not have the CA bit set`]],
    ["somebody twice", () => root + other + root, [`${OMITTED} duplicate trust anchor (indices [0 2])`]],
    [
      "more than a mebibyte",
      () => root + "x".repeat(1024 * 1024),
      ["spec.trustBundle: Too long: may not be more than 1048576 bytes"],
    ],
  ])("with %s", (_what, text, problems) => {
    expect(problemsOf(bundle("a", { trustBundle: text() }))).toEqual(problems);
  });

  it("may not have something behind a certificate, in its block", () => {
    const der = Buffer.from(root.replace(/-----.*-----/g, ""), "base64");
    const longer = Buffer.concat([der, Buffer.from("more")]).toString("base64");
    const trustBundle = `-----BEGIN CERTIFICATE-----\n${longer}\n-----END CERTIFICATE-----\n`;
    expect(problemsOf(bundle("a", { trustBundle }))).toEqual([`${OMITTED} entry 0 does not parse as X.509`]);
  });

  it("with thousands of wrong entries does not tell of all", () => {
    const wrong = "-----BEGIN X-----\n-----END X-----\n".repeat(10_000);
    expect(problemsOf(bundle("a", { trustBundle: wrong }))).toHaveLength(100);
  });

  it.each<[string, string, string, unknown[]]>([
    ["of a signer", "example.com:s:live", "example.com/s", []],
    ["of nobody", "live", "", []],
    [
      "of a signer, without its name",
      "live",
      "example.com/s",
      [
        'metadata.name: Invalid value: "live": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:',
      ],
    ],
    [
      "of a signer, with no name of its own",
      "example.com:s:",
      "example.com/s",
      [expect.stringMatching(/^metadata\.name: Invalid value: "example\.com:s:": a lowercase RFC 1123 subdomain /)],
    ],
    [
      "of nobody, as if it were a signer's",
      "example.com:s:live",
      "",
      [
        'metadata.name: Invalid value: "example.com:s:live": ClusterTrustBundle without signer name must not have ":" in its name',
      ],
    ],
    ["of nobody, in capitals", "Live", "", [expect.stringContaining("a lowercase RFC 1123 subdomain")]],
    [
      "of no real signer",
      "s:live",
      "s",
      [expect.stringMatching(/^spec\.signerName: Invalid value: "s": must be a fully qualified domain and path/)],
    ],
  ])("%s: %s", (_what, name, signerName, problems) => {
    expect(row.strategy.checkName?.(name)).toEqual([]);
    expect(problemsOf(bundle(name, { signerName, trustBundle: root }))).toEqual(problems);
  });

  it("has a generated name under the same rule", () => {
    const generated = (generateName: string) => {
      const metadata = { name: "example.com:s:x7k2p", generateName };
      return problemsOf(bundle("", { signerName: "example.com/s", trustBundle: root, metadata }));
    };
    expect(generated("example.com:s:a-")).toEqual([]);
    expect(generated("a-")).toEqual([
      expect.stringMatching(/^metadata\.generateName: Invalid value: "a-": .* prefix example\.com:s:$/),
    ]);
  });

  it("is looked at again only when its certificates change, and stays its signer's", () => {
    const stored = (parts: Parts) => bundle("a", { ...parts, metadata: { resourceVersion: "1" } });
    const old = stored({ trustBundle: "as it was valid once" });
    const problems = (next: KubeObject) =>
      [...(row.strategy.validate?.(next) ?? []), ...(row.strategy.validateUpdate?.(next, old) ?? [])].map(
        formatFieldError,
      );
    expect(problems({ ...old, metadata: { ...old.metadata, labels: { a: "b" } } })).toEqual([]);
    expect(problems(stored({ trustBundle: root }))).toEqual([]);
    expect(problems(stored({ trustBundle: leaf }))).toEqual([`${OMITTED} entry 0 does not have the CA bit set`]);
    const moved = stored({ trustBundle: root, signerName: "example.com/s" });
    expect(problems(moved)).toContain('spec.signerName: Invalid value: "example.com/s": field is immutable');
  });
});
