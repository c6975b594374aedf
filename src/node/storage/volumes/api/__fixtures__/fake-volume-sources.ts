import { notFoundError } from "../../../../../api/api-error.ts";
import type { ConfigMap, Secret } from "../../../../../api/gen/types.ts";
import { throwIfAborted } from "../../../../../base/abort.ts";
import type { CertificateAnswer, ProjectedTrustBundles, VolumeSources, VolumeTokenRequest } from "../volume-sources.ts";

/** An API with what a test puts into it. Objects are found by `namespace/name`. */
export interface FakeVolumeSources extends VolumeSources {
  readonly secrets: Map<string, Secret>;
  readonly configMaps: Map<string, ConfigMap>;
  /** By name, without a namespace. */
  readonly trustBundles: Map<string, { signerName: string; trustBundle: string }>;
  clusterTrustBundles(selection: ProjectedTrustBundles, signal: AbortSignal): Promise<readonly string[]>;
  readonly tokenRequests: VolumeTokenRequest[];
  token(request: VolumeTokenRequest, signal: AbortSignal): Promise<{ token: string; expiresAt: number }>;
  /** What the next tokens are. */
  currentToken: string;
  /** By `uid/volume/index`; a source that is not there waits. */
  readonly certificates: Map<string, CertificateAnswer>;
  /** Fails every request when it is set. */
  outage: Error | undefined;
}

export function createFakeVolumeSources(): FakeVolumeSources {
  const answer = async <T>(signal: AbortSignal, read: () => T): Promise<T> => {
    throwIfAborted(signal);
    await Promise.resolve();
    if (sources.outage) throw sources.outage;
    return read();
  };
  const find = <T>(objects: ReadonlyMap<string, T>, resource: string, namespace: string, name: string): T => {
    const object = objects.get(`${namespace}/${name}`);
    if (object === undefined) throw notFoundError({ group: "", resource }, name);
    return object;
  };
  const sources: FakeVolumeSources = {
    secrets: new Map(),
    certificates: new Map(),
    configMaps: new Map(),
    trustBundles: new Map(),
    tokenRequests: [],
    currentToken: "token-1",
    outage: undefined,
    secret: async (namespace, name, signal) =>
      await answer(signal, () => find(sources.secrets, "secret", namespace, name)),
    configMap: async (namespace, name, signal) =>
      await answer(signal, () => find(sources.configMaps, "configmap", namespace, name)),
    clusterTrustBundles: async (selection, signal) =>
      await answer(signal, () => {
        if (!("name" in selection)) {
          const bundles = [...sources.trustBundles.values()];
          return bundles.flatMap((bundle) => (bundle.signerName === selection.signerName ? [bundle.trustBundle] : []));
        }
        const found = sources.trustBundles.get(selection.name);
        if (found !== undefined) return [found.trustBundle];
        throw notFoundError({ group: "certificates.k8s.io", resource: "clustertrustbundle" }, selection.name);
      }),
    token: async (request, signal) =>
      await answer(signal, () => {
        sources.tokenRequests.push(request);
        return { token: sources.currentToken, expiresAt: 3_600_000 };
      }),
    podCertificate: ({ podUid, volumeName, sourceIndex }) => {
      const waiting = { kind: "waiting", message: "credential bundle is not issued yet", isUsual: false } as const;
      return sources.certificates.get(`${podUid}/${volumeName}/${sourceIndex}`) ?? waiting;
    },
    podFacts: () => ({ allocatable: { cpu: "4", memory: "8Gi" } }),
  };
  return sources;
}

/** A secret's data as the API has it. */
export function encode(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
}
