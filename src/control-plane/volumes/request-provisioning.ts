import { driverOfProvisioner } from "../../api/cloud-volumes.ts";
import type { PersistentVolumeClaim, StorageClass } from "../../api/gen/types.ts";
import { type BinderDeps, type BinderEvent, type StoredClaim, writeClaim } from "./binder-deps.ts";

/** The annotations of a claim that name the provisioner for its volume. Provisioners look at both. */
const PROVISIONER_ANNOTATIONS = [
  "volume.beta.kubernetes.io/storage-provisioner",
  "volume.kubernetes.io/storage-provisioner",
];
const IN_TREE_PREFIX = "kubernetes.io/";

/** True for a claim for which this provisioner has been asked. */
export function isAskedOf({ metadata }: PersistentVolumeClaim, provisioner: string): boolean {
  return PROVISIONER_ANNOTATIONS.some((name) => metadata?.annotations?.[name] === provisioner);
}

/**
 * Asks the class's provisioner for a volume. None is part of the binder: that of local directories, too, does what an
 * external one does.
 */
export async function requestProvisioning(
  deps: BinderDeps,
  claim: StoredClaim,
  { className, storageClass }: { className: string; storageClass: StorageClass | undefined },
): Promise<void> {
  const problem = whyNobody(className, storageClass);
  if (problem !== undefined || storageClass === undefined) {
    if (problem !== undefined) deps.events.record({ about: claim, ...problem });
    return;
  }
  const provisioner = driverOfProvisioner(storageClass.provisioner);
  const annotations = claim.metadata.annotations ?? {};
  const isAsked = PROVISIONER_ANNOTATIONS.every((name) => annotations[name] === provisioner);
  const asked = Object.fromEntries(PROVISIONER_ANNOTATIONS.map((name) => [name, provisioner]));
  const next = { ...claim, metadata: { ...claim.metadata, annotations: { ...annotations, ...asked } } };
  const written = isAsked ? claim : await writeClaim(deps, next);
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  deps.events.record({ about: written, type: "Normal", reason: "ExternalProvisioning", message });
}

function whyNobody(className: string, storageClass: StorageClass | undefined): BinderEvent | undefined {
  const fail = (message: string): BinderEvent => ({ type: "Warning", reason: "ProvisioningFailed", message });
  if (storageClass === undefined) return fail(`storageclass.storage.k8s.io "${className}" not found`);
  const provisioner = driverOfProvisioner(storageClass.provisioner);
  if (!provisioner.startsWith(IN_TREE_PREFIX)) return undefined;
  return fail(`no volume plugin matched name: ${provisioner}`);
}
