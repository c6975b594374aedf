import type { ConfigurationError } from "./codec.ts";
import type { KubeletConfiguration } from "./kubelet-configuration.ts";

/** The TLS settings of the node's server, in OpenSSL's words. */
export interface TlsOptions {
  readonly minVersion: TlsVersion;
  /** Undefined means the default ciphers. */
  readonly ciphers: string | undefined;
  /** Undefined means the default curves. */
  readonly curves: string | undefined;
}

type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

const VERSIONS: Readonly<Record<string, TlsVersion>> = {
  "": "TLSv1.2",
  VersionTLS10: "TLSv1",
  VersionTLS11: "TLSv1.1",
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
};

/** The suites of TLS 1.3. Go offers no choice among them: all of them are always on. */
const TLS_1_3_SUITES = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** Go's names of suites from before TLS 1.3, without RC4 and 3DES, which OpenSSL no longer has. */
const SUITES: Readonly<Record<string, string>> = {
  TLS_RSA_WITH_AES_128_CBC_SHA: "AES128-SHA",
  TLS_RSA_WITH_AES_256_CBC_SHA: "AES256-SHA",
  TLS_RSA_WITH_AES_128_CBC_SHA256: "AES128-SHA256",
  TLS_RSA_WITH_AES_128_GCM_SHA256: "AES128-GCM-SHA256",
  TLS_RSA_WITH_AES_256_GCM_SHA384: "AES256-GCM-SHA384",
  ...ephemeralSuites("ECDSA"),
  ...ephemeralSuites("RSA"),
};

function ephemeralSuites(signature: "ECDSA" | "RSA"): Record<string, string> {
  const suites = {
    AES_128_CBC_SHA: "AES128-SHA",
    AES_256_CBC_SHA: "AES256-SHA",
    AES_128_CBC_SHA256: "AES128-SHA256",
    AES_128_GCM_SHA256: "AES128-GCM-SHA256",
    AES_256_GCM_SHA384: "AES256-GCM-SHA384",
    CHACHA20_POLY1305: "CHACHA20-POLY1305",
    CHACHA20_POLY1305_SHA256: "CHACHA20-POLY1305",
  };
  return Object.fromEntries(
    Object.entries(suites).map(([go, openssl]) => [
      `TLS_ECDHE_${signature}_WITH_${go}`,
      `ECDHE-${signature}-${openssl}`,
    ]),
  );
}

/** Go's numbers of curves, which are those of TLS. */
const CURVES: ReadonlyMap<number, string> = new Map([
  [23, "P-256"],
  [24, "P-384"],
  [25, "P-521"],
  [29, "X25519"],
]);

/** Settings that are not available are reported, in the words of k8s.io/component-base/cli/flag, and left out. */
export function computeTlsOptions(
  { tlsMinVersion, tlsCipherSuites = [], tlsCurvePreferences = [] }: KubeletConfiguration,
  errors: ConfigurationError[],
): TlsOptions {
  const minVersion = Object.hasOwn(VERSIONS, tlsMinVersion) ? VERSIONS[tlsMinVersion] : undefined;
  if (minVersion === undefined) {
    const message = `unknown tls version ${JSON.stringify(tlsMinVersion)} (tlsMinVersion, --tls-min-version): use one of ${Object.keys(VERSIONS).filter(Boolean).join(", ")}`;
    errors.push({ path: "tlsMinVersion", message });
  }
  const ciphers = tlsCipherSuites.flatMap((suite) => {
    if (TLS_1_3_SUITES.includes(suite)) return [];
    const known = Object.hasOwn(SUITES, suite) ? SUITES[suite] : undefined;
    if (known !== undefined) return [known];
    const message = `Cipher suite ${suite} not supported or doesn't exist (tlsCipherSuites, --tls-cipher-suites)`;
    errors.push({ path: "tlsCipherSuites", message });
    return [];
  });
  return {
    minVersion: minVersion ?? "TLSv1.2",
    ciphers: tlsCipherSuites.length === 0 ? undefined : [...TLS_1_3_SUITES, ...new Set(ciphers)].join(":"),
    curves: computeCurves(tlsCurvePreferences, errors),
  };
}

function computeCurves(preferences: readonly number[], errors: ConfigurationError[]): string | undefined {
  const report = (message: string) => errors.push({ path: "tlsCurvePreferences", message });
  const curves = preferences.flatMap((id, index) => {
    const curve = CURVES.get(id);
    if (id <= 0 || id > 65_535) report(`curve preference ${id} is out of range (must be 1-65535)`);
    else if (preferences.indexOf(id) < index) report(`duplicate curve preference ${id}`);
    else if (curve === undefined)
      report(`curve preference ${id} is not supported: use ${[...CURVES.keys()].join(", ")}`);
    return curve === undefined ? [] : [curve];
  });
  return curves.length === 0 ? undefined : curves.join(":");
}
