/** A secret of the default namespace; its data is text. */
export function secret(name: string, stringData: Readonly<Record<string, string>>, more: object = {}): object {
  const data = Object.fromEntries(Object.entries(stringData).map(([key, text]) => [key, encode(text)]));
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "default" }, data, ...more };
}

/** A config map of the default namespace. */
export function configMap(name: string, data: Readonly<Record<string, string>>, more: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data, ...more };
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}
