import type { Container, EnvVar, Pod, Volume } from "../../../src/api/gen/types.ts";
import type { Dice } from "../dice.ts";
import { NODE_NAME } from "../manifests.ts";
import { IMAGES, randomPod } from "../pod-script.ts";

export const NAMESPACE = "default";
export const POD_NAMES = ["fox", "gnu", "hen", "ibis", "jay"] as const;
export const SECRETS = ["letter", "seal"] as const;
export const CONFIG_MAPS = ["map", "chart"] as const;
/** The key that secrets and config maps have. */
export const KEY = "word";

export type ObjectKind = "Secret" | "ConfigMap";

/** What one object holds, that a pod names. */
interface Reference {
  readonly kind: ObjectKind;
  readonly name: string;
  /** Else the pod has to wait for it. */
  readonly isOptional: boolean;
}

/** Variables and volumes of a pod that show an object, with where they show it. */
export interface ShownReference extends Reference {
  readonly at: { readonly variable: string } | { readonly volume: string; readonly plugin: string };
}

/** Where a volume of the API shows its files, below the pod's `volumes`. */
const PLUGINS = { Secret: "kubernetes.io~secret", ConfigMap: "kubernetes.io~configmap" } as const;

/** A pod as a user creates it, bound to the node already; some of them name secrets and config maps. */
export function randomApiPod(dice: Dice, name: string): Pod {
  const pod = randomPod(dice, name, dice.whole(0, 99));
  const references = Array.from({ length: dice.pick([0, 0, 1, 2]) }, () => randomReference(dice));
  const shown = references.map((reference, index) => ({ reference, index, isVolume: dice.chance(0.6) }));
  const env = shown.flatMap(({ reference, index, isVolume }) => (isVolume ? [] : [variableOf(reference, index)]));
  const volumes = shown.flatMap(({ reference, index, isVolume }) => (isVolume ? [volumeOf(reference, index)] : []));
  if (dice.chance(0.2)) volumes.push(LABELS_VOLUME);
  const dress = (container: Container): Container => ({
    ...container,
    env: [{ name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }, ...env],
    volumeMounts: [
      ...(container.volumeMounts ?? []),
      ...volumes.map((volume) => ({ name: volume.name, mountPath: `/mnt/${volume.name}` })),
    ],
  });
  const { spec } = pod;
  return {
    ...pod,
    metadata: { ...pod.metadata, namespace: NAMESPACE },
    spec: {
      ...spec,
      nodeName: NODE_NAME,
      automountServiceAccountToken: dice.chance(0.3),
      ...(spec?.initContainers && { initContainers: spec.initContainers.map(dress) }),
      containers: (spec?.containers ?? []).map(dress),
      volumes: [...(spec?.volumes ?? []), ...volumes],
    },
  };
}

const LABELS_VOLUME = {
  name: "labels",
  downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] },
};

function randomReference(dice: Dice): Reference {
  const kind = dice.pick(["Secret", "ConfigMap"] as const);
  const name = kind === "Secret" ? dice.pick(SECRETS) : dice.pick(CONFIG_MAPS);
  return { kind, name, isOptional: dice.chance(0.2) };
}

function variableOf({ kind, name, isOptional }: Reference, index: number): EnvVar {
  const selector = { name, key: KEY, optional: isOptional };
  const valueFrom = kind === "Secret" ? { secretKeyRef: selector } : { configMapKeyRef: selector };
  return { name: `WORD_${index}`, valueFrom };
}

function volumeOf({ kind, name, isOptional }: Reference, index: number): Volume {
  const source =
    kind === "Secret"
      ? { secret: { secretName: name, optional: isOptional } }
      : { configMap: { name, optional: isOptional } };
  return { name: `words-${index}`, ...source };
}

/** What of the users' objects a container of the pod shows; found in the pod itself, as the API has it. */
export function referencesOf({ spec }: Pod): ShownReference[] {
  const found: ShownReference[] = [];
  const [first] = spec?.containers ?? [];
  for (const { name: variable, valueFrom } of first?.env ?? []) {
    const { secretKeyRef, configMapKeyRef } = valueFrom ?? {};
    const [kind, selector] = secretKeyRef
      ? (["Secret", secretKeyRef] as const)
      : (["ConfigMap", configMapKeyRef] as const);
    if (selector === undefined) continue;
    found.push({ kind, name: selector.name ?? "", isOptional: selector.optional === true, at: { variable } });
  }
  for (const { name: volume, secret, configMap } of spec?.volumes ?? []) {
    if (secret !== undefined) {
      const at = { volume, plugin: PLUGINS.Secret };
      found.push({ kind: "Secret", name: secret.secretName ?? "", isOptional: secret.optional === true, at });
    }
    if (configMap !== undefined) {
      const at = { volume, plugin: PLUGINS.ConfigMap };
      found.push({ kind: "ConfigMap", name: configMap.name ?? "", isOptional: configMap.optional === true, at });
    }
  }
  return found;
}

/** A container of the pod whose image can be another that is as good; undefined where there is none. */
export function withOtherImage(dice: Dice, pod: Pod): { name: string; image: string } | undefined {
  const candidates = (pod.spec?.containers ?? []).filter(({ image }) => IMAGES.includes(image ?? ""));
  const container = dice.pickAny(candidates);
  const image = IMAGES.find((other) => other !== container?.image);
  return container === undefined || image === undefined ? undefined : { name: container.name, image };
}
