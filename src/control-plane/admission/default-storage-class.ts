import type { ObjectMeta } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import type { AdmissionPlugin } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { writtenObject } from "./refusal.ts";

const IS_DEFAULT = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
/** How claims named their class before there was a field. */
const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

/** A claim that names no class gets the default one (`plugin/pkg/admission/storage/storageclass/setdefault`). */
export function createDefaultStorageClass(reader: Pick<ResourceReader, "list">): AdmissionPlugin {
  return {
    name: "DefaultStorageClass",
    mutate(request) {
      const object = writtenObject(request, "persistentvolumeclaims", ["CREATE"]);
      if (object === undefined) return undefined;
      const claim = typed("PersistentVolumeClaim", object);
      // The empty class is a choice, too: none at all.
      const isChosen = claim.spec?.storageClassName !== undefined || hasAnnotation(claim.metadata, CLASS_ANNOTATION);
      const name = isChosen ? undefined : findDefault(reader.list("storageclasses.storage.k8s.io"));
      return name === undefined ? undefined : untyped({ ...claim, spec: { ...claim.spec, storageClassName: name } });
    },
  };
}

const hasAnnotation = (metadata: ObjectMeta = {}, name: string) => metadata.annotations?.[name] !== undefined;

/** The newest of several, so that a new default takes effect before the old one is unmarked. */
function findDefault(classes: readonly KubeObject[]): string | undefined {
  const defaults = classes.filter(({ metadata }) => IS_DEFAULT.some((name) => metadata.annotations?.[name] === "true"));
  const [newest] = defaults.toSorted(({ metadata: a }, { metadata: b }) => {
    const [createdA = "", createdB = ""] = [a.creationTimestamp, b.creationTimestamp];
    if (createdA !== createdB) return createdA < createdB ? 1 : -1;
    return (a.name ?? "") < (b.name ?? "") ? -1 : 1;
  });
  return newest?.metadata.name;
}
