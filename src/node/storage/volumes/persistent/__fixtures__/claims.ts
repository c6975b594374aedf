import { notFoundError } from "../../../../../api/api-error.ts";
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec } from "../../../../../api/gen/types.ts";
import { throwIfAborted } from "../../../../../base/abort.ts";
import type { ClaimReader } from "../claimed-volumes.ts";

/** An API of claims and volumes, which a test puts into it. */
export interface FakeClaims extends ClaimReader {
  /** By `namespace/name`. */
  readonly byName: Map<string, PersistentVolumeClaim>;
  readonly volumes: Map<string, PersistentVolume>;
  /** Every call: `claim shop/data`, `volume pv-1`. */
  readonly calls: string[];
  /** Every call fails with it while it is set. */
  outage: Error | undefined;
}

/** Holds the claim `shop/data`, bound to the volume `pv-1`. */
export function createFakeClaims(spec: PersistentVolumeSpec = { local: { path: "/disks/1" } }): FakeClaims {
  const find = async <T>(signal: AbortSignal, name: string, found: T | undefined, resource: string): Promise<T> => {
    throwIfAborted(signal);
    await Promise.resolve();
    if (fake.outage) throw fake.outage;
    if (found === undefined) throw notFoundError({ group: "", resource }, name);
    return found;
  };
  const claim = boundClaim("data", "pv-1");
  const fake: FakeClaims = {
    byName: new Map([["shop/data", claim]]),
    volumes: new Map([["pv-1", boundVolume("pv-1", claim, spec)]]),
    calls: [],
    outage: undefined,
    async claim(namespace, name, signal) {
      fake.calls.push(`claim ${namespace}/${name}`);
      return await find(signal, name, fake.byName.get(`${namespace}/${name}`), "persistentvolumeclaims");
    },
    async volume(name, signal) {
      fake.calls.push(`volume ${name}`);
      return await find(signal, name, fake.volumes.get(name), "persistentvolumes");
    },
  };
  return fake;
}

/** A bound claim in the namespace `shop`. */
export function boundClaim(name: string, volumeName: string): PersistentVolumeClaim {
  const metadata = { namespace: "shop", name, uid: `uid-of-${name}` };
  return { metadata, spec: { volumeName }, status: { phase: "Bound" } };
}

export function boundVolume(
  name: string,
  { metadata = {} }: PersistentVolumeClaim,
  spec: PersistentVolumeSpec,
): PersistentVolume {
  const { namespace = "", name: claimName = "", uid = "" } = metadata;
  return {
    metadata: { name, uid: `uid-of-${name}` },
    spec: { claimRef: { namespace, name: claimName, uid }, ...spec },
  };
}
