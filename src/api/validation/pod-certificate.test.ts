import { describe, expect, it } from "vitest";
import { formatFieldError } from "../field-error.ts";
import type { PodCertificateProjection, VolumeProjection } from "../gen/types.ts";
import { validateVolumes } from "./volumes.ts";

const GOOD = { signerName: "example.com/s", keyType: "ED25519", credentialBundlePath: "bundle.pem" };
const AT = "volumes[0].projected.sources[0].podCertificate";

function problemsOf(...sources: VolumeProjection[]): string[] {
  const volumes = [{ name: "v", projected: { sources } }];
  return validateVolumes("volumes", { containers: [], volumes }).map(formatFieldError);
}

describe("a pod certificate in a volume", () => {
  it.each<[string, Partial<PodCertificateProjection>, unknown[]]>([
    ["is fine", {}, []],
    ["may have a key and a chain of their own", { keyPath: "tls.key", certificateChainPath: "tls/crt" }, []],
    ["has a signer", { signerName: "" }, [`${AT}.signerName: Required value`]],
    [
      "has a signer with a domain",
      { signerName: "s" },
      [
        `${AT}.signerName: Invalid value: "s": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
      ],
    ],
    [
      "has a key of a known type",
      { keyType: "RSA2048" },
      [
        `${AT}.keyType: Unsupported value: "RSA2048": supported values: "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"`,
      ],
    ],
    ["may be for an hour", { maxExpirationSeconds: 3600 }, []],
    [
      "is for no less",
      { maxExpirationSeconds: 3599 },
      [`${AT}.maxExpirationSeconds: Invalid value: 3599: if provided, maxExpirationSeconds must be >= 3600`],
    ],
    [
      "is for 91 days at most",
      { maxExpirationSeconds: 7_862_401 },
      [`${AT}.maxExpirationSeconds: Invalid value: 7862401: if provided, maxExpirationSeconds must be <= 7862400`],
    ],
    [
      "is for a day at most where Kubernetes signs",
      { signerName: "x.kubernetes.io/s", maxExpirationSeconds: 86_401 },
      [`${AT}.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400`],
    ],
    [
      "is written somewhere",
      { credentialBundlePath: "" },
      [`${AT}: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath`],
    ],
    [
      "is written into the volume",
      { keyPath: "/tls.key", certificateChainPath: "..chain" },
      [
        `${AT}.keyPath: Invalid value: "/tls.key": must be a relative path`,
        `${AT}.certificateChainPath: Invalid value: "..chain": must not start with '..'`,
      ],
    ],
    [
      "says what it says by keys with a domain",
      { userAnnotations: { "example.com/a": "b", "": "c", a: "d", "b/c/d": "e" } },
      [
        `${AT}.userAnnotations: Required value`,
        `${AT}.userAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")`,
        expect.stringContaining(`${AT}.userAnnotations: Invalid value: "b/c/d": `),
      ],
    ],
    [
      "does not write one file twice",
      { keyPath: "bundle.pem" },
      ['volumes[0].projected: Invalid value: "bundle.pem": conflicting duplicate paths'],
    ],
  ])("%s", (_name, change, errors) => {
    expect(problemsOf({ podCertificate: { ...GOOD, ...change } })).toEqual(errors);
  });

  it("does not write the files of another source", () => {
    const items = [{ key: "k", path: "bundle.pem" }];
    expect(problemsOf({ configMap: { name: "c", items } }, { podCertificate: GOOD })).toEqual([
      'volumes[0].projected: Invalid value: "bundle.pem": conflicting duplicate paths',
    ]);
  });
});
