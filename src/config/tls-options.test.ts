import { createSecureContext } from "node:tls";
import { expect, it } from "vitest";
import type { ConfigurationError } from "./codec.ts";
import { DEFAULT_KUBELET_CONFIGURATION, type KubeletConfiguration } from "./kubelet-configuration.ts";
import { computeTlsOptions } from "./tls-options.ts";

function compute(configuration: Partial<KubeletConfiguration>) {
  const errors: ConfigurationError[] = [];
  const options = computeTlsOptions({ ...DEFAULT_KUBELET_CONFIGURATION, ...configuration }, errors);
  return { options, errors: errors.map(({ message }) => message) };
}

const ALWAYS = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

it.each<[Partial<KubeletConfiguration>, object]>([
  [{}, { minVersion: "TLSv1.2", ciphers: undefined, curves: undefined }],
  [{ tlsMinVersion: "VersionTLS10" }, { minVersion: "TLSv1" }],
  [{ tlsMinVersion: "VersionTLS13" }, { minVersion: "TLSv1.3" }],
  [
    { tlsCipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_256_CBC_SHA"] },
    { ciphers: `${ALWAYS}:ECDHE-RSA-AES128-GCM-SHA256:AES256-SHA` },
  ],
  [
    {
      tlsCipherSuites: [
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_AES_128_GCM_SHA256",
      ],
    },
    { ciphers: `${ALWAYS}:ECDHE-ECDSA-CHACHA20-POLY1305` },
  ],
  [{ tlsCipherSuites: ["TLS_AES_128_GCM_SHA256"] }, { ciphers: ALWAYS }],
  [{ tlsCurvePreferences: [29, 23] }, { curves: "X25519:P-256" }],
])("%j is %j", (configuration, expected) => {
  const { options, errors } = compute(configuration);
  expect(errors).toEqual([]);
  expect(options).toMatchObject(expected);
  const { minVersion, ciphers, curves } = options;
  const context = { minVersion, ...(ciphers && { ciphers }), ...(curves && { ecdhCurve: curves }) };
  expect(() => createSecureContext(context)).not.toThrow();
});

it.each<[Partial<KubeletConfiguration>, string]>([
  [
    { tlsMinVersion: "TLS1.2" },
    'unknown tls version "TLS1.2" (tlsMinVersion, --tls-min-version): use one of VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13',
  ],
  [{ tlsMinVersion: "constructor" }, 'unknown tls version "constructor"'],
  [{ tlsCipherSuites: ["AES128-SHA"] }, "Cipher suite AES128-SHA not supported or doesn't exist"],
  [{ tlsCipherSuites: ["TLS_RSA_WITH_RC4_128_SHA"] }, "Cipher suite TLS_RSA_WITH_RC4_128_SHA not supported"],
  [{ tlsCurvePreferences: [0] }, "curve preference 0 is out of range (must be 1-65535)"],
  [{ tlsCurvePreferences: [23, 23] }, "duplicate curve preference 23"],
  [{ tlsCurvePreferences: [4588] }, "curve preference 4588 is not supported: use 23, 24, 25, 29"],
])("%j is refused", (configuration, message) => {
  expect(compute(configuration).errors).toEqual([expect.stringContaining(message)]);
});
