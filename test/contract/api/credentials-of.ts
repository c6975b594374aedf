import { parse } from "yaml";
import { isRecord } from "../../../src/api/object.ts";
import type { Credentials } from "./client.ts";

/** The server and the certificate of a kubeconfig whose files are written into it. */
export function credentialsOf(kubeconfig: string): Credentials {
  const config: unknown = parse(kubeconfig);
  const pem = (...path: readonly (string | number)[]) => Buffer.from(textAt(config, path), "base64").toString();
  return {
    url: textAt(config, ["clusters", 0, "cluster", "server"]),
    caPem: pem("clusters", 0, "cluster", "certificate-authority-data"),
    certificatePem: pem("users", 0, "user", "client-certificate-data"),
    keyPem: pem("users", 0, "user", "client-key-data"),
  };
}

/** The text at a path of fields and places. Throws where there is none. */
export function textAt(value: unknown, path: readonly (string | number)[]): string {
  const found = path.reduce<unknown>((inner, step) => {
    if (Array.isArray(inner)) return inner[Number(step)];
    return isRecord(inner) ? inner[step] : undefined;
  }, value);
  if (typeof found !== "string") throw new Error(`there is no ${path.join(".")}`);
  return found;
}
