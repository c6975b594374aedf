import type { PersistentVolumeClaim } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import { compareQuantities } from "../../api/quantity.ts";
import type { ResourceList } from "../../api/resources.ts";
import { storageClassOf } from "../claims/volume-match.ts";
import { isSameUsage, type QuotaUsage } from "./quota-amounts.ts";
import { selectsOneOf } from "./scope-selection.ts";
import { countName, type UsageRule } from "./usage-rule.ts";

const COUNT = countName("persistentvolumeclaims");
const PLAIN = ["persistentvolumeclaims", "requests.storage"];
const CLASS_INFIX = ".storageclass.storage.k8s.io/";

/** Claims: their number and size, in all and by storage class. */
export const CLAIM_USAGE: UsageRule = {
  counts: (name) => name === COUNT || PLAIN.some((plain) => name === plain || name.endsWith(`${CLASS_INFIX}${plain}`)),
  usageOf: (object) => usageOfClaim(typed("PersistentVolumeClaim", object)),
  isInScope: (scope, object) => {
    const isKnown = scope.scopeName === "VolumeAttributesClass";
    return isKnown && selectsOneOf(scope, attributesClassesOf(typed("PersistentVolumeClaim", object)));
  },
  isCharged({ operation, subresource, object, current }) {
    if (subresource === "") return operation === "CREATE" || operation === "UPDATE";
    if (subresource !== "status" || object === undefined || current === undefined) return false;
    const [next, before] = [typed("PersistentVolumeClaim", object), typed("PersistentVolumeClaim", current)];
    return !isSameUsage(usageOfClaim(next), usageOfClaim(before)) || classesKey(next) !== classesKey(before);
  },
};

function usageOfClaim(claim: PersistentVolumeClaim): QuotaUsage {
  const usage: ResourceList = { [COUNT]: "1", persistentvolumeclaims: "1" };
  const storage = storageOf(claim);
  if (storage !== undefined) usage["requests.storage"] = storage;
  const storageClass = storageClassOf(claim);
  if (storageClass === "") return usage;
  for (const name of PLAIN) {
    const amount = usage[name];
    if (amount !== undefined) usage[`${storageClass}${CLASS_INFIX}${name}`] = amount;
  }
  return usage;
}

/** What is asked for, or what a growth that failed and was taken back has been given already. */
function storageOf({ spec, status }: PersistentVolumeClaim): string | undefined {
  const asked = spec?.resources?.requests?.["storage"];
  const allocated = status?.allocatedResources?.["storage"];
  if (asked === undefined || allocated === undefined) return asked;
  return compareQuantities(allocated, asked) > 0 ? allocated : asked;
}

/** The classes that the claim's volume has, had or is to get. */
function attributesClassesOf({ spec, status }: PersistentVolumeClaim): string[] {
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = status ?? {};
  const names = [
    spec?.volumeAttributesClassName,
    currentVolumeAttributesClassName,
    modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.flatMap((name) => (name === undefined || name === "" ? [] : [name])))];
}

const classesKey = (claim: PersistentVolumeClaim) => attributesClassesOf(claim).sort().join(",");
