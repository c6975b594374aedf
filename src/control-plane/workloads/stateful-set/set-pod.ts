import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed } from "../../../api/object.ts";
import { podFromTemplate } from "../pod-control/pod-from-template.ts";

const POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name";
const POD_INDEX_LABEL = "apps.kubernetes.io/pod-index";
/** The name of the revision that a pod was made of. */
const REVISION_LABEL = "controller-revision-hash";

/** Ordinals are numbers of 32 bits. */
const MAX_ORDINAL = 2 ** 31 - 1;

/** The ordinal in a name like `web-3`; undefined for the name of no pod of this set. */
export function ordinalOf(setName: string, podName: string): number | undefined {
  const prefix = `${setName}-`;
  const digits = podName.startsWith(prefix) ? podName.slice(prefix.length) : "";
  return /^\d{1,10}$/.test(digits) && Number(digits) <= MAX_ORDINAL ? Number(digits) : undefined;
}

/** The ordinals that the set is to have: from the first up to, and without, the end. */
export function ordinalRangeOf({ spec }: StatefulSet): { first: number; end: number } {
  const first = spec?.ordinals?.start ?? 0;
  return { first, end: Math.min(first + (spec?.replicas ?? 1), MAX_ORDINAL + 1) };
}

/** The name of the revision that the pod was made of; empty for a pod that does not say. */
export function podRevisionOf({ metadata }: Pod): string {
  return metadata?.labels?.[REVISION_LABEL] ?? "";
}

/** What a new pod is made of. */
interface PodSource {
  readonly revisionName: string;
  readonly template: PodTemplateSpec;
}

/** The pod of this ordinal: it has a name of its own, which is its host name too, and the claims made for it. */
export function podOfSet(owner: KubeObject, ordinal: number, { revisionName, template }: PodSource): ObjectOf<"Pod"> {
  const { spec } = typed("StatefulSet", owner);
  const { generateName: _generated, ...pod } = podFromTemplate(template, owner).metadata;
  const name = `${owner.metadata.name ?? ""}-${ordinal}`;
  const labels = { ...pod.labels, ...identityLabels(name, ordinal), [REVISION_LABEL]: revisionName };
  const claims = claimsOfPod(owner, ordinal);
  const claimed = new Map(
    claims.map(({ template: volume, claim }) => {
      const persistentVolumeClaim = { claimName: claim.metadata?.name ?? "" };
      return [volume, { name: volume, persistentVolumeClaim }];
    }),
  );
  const { volumes = [], ...podSpec } = structuredClone(template.spec ?? { containers: [] });
  const others = volumes.filter((volume) => !claimed.has(volume.name));
  const all = [...claimed.values(), ...others];
  const subdomain = spec?.serviceName ?? "";
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...pod, name, labels },
    spec: {
      ...podSpec,
      hostname: name,
      ...(subdomain !== "" && { subdomain }),
      ...(all.length > 0 && { volumes: all }),
    },
  };
}

function identityLabels(name: string, ordinal: number): Record<string, string> {
  return { [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: `${ordinal}` };
}

/** The pod with the labels by which services find it; undefined where it has them. */
export function withIdentity(pod: ObjectOf<"Pod">, ordinal: number): ObjectOf<"Pod"> | undefined {
  const { name = "", labels = {} } = pod.metadata;
  if (labels[POD_NAME_LABEL] === name) return undefined;
  return { ...pod, metadata: { ...pod.metadata, labels: { ...labels, ...identityLabels(name, ordinal) } } };
}

/** A claim, with the name of the template that it is made of. */
export interface SetClaim {
  readonly template: string;
  readonly claim: PersistentVolumeClaim;
}

/** The claims of the pod with this ordinal, each named `TEMPLATE-SET-ORDINAL`. */
export function claimsOfPod(owner: KubeObject, ordinal: number): readonly SetClaim[] {
  const { spec } = typed("StatefulSet", owner);
  const { name: setName = "", namespace = "" } = owner.metadata;
  return (spec?.volumeClaimTemplates ?? []).map((template) => {
    const { name = "", labels, annotations } = template.metadata ?? {};
    const metadata = {
      name: `${name}-${setName}-${ordinal}`,
      namespace,
      labels: { ...labels, ...spec?.selector.matchLabels },
      ...(annotations && { annotations }),
    };
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata,
      spec: structuredClone(template.spec ?? {}),
    };
    return { template: name, claim };
  });
}
