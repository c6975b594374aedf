/** `namespace/name`, by which queues and indexes know an object; `/name` for an object without a namespace. */
export function namespacedKeyOf({ namespace = "", name = "" }: { namespace?: string; name?: string }): string {
  return `${namespace}/${name}`;
}

/** The way back from `namespacedKeyOf`. */
export function splitNamespacedKey(key: string): { namespace: string; name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}
