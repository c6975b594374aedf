import type { PodSpec, RuntimeClass, Toleration } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import { compareQuantities } from "../../api/quantity.ts";
import type { ResourceList } from "../../api/resources.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { refusal, writtenObject } from "./refusal.ts";

/**
 * Gives a pod the overhead and the placement of its runtime class. The author cannot choose the overhead
 * (`plugin/pkg/admission/runtimeclass`).
 */
export function createRuntimeClass(reader: Pick<ResourceReader, "get">): AdmissionPlugin {
  const classOf = (request: AdmissionRequest, { runtimeClassName: name }: PodSpec): RuntimeClass | undefined => {
    if (name === undefined) return undefined;
    const found = reader.get({ resource: "runtimeclasses.node.k8s.io", namespace: "", name });
    if (found === undefined) throw refusal(request, `pod rejected: RuntimeClass "${name}" not found`);
    return typed("RuntimeClass", found);
  };
  return {
    name: "RuntimeClass",
    mutate(request) {
      const object = writtenObject(request, "pods", ["CREATE"]);
      const pod = object && typed("Pod", object);
      if (pod?.spec === undefined) return undefined;
      const runtimeClass = classOf(request, pod.spec);
      if (runtimeClass === undefined) return undefined;
      return untyped({ ...pod, spec: applyClass(request, pod.spec, runtimeClass) });
    },
    validate(request) {
      const object = writtenObject(request, "pods", ["CREATE"]);
      const spec = object && typed("Pod", object).spec;
      if (spec === undefined) return;
      const wanted = classOf(request, spec)?.overhead;
      if (wanted !== undefined) requireOverhead(request, spec, wanted.podFixed ?? {});
      else if (spec.overhead !== undefined) {
        throw refusal(request, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
      }
    },
  };
}

function requireOverhead(request: AdmissionRequest, { overhead }: PodSpec, wanted: ResourceList): void {
  if (isSameResources(overhead ?? {}, wanted)) return;
  throw refusal(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function isSameResources(a: ResourceList, b: ResourceList): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => compareNamed(a[name], b[name]));
}

function compareNamed(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && compareQuantities(a, b) === 0;
}

function applyClass(request: AdmissionRequest, spec: PodSpec, { overhead, scheduling }: RuntimeClass): PodSpec {
  const wanted = overhead && (overhead.podFixed ?? {});
  if (wanted && spec.overhead !== undefined) requireOverhead(request, spec, wanted);
  const placed = scheduling
    ? {
        nodeSelector: mergeSelectors(request, spec.nodeSelector ?? {}, scheduling.nodeSelector ?? {}),
        tolerations: mergeTolerations(spec.tolerations ?? [], scheduling.tolerations ?? []),
      }
    : {};
  return { ...spec, ...(wanted && { overhead: { ...wanted } }), ...placed };
}

type Selector = Readonly<Record<string, string>>;

function mergeSelectors(request: AdmissionRequest, own: Selector, added: Selector): Record<string, string> {
  for (const [key, value] of Object.entries(added)) {
    const mine = own[key];
    if (mine === undefined || mine === value) continue;
    throw refusal(
      request,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${mine}`,
    );
  }
  return { ...own, ...added };
}

/** Merges tolerations without those that another one covers. Of equal ones the first stays. */
function mergeTolerations(own: readonly Toleration[], added: readonly Toleration[]): Toleration[] {
  const all = [...own, ...added];
  const merged: Toleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered = merged.some((kept) => covers(kept, toleration));
    const willBe = all.slice(index + 1).some((later) => !isEqual(later, toleration) && covers(later, toleration));
    if (!isCovered && !willBe) merged.push(toleration);
  }
  return merged;
}

function isEqual(a: Toleration, b: Toleration): boolean {
  return (
    a.key === b.key &&
    a.operator === b.operator &&
    a.value === b.value &&
    a.effect === b.effect &&
    a.tolerationSeconds === b.tolerationSeconds
  );
}

function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isEqual(wide, narrow)) return true;
  const isForAnyKey = !wide.key && wide.operator === "Exists";
  if ((wide.key ?? "") !== (narrow.key ?? "") && !isForAnyKey) return false;
  if (wide.effect && wide.effect !== narrow.effect) return false;
  if (wide.effect === "NoExecute" && wide.tolerationSeconds !== undefined) {
    if ((narrow.tolerationSeconds ?? Number.POSITIVE_INFINITY) > wide.tolerationSeconds) return false;
  }
  if (wide.operator === "Exists") return true;
  const isEquality = !wide.operator || wide.operator === "Equal";
  return isEquality && (narrow.operator ?? "Equal") === "Equal" && (wide.value ?? "") === (narrow.value ?? "");
}
