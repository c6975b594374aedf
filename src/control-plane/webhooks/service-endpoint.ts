import { typed } from "../../api/object.ts";
import { CodedError } from "../../base/errors.ts";
import type { ResourceReader } from "../ports/resources.ts";

interface ServiceEndpointDeps {
  readonly reader: Pick<ResourceReader, "get">;
  /** 0…1, exclusive. */
  random(): number;
}

/** A port of a service. */
interface WantedService {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/**
 * The endpoint that a call of the service goes to: one of those that are ready, and what an ExternalName names. The
 * service's own address is not called, because it leads nowhere where no proxy runs on this machine. Throws a CodedError
 * `no-endpoint`, with upstream's words.
 */
export function findServiceEndpoint(
  { reader, random }: ServiceEndpointDeps,
  { namespace, name, port }: WantedService,
): { host: string; port: number } {
  const object = reader.get({ resource: "services", namespace, name });
  if (object === undefined) throw absent(`service ${JSON.stringify(name)} not found`);
  const { spec } = typed("Service", object);
  if (spec?.type === "ExternalName") return { host: spec.externalName ?? "", port };
  const declared = spec?.ports?.find((candidate) => candidate.port === port);
  if (declared === undefined) throw absent(`no service port ${port} found for service ${JSON.stringify(name)}`);
  const endpoints = reader.get({ resource: "endpoints", namespace, name });
  const subsets = endpoints === undefined ? [] : (typed("Endpoints", endpoints).subsets ?? []);
  const ready = subsets.flatMap(({ addresses = [], ports = [] }) => {
    const own = ports.find((candidate) => (candidate.name ?? "") === (declared.name ?? ""));
    return own === undefined ? [] : addresses.map(({ ip }) => ({ host: ip, port: own.port }));
  });
  const chosen = ready[Math.floor(random() * ready.length)];
  if (chosen === undefined) throw absent(`no endpoints available for service ${JSON.stringify(name)}`);
  return chosen;
}

const absent = (message: string) => new CodedError("no-endpoint", message);
