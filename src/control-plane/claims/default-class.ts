import type { ResourceReader } from "../ports/resources.ts";

const IS_DEFAULT = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/**
 * The class of claims that name none (`GetDefaultClass`). Of several default classes it is the newest, so that a new
 * default takes effect before the old one is unmarked.
 */
export function findDefaultClass(reader: Pick<ResourceReader, "list">): string | undefined {
  const defaults = reader
    .list("storageclasses.storage.k8s.io")
    .filter(({ metadata }) => IS_DEFAULT.some((name) => metadata.annotations?.[name] === "true"))
    .map(({ metadata: { name = "", creationTimestamp = "" } }) => ({ name, creationTimestamp }));
  const [newest] = defaults.toSorted((a, b) => {
    if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? 1 : -1;
    return a.name < b.name ? -1 : 1;
  });
  return newest?.name;
}
