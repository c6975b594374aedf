import { createHash } from "node:crypto";
import type { ChosenEndpoint } from "./port-endpoints.ts";
import type { PlannedPort } from "./service-port.ts";

/** nftables takes 127 characters. The hash at the beginning tells names apart that are cut. */
const MAX_NAME_CHARACTERS = 100;
const HASH_DIGITS = 10;

/** The name of a service in the names of its sets. */
export function nameOfService({ namespace, service }: PlannedPort): string {
  return composeName([namespace, service], `${namespace}/${service}`);
}

/** The name of a port in the names of its chains and maps. */
export function nameOfPort({ namespace, service, protocol, portName }: PlannedPort): string {
  return composeName(
    [namespace, service, protocol, portName],
    joinWords(`${namespace}/${service}`, protocol, portName),
  );
}

/** The name of an endpoint of a port. The time that clients stay there is part of it: they choose anew when it changes. */
export function nameOfEndpoint(
  { namespace, service, protocol, portName, affinitySeconds }: PlannedPort,
  { ip, port }: ChosenEndpoint,
): string {
  const parts = [namespace, service, protocol, portName, ip, `${port}`, `${affinitySeconds}`];
  return composeName(parts, joinWords(`${namespace}/${service}`, protocol, portName, ip, `${port}`));
}

const joinWords = (...words: string[]) => words.filter((word) => word !== "").join("/");

function composeName(parts: readonly string[], readable: string): string {
  const hash = createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, HASH_DIGITS);
  return `${hash}-${readable.replaceAll(/[^a-zA-Z0-9/.-]/g, ".")}`.slice(0, MAX_NAME_CHARACTERS);
}
